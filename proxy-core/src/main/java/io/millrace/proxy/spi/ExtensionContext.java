package io.millrace.proxy.spi;

import java.util.concurrent.ScheduledExecutorService;

/**
 * The services of the proxy for one extension.
 *
 * <p>Thread-safe.
 */
public interface ExtensionContext {
    /** The name of the extension in this configuration. Logs, metrics and Cache-Status contain it. */
    String name();

    /** The configuration of the extension; empty if the entry has none. */
    ExtensionConfig config();

    /**
     * Returns a counter, which metrics export as {@code millrace_extension_counter_total} with the labels
     * {@code extension} and {@code counter}. Two calls with the same name return the same counter.
     *
     * @param name letters, digits and _
     * @throws IllegalArgumentException if the name has other characters or more than 64
     * @throws IllegalStateException if the extension has 100 other counters
     */
    ExtensionCounter counter(String name);

    /** The log of the extension, part of the log of the proxy. */
    System.Logger log();

    /**
     * The threads for blocking work and for timers, which all extensions share. Tasks that still wait when the
     * extension is closed do not run.
     */
    ScheduledExecutorService executor();
}
