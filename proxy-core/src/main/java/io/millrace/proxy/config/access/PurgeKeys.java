package io.millrace.proxy.config.access;

import static io.millrace.proxy.config.key.ConfigKey.builder;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;

/** The catalogue's entries for records and undo of purges. */
public final class PurgeKeys {
    public static final ConfigKey<Integer> HISTORY = builder("purge.history", ValueType.INTEGER)
            .within(1, 1_000_000)
            .defaultsTo(10_000)
            .description("Purges whose records are kept, for purge list and purge show, across restarts.");
    public static final ConfigKey<Duration> UNDO_WINDOW = builder("purge.undo_window", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofDays(7))
            .defaultsTo(Duration.ofHours(1))
            .description("Time in which a soft purge can be undone; 0 for never.");

    private PurgeKeys() {}
}
