package io.millrace.proxy.exchange.settings;

/**
 * The wall clock, as an interface so that tests can set the time.
 *
 * <p>Thread-safe.
 */
@FunctionalInterface
public interface WallClock {
    /** The system clock. */
    WallClock SYSTEM = System::currentTimeMillis;

    /** Milliseconds since 1970-01-01T00:00Z. */
    long millis();
}
