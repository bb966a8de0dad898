package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.config.key.ConfigValues;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When a rule is in overload, and what is served then. Immutable.
 *
 * @param latencyNanos the origin's mean time to answer above which it is; 0 for no such limit
 * @param errorShare the share of errors and failures above which it is, 0 to 1; 0 for no such limit
 * @param cpuShare the share of all processors' time above which it is, 0 to 1; 0 for no such limit
 * @param holdNanos how long it must be calm before it is over
 * @param served how stale what is served may be then
 */
public record OverloadConfig(
        long latencyNanos, double errorShare, double cpuShare, long holdNanos, StaleRules.UnderLoad served) {

    /** Null when there is no limit. */
    static @Nullable OverloadConfig from(ConfigValues values) {
        Duration latency = values.find(OverloadKeys.LATENCY);
        Double errors = values.find(OverloadKeys.ERRORS);
        Double cpu = values.find(OverloadKeys.CPU);
        if (latency == null && errors == null && cpu == null) {
            return null;
        }
        return new OverloadConfig(
                latency == null ? 0 : latency.toNanos(),
                errors == null ? 0 : errors,
                cpu == null ? 0 : cpu,
                values.get(OverloadKeys.HOLD).toNanos(),
                new StaleRules.UnderLoad(
                        values.get(OverloadKeys.STRETCH),
                        values.get(OverloadKeys.STRETCH_MAX).toSeconds(),
                        values.get(OverloadKeys.MICRO_LIFETIME).toSeconds()));
    }
}
