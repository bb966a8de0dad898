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
     * The threads for blocking work and for timers, which all extensions share. At most 10,000 tasks and timers of an
     * extension wait or run; others are refused with a RejectedExecutionException. After {@link Extension#close}
     * waiting tasks do not run, and timers end. Exceptions of timers and of tasks that were passed to {@code execute}
     * are logged. The methods for a shutdown throw an exception.
     */
    ScheduledExecutorService executor();
}
