package io.millrace.proxy.overload;

import io.millrace.proxy.config.cache.OverloadConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The overload gauges of all remap rules with overload limits. A reload keeps the gauges of remaining rules.
 *
 * <p>Thread-safe, but calls of {@link #apply} must not overlap, and calls of {@link #evaluate} must not overlap.
 */
public final class Overload {
    /** The gauges by rule index; null for rules without limits. */
    private volatile @Nullable OverloadGauge[] gauges = new OverloadGauge[0];

    /** True if the next two fields are set: the current window began while there was a gauge. */
    private boolean windowBegan;

    private long lastNanos;
    private long lastCpuNanos;

    /** Applies the rules of a configuration. */
    public void apply(List<RemapRuleConfig> rules) {
        Map<String, OverloadGauge> existingGauges = new HashMap<>();
        for (OverloadGauge gauge : gauges) {
            if (gauge != null) {
                existingGauges.put(gauge.rule(), gauge);
            }
        }
        @Nullable OverloadGauge[] now = new OverloadGauge[rules.size()];
        for (RemapRuleConfig rule : rules) {
            OverloadConfig limits = rule.cache().overload();
            if (limits != null) {
                OverloadGauge keptGauge = existingGauges.remove(OverloadGauge.name(rule));
                now[rule.index()] = keptGauge == null ? new OverloadGauge(rule, limits) : keptGauge;
                Objects.requireNonNull(now[rule.index()]).configure(limits);
            }
        }
        gauges = now;
    }

    /** Returns the gauge of the rule at this index. Returns null if the rule has no limits. */
    public @Nullable OverloadGauge of(int ruleIndex) {
        @Nullable OverloadGauge[] now = gauges;
        return ruleIndex < now.length ? now[ruleIndex] : null;
    }

    /**
     * Returns the gauge of a rule; null if the rule has no limits. The rule may belong to an earlier configuration. If
     * another rule has its index now, the result is null, not the gauge of that rule.
     */
    public @Nullable OverloadGauge of(RemapRuleConfig rule) {
        OverloadGauge found = of(rule.index());
        return found != null && found.isOf(rule) ? found : null;
    }

    private boolean hasGauges() {
        for (OverloadGauge gauge : gauges) {
            if (gauge != null) {
                return true;
            }
        }
        return false;
    }

    /** Number of rules in overload. */
    public int count() {
        int count = 0;
        for (OverloadGauge gauge : gauges) {
            count += gauge != null && gauge.isInOverload() ? 1 : 0;
        }
        return count;
    }

    /**
     * Ends the current measuring window of every gauge.
     *
     * @param nowNanos time of a monotonic clock
     * @param processorTime returns the CPU time of this process in nanoseconds; called only if there is a gauge
     * @param processors number of processors
     */
    public void evaluate(long nowNanos, LongSupplier processorTime, int processors) {
        if (!hasGauges()) {
            windowBegan = false;
            return;
        }
        long cpuNanos = processorTime.getAsLong();
        double share = windowBegan && nowNanos > lastNanos
                ? (double) (cpuNanos - lastCpuNanos) / (nowNanos - lastNanos) / processors
                : 0;
        windowBegan = true;
        lastNanos = nowNanos;
        lastCpuNanos = cpuNanos;
        for (OverloadGauge gauge : gauges) {
            if (gauge != null) {
                gauge.evaluate(nowNanos, share);
            }
        }
    }
}
