package io.millrace.proxy.caching.settings;

/** Checks of the bounds of settings. Thread-safe: no state. */
public final class Bounds {

    private Bounds() {}

    public static void require(boolean condition, String problem) {
        if (!condition) {
            throw new IllegalArgumentException(problem);
        }
    }

    public static void notNegative(long value, String name) {
        require(value >= 0, name + " is negative");
    }
}
