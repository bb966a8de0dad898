package io.millrace.proxy.exchange.decide;

/**
 * The time of day, so that tests can set it.
 *
 * <p>Thread-safe.
 */
@FunctionalInterface
public interface WallClock {
    /** The system's clock. */
    WallClock SYSTEM = System::currentTimeMillis;

    /** Milliseconds since 1970-01-01T00:00Z. */
    long millis();
}
