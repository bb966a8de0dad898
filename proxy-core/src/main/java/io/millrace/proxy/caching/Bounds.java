package io.millrace.proxy.caching;

/** Checks of settings. No state. */
final class Bounds {

    private Bounds() {}

    static void require(boolean condition, String problem) {
        if (!condition) {
            throw new IllegalArgumentException(problem);
        }
    }

    static void notNegative(long value, String name) {
        require(value >= 0, name + " is negative");
    }
}
