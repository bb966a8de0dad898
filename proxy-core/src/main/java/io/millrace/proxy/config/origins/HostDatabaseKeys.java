package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import java.time.Duration;
import java.util.List;

/** The catalogue's keys for marking origins down that belong to no group. */
public final class HostDatabaseKeys {
    private static final Duration DAY = Duration.ofDays(1);

    public static final ConfigKey<Integer> FAIL_THRESHOLD = ConfigKey.builder(
                    "origin.markdown.fail_threshold", ValueType.INTEGER)
            .within(1, 1000)
            .orZero()
            .defaultsTo(3)
            .description("Failed connections in a row after which an origin without a group is marked down: stale"
                    + " responses are then served without a request to it. 0 marks none. For groups see"
                    + " origins[].markdown.");
    public static final ConfigKey<Duration> RETRY_TIME = ConfigKey.builder(
                    "origin.markdown.retry_time", ValueType.DURATION)
            .within(Duration.ofMillis(100), DAY)
            .defaultsTo(Duration.ofSeconds(10))
            .description("Time after which a stale response is validated in the background, to find out whether an"
                    + " origin that is marked down answers; it doubles with each failure.");
    public static final ConfigKey<Duration> RETRY_TIME_MAX = ConfigKey.builder(
                    "origin.markdown.retry_time_max", ValueType.DURATION)
            .within(Duration.ofMillis(100), DAY)
            .defaultsTo(Duration.ofMinutes(5))
            .description("Upper bound of origin.markdown.retry_time, which doubles with each failure.");

    private HostDatabaseKeys() {}

    /** Reads the rules. */
    static Markdown rules(ConfigValues values) {
        return new Markdown(
                values.get(FAIL_THRESHOLD),
                values.get(RETRY_TIME).toMillis(),
                values.get(RETRY_TIME_MAX).toMillis(),
                List.of());
    }
}
