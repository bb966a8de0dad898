package io.millrace.proxy.spi;

/**
 * A counter of an extension, which the proxy exports as a metric.
 *
 * <p>Thread-safe. Never blocks.
 */
public interface ExtensionCounter {
    /** Adds 1. */
    default void increment() {
        add(1);
    }

    /**
     * Adds a number.
     *
     * @param number not negative
     */
    void add(long number);
}
