package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;

/** The catalogue's keys for purge records, and for the undo of purges. */
public final class PurgeKeys {
    public static final ConfigKey<Integer> HISTORY = ConfigKey.builder("purge.history", ValueType.INTEGER)
            .within(1, 100_000)
            .defaultsTo(10_000)
            .description("Number of purges whose records are kept across restarts, for purge list and purge show.");
    public static final ConfigKey<Duration> UNDO_WINDOW = ConfigKey.builder("purge.undo_window", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofDays(7))
            .defaultsTo(Duration.ofHours(1))
            .description("Time after a soft purge in which it can be undone; 0 for never.");

    private PurgeKeys() {}
}
