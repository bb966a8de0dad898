package io.millrace.proxy.extension;

import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The services of the proxy for one extension. Thread-safe. */
final class ExtensionServices implements ExtensionContext {
    private static final int COUNTERS_MAX = 100;

    /** A counter of the extension. */
    private record Count(LongAdder sum) implements ExtensionCounter {
        @Override
        public void add(long number) {
            if (number < 0) {
                throw new IllegalArgumentException("a counter never falls: " + number);
            }
            sum.add(number);
        }
    }

    private final ExtensionEntry entry;
    private final ExtensionExecutor executor;
    private final Map<String, Count> counters = new ConcurrentHashMap<>();
    private final Lock lock = new ReentrantLock();
    private ExtensionSet.@Nullable CounterListener listener;

    /** Reports all counters, now and later. */
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
                throw new IllegalStateException("counters of an extension: limit=" + COUNTERS_MAX);
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
        return System.getLogger("io.millrace.extension." + entry.name());
    }

    @Override
    public ScheduledExecutorService executor() {
        return executor;
    }
}
