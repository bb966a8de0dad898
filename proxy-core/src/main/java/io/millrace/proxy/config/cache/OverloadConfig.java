package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.config.key.ConfigValues;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Conditions of overload for a rule, and the responses that may be served during it. Immutable.
 *
 * @param latencyNanos limit of the origin's mean response time; 0 for no limit
 * @param errorShare limit of the fraction of errors and failures, 0 to 1; 0 for no limit
 * @param cpuShare limit of the fraction of total CPU time, 0 to 1; 0 for no limit
 * @param holdNanos how long all values must stay below four fifths of the limits until overload ends
 * @param served how stale a response may be during overload
 */
public record OverloadConfig(
        long latencyNanos, double errorShare, double cpuShare, long holdNanos, StaleRules.UnderLoad served) {

    /** Returns null if no limit is set. */
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
