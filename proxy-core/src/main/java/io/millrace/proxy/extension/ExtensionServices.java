package io.millrace.proxy.extension;

import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import java.text.MessageFormat;
import java.util.Map;
import java.util.ResourceBundle;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The services of the proxy for one extension. Thread-safe. */
final class ExtensionServices implements ExtensionContext {
    private static final int COUNTERS_MAX = 100;

    /** A counter of the extension. */
    private record Count(LongAdder sum) implements ExtensionCounter {
        @Override
        public void add(long number) {
            if (number < 0) {
                throw new IllegalArgumentException("a counter cannot decrease: " + number);
            }
            sum.add(number);
        }
    }

    /**
     * The logger of an extension, which writes to the log of the proxy. SLF4J is used directly. The default of {@link
     * System#getLogger} is java.util.logging, which is possibly not used by an application that embeds the proxy.
     * Thread-safe.
     */
    static final class Log implements System.Logger {
        private final Logger logger;

        /** @param logger its name ends with the name of the extension */
        Log(Logger logger) {
            this.logger = logger;
        }

        @Override
        public String getName() {
            return logger.getName();
        }

        @Override
        public boolean isLoggable(Level level) {
            return level != Level.OFF && logger.isEnabledForLevel(of(level));
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {
            if (isLoggable(level)) {
                logger.atLevel(of(level)).setCause(thrown).log(translated(bundle, message));
            }
        }

        @Override
        public void log(
                Level level,
                @Nullable ResourceBundle bundle,
                @Nullable String format,
                @Nullable Object @Nullable ... parameters) {
            if (isLoggable(level)) {
                String text = translated(bundle, format);
                logger.atLevel(of(level))
                        .log(parameters == null || parameters.length == 0 ? text : text(text, parameters));
            }
        }

        private static org.slf4j.event.Level of(Level level) {
            return switch (level) {
                case ALL, TRACE -> org.slf4j.event.Level.TRACE;
                case DEBUG -> org.slf4j.event.Level.DEBUG;
                case INFO -> org.slf4j.event.Level.INFO;
                case WARNING -> org.slf4j.event.Level.WARN;
                case ERROR, OFF -> org.slf4j.event.Level.ERROR;
            };
        }

        private static String translated(@Nullable ResourceBundle bundle, @Nullable String key) {
            return bundle == null || key == null || !bundle.containsKey(key)
                    ? String.valueOf(key)
                    : bundle.getString(key);
        }

        /** Formats a message with its parameters. Returns an invalid format unchanged. */
        private static String text(String format, @Nullable Object[] parameters) {
            try {
                return MessageFormat.format(format, parameters);
            } catch (IllegalArgumentException e) {
                return format;
            }
        }
    }

    private final ExtensionEntry entry;
    private final Log log;
    private final ExtensionExecutor executor;
    private final Map<String, Count> counters = new ConcurrentHashMap<>();
    private final Lock lock = new ReentrantLock();
    private ExtensionSet.@Nullable CounterListener listener;

    /** Reports all existing and all future counters to a listener. */
    void onCounter(ExtensionSet.CounterListener to) {
        lock.lock();
        try {
            listener = to;
            counters.forEach((counter, count) -> to.created(entry.name(), counter, count.sum()::sum));
        } finally {
            lock.unlock();
        }
    }

    /** @param threads shared by all extensions */
    ExtensionServices(ExtensionEntry entry, ScheduledExecutorService threads, ExtensionReports reports) {
        this.entry = entry;
        this.log = new Log(LoggerFactory.getLogger("io.millrace.extension." + entry.name()));
        this.executor = new ExtensionExecutor(entry.name(), threads, fault -> reports.taskFailure(entry.name(), fault));
    }

    /** Ends the tasks of the extension. Called after it was closed. */
    void end() {
        executor.end();
    }

    @Override
    public String name() {
        return entry.name();
    }

    @Override
    public ExtensionConfig config() {
        return entry.config();
    }

    @Override
    public ExtensionCounter counter(String name) {
        if (!name.matches("[A-Za-z0-9_]{1,64}")) {
            throw new IllegalArgumentException(
                    "the name of a counter has 1 to 64 letters, digits and _, but is \"" + name + "\"");
        }
        lock.lock();
        try {
            if (!counters.containsKey(name) && counters.size() >= COUNTERS_MAX) {
                throw new IllegalStateException("an extension may have at most " + COUNTERS_MAX + " counters");
            }
            Count known = counters.get(name);
            if (known != null) {
                return known;
            }
            Count created = new Count(new LongAdder());
            counters.put(name, created);
            if (listener != null) {
                listener.created(entry.name(), name, created.sum()::sum);
            }
            return created;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the values of the counters by name. */
    Map<String, Long> counts() {
        Map<String, Long> values = new TreeMap<>();
        counters.forEach((name, count) -> values.put(name, count.sum().sum()));
        return values;
    }

    @Override
    public System.Logger log() {
        return log;
    }

    @Override
    public ScheduledExecutorService executor() {
        return executor;
    }
}
