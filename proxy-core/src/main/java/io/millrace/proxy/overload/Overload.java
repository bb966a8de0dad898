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
 * The gauges of all rules that have limits. A reload keeps those of rules that stay.
 *
 * <p>Thread-safe; {@link #apply} is called by one thread at a time, {@link #evaluate} by one owner.
 */
public final class Overload {
    /** By the rule's place in the file; null for rules without limits. */
    private volatile @Nullable OverloadGauge[] gauges = new OverloadGauge[0];

    private boolean began;
    private long lastNanos;
    private long lastCpuNanos;

    /** Takes over the rules of a configuration. */
    public void apply(List<RemapRuleConfig> rules) {
        Map<String, OverloadGauge> known = new HashMap<>();
        for (OverloadGauge gauge : gauges) {
            if (gauge != null) {
                known.put(gauge.rule(), gauge);
            }
        }
        @Nullable OverloadGauge[] now = new OverloadGauge[rules.size()];
        for (RemapRuleConfig rule : rules) {
            OverloadConfig limits = rule.cache().overload();
            if (limits != null) {
                OverloadGauge stays = known.remove(OverloadGauge.name(rule));
                now[rule.index()] = stays == null ? new OverloadGauge(rule, limits) : stays;
                Objects.requireNonNull(now[rule.index()]).configure(limits);
            }
        }
        gauges = now;
    }

    /** The gauge at that place of the file; null when the rule there has no limits. */
    public @Nullable OverloadGauge of(int ruleIndex) {
        @Nullable OverloadGauge[] now = gauges;
        return ruleIndex < now.length ? now[ruleIndex] : null;
    }

    /**
     * The gauge of a rule; null when it has no limits. What was begun by a configuration before has none where the rule stands in another
     * place now, and never another rule's.
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

    /** Rules in overload. */
    public int count() {
        int count = 0;
        for (OverloadGauge gauge : gauges) {
            count += gauge != null && gauge.isOver() ? 1 : 0;
        }
        return count;
    }

    /**
     * Ends a window of every gauge.
     *
     * @param nowNanos of a clock that only goes on
     * @param processorTime tells the nanoseconds of processor time that this process has used since it began; asked only where there is a gauge
     * @param processors how many there are
     */
    public void evaluate(long nowNanos, LongSupplier processorTime, int processors) {
        if (!hasGauges()) {
            began = false;
            return;
        }
        long cpuNanos = processorTime.getAsLong();
        double share = began && nowNanos > lastNanos
                ? (double) (cpuNanos - lastCpuNanos) / (nowNanos - lastNanos) / processors
                : 0;
        began = true;
        lastNanos = nowNanos;
        lastCpuNanos = cpuNanos;
        for (OverloadGauge gauge : gauges) {
            if (gauge != null) {
                gauge.evaluate(nowNanos, share);
            }
        }
    }
}
