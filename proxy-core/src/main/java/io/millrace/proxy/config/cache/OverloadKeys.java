package io.millrace.proxy.config.cache;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;

/** Configuration keys for overload of an origin or this proxy. During an overload, responses may be served stale. */
public final class OverloadKeys {
    public static final ConfigKey<Duration> LATENCY = ConfigKey.builder("cache.overload.latency", ValueType.DURATION)
            .within(Duration.ofMillis(1), Duration.ofMinutes(10))
            .perRule()
            .description(
                    "Overload begins when the mean response time of the rule's origin is above this limit in each of"
                            + " two successive seconds; without this key the latency is ignored.");
    public static final ConfigKey<Double> ERRORS = ConfigKey.builder("cache.overload.errors", ValueType.PERCENT)
            .perRule()
            .description("Overload begins when more than this share of the rule's requests to the origin fail or are"
                    + " answered with 5xx; without this key errors are ignored.");
    public static final ConfigKey<Double> CPU = ConfigKey.builder("cache.overload.cpu", ValueType.PERCENT)
            .perRule()
            .description(
                    "Overload begins when this process uses more than this share of all processors' time; without this"
                            + " key the CPU is ignored.");
    public static final ConfigKey<Duration> MICRO_LIFETIME = ConfigKey.builder(
                    "cache.overload.micro_lifetime", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofMinutes(10))
            .defaultsTo(Duration.ofSeconds(1))
            .perRule()
            .description("In overload, a storable response may be used for at least this time after its lifetime ends."
                    + " Without a lifetime, the time starts at its receipt. Whole seconds; 0 turns this off.");
    public static final ConfigKey<Double> STRETCH = ConfigKey.builder("cache.overload.stretch", ValueType.DECIMAL)
            .within(1.0, 1000.0)
            .defaultsTo(2.0)
            .perRule()
            .description("In overload, a response may be used until its age is its lifetime multiplied by this"
                    + " factor.");
    public static final ConfigKey<Duration> STRETCH_MAX = ConfigKey.builder(
                    "cache.overload.stretch_max", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofDays(7))
            .defaultsTo(Duration.ofMinutes(10))
            .perRule()
            .description("Limit of cache.overload.stretch: the longest time for which a response may be used after its"
                    + " lifetime ends.");
    public static final ConfigKey<Duration> HOLD = ConfigKey.builder("cache.overload.hold", ValueType.DURATION)
            .within(Duration.ofSeconds(1), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(10))
            .perRule()
            .description("Overload ends when all values have been below four fifths of their limits for this time.");

    private OverloadKeys() {}
}
