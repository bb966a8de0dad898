package io.millrace.wasm.abi;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The log of the modules of one extension. Passes at most 100 messages of modules per second. Thread-safe. */
public final class ModuleLog {
    private static final int MESSAGES_PER_SECOND = 100;
    private static final int MESSAGE_CHARACTERS_MAX = 4096;

    /** Limit of different messages that {@link #once} logs. */
    private static final int ONCE_MAX = 1000;

    /** Limit of the names that are logged for a kind of message. */
    private static final int NAMES_MAX = 50;

    private static final int NAME_CHARACTERS_MAX = 64;

    private final System.Logger log;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();
    private final Map<String, Set<String>> namesByKind = new ConcurrentHashMap<>();
    /** The second in which {@link #messages} are counted. */
    private final AtomicLong second = new AtomicLong();
    /** Number of messages of modules in this second, dropped messages included. */
    private final AtomicInteger messages = new AtomicInteger();

    /** @param log the log of the extension */
    public ModuleLog(System.Logger log) {
        this.log = log;
    }

    /** Logs a warning of the extension itself. */
    public void warn(String message) {
        log.log(System.Logger.Level.WARNING, printable(message, MESSAGE_CHARACTERS_MAX));
    }

    /** Logs a message of the extension itself. */
    public void report(String message) {
        log.log(System.Logger.Level.INFO, message);
    }

    /**
     * Logs a warning if none with the same key was logged before.
     *
     * @param key must not contain text that a module or a client has chosen: see {@link #onceFor}
     */
    public void once(String key, String message) {
        if (logged.size() < ONCE_MAX && logged.add(key)) {
            warn(message);
        }
    }

    /**
     * Logs a warning if none of the same kind and with the same name was logged before. Only the first names of each
     * kind are logged, because clients may choose them.
     *
     * @param kind a constant
     * @param name is logged behind the message; only its first characters count
     */
    public void onceFor(String kind, String message, String name) {
        String cut = printable(name, NAME_CHARACTERS_MAX);
        Set<String> names = namesByKind.computeIfAbsent(kind, ignored -> ConcurrentHashMap.newKeySet());
        if (names.size() < NAMES_MAX && names.add(cut)) {
            warn(message + ": " + cut);
        }
    }

    /** Cuts a text at a limit, and replaces control characters, which could forge lines of the log. */
    private static String printable(String text, int charactersMax) {
        StringBuilder out = new StringBuilder(Math.min(text.length(), charactersMax));
        for (int i = 0; i < text.length() && i < charactersMax; i++) {
            char c = text.charAt(i);
            out.append(Character.isISOControl(c) ? '?' : c);
        }
        return text.length() <= charactersMax
                ? out.toString()
                : out.append("...").toString();
    }

    /**
     * Logs a message of a module.
     *
     * @param level as in the ABI: 0 trace, 1 debug, 2 info, 3 warning, 4 error, 5 critical
     */
    public void ofModule(int level, String message) {
        long now = System.nanoTime() / 1_000_000_000L;
        if (second.getAndSet(now) != now) {
            int before = messages.getAndSet(0);
            if (before > MESSAGES_PER_SECOND) {
                warn((before - MESSAGES_PER_SECOND) + " messages of the module were dropped: limit="
                        + MESSAGES_PER_SECOND + " in a second");
            }
        }
        if (messages.incrementAndGet() <= MESSAGES_PER_SECOND) {
            String text = message.length() <= MESSAGE_CHARACTERS_MAX
                    ? message
                    : message.substring(0, MESSAGE_CHARACTERS_MAX) + "...";
            log.log(levelOf(level), "module: {0}", text);
        }
    }

    private static System.Logger.Level levelOf(int level) {
        return switch (level) {
            case 0 -> System.Logger.Level.TRACE;
            case 1 -> System.Logger.Level.DEBUG;
            case 2 -> System.Logger.Level.INFO;
            case 3 -> System.Logger.Level.WARNING;
            default -> System.Logger.Level.ERROR;
        };
    }

    /** The lowest level that the log shows, as a number of the ABI. */
    public int level() {
        for (int level = 0; level < 4; level++) {
            if (log.isLoggable(levelOf(level))) {
                return level;
            }
        }
        return 4;
    }
}
