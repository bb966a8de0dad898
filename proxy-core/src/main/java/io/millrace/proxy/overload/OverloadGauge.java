package io.millrace.proxy.overload;

import io.millrace.proxy.config.cache.OverloadConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures whether one remap rule is in overload: its origin is slow or fails, or this process uses much CPU time.
 * Values are measured in windows of one second. An overload begins when a limit was exceeded in
 * {@value #WINDOWS_TO_BEGIN} consecutive windows. It ends when all values have stayed below {@value #CALM_SHARE} of
 * their limits for the configured time. A window with fewer than {@value #ANSWERS_MIN} origin requests ignores latency
 * and errors.
 *
 * <p>Thread-safe, except {@link #evaluate}, which has a single caller.
 */
public final class OverloadGauge {
    static final int WINDOWS_TO_BEGIN = 2;
    static final int ANSWERS_MIN = 3;
    static final double CALM_SHARE = 0.8;

    private static final Logger log = LoggerFactory.getLogger(OverloadGauge.class);

    private final RemapVerb verb;
    private final RuleUrl from;
    private final String rule;
    private final LongAdder answers = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private volatile OverloadConfig config;
    private volatile boolean inOverload;
    private int windowsOver;
    /** Time of the last window in which a value was above {@link #CALM_SHARE} of its limit. */
    private long lastHighNanos;

    OverloadGauge(RemapRuleConfig rule, OverloadConfig config) {
        verb = rule.verb();
        from = rule.from();
        this.rule = name(rule);
        this.config = config;
    }

    /** Returns the name of a rule: its verb and its URL. */
    static String name(RemapRuleConfig rule) {
        return rule.verb().word() + " " + rule.from();
    }

    /** Returns true if the rule has the verb and URL of this gauge. The rule may come from a later configuration. */
    boolean isOf(RemapRuleConfig other) {
        return !other.isForwarding() && verb == other.verb() && from.equals(other.from());
    }

    void configure(OverloadConfig changed) {
        config = changed;
    }

    /** The limits of the rule. */
    public OverloadConfig config() {
        return config;
    }

    /** The name of the rule for logs and the admin API. */
    public String rule() {
        return rule;
    }

    /** Returns true if the rule is in overload. */
    public boolean isInOverload() {
        return inOverload;
    }

    /**
     * Records an origin request that ended with a response or a failure.
     *
     * @param nanos time from the request to the response head, or to the failure
     */
    public void answered(long nanos, boolean failed) {
        answers.increment();
        waitedNanos.add(nanos);
        if (failed) {
            failures.increment();
        }
    }

    /**
     * Records a request that was cancelled before its response. The request counts only if it took longer than
     * the latency limit.
     */
    public void cancelled(long nanos) {
        long limit = config.latencyNanos();
        if (limit > 0 && nanos > limit) {
            answered(nanos, false);
        }
    }

    /**
     * Ends the current measuring window and updates the state.
     *
     * @param nowNanos time of a monotonic clock
     * @param cpuShare share of all processors' time that this process used in the window, 0 to 1
     */
    void evaluate(long nowNanos, double cpuShare) {
        long count = answers.sumThenReset();
        long failed = failures.sumThenReset();
        long nanos = waitedNanos.sumThenReset();
        boolean hasEnough = count >= ANSWERS_MIN;
        double latency = hasEnough ? (double) nanos / count : 0;
        double errors = hasEnough ? (double) failed / count : 0;
        String exceeded = exceeded(latency, errors, cpuShare, 1);
        windowsOver = exceeded == null ? 0 : windowsOver + 1;
        if (!inOverload && windowsOver >= WINDOWS_TO_BEGIN) {
            inOverload = true;
            lastHighNanos = nowNanos;
            log.warn("{}: overload began: {}; stale responses are used longer until it ends", rule, exceeded);
        } else if (inOverload) {
            if (exceeded(latency, errors, cpuShare, CALM_SHARE) != null) {
                lastHighNanos = nowNanos;
            } else if (nowNanos - lastHighNanos >= config.holdNanos()) {
                inOverload = false;
                log.info("{}: overload ended", rule);
            }
        }
    }

    /** Returns a description of the first value above the given share of its limit. Returns null if there is none. */
    private @Nullable String exceeded(double latencyNanos, double errors, double cpuShare, double share) {
        OverloadConfig limits = config;
        if (limits.latencyNanos() > 0 && latencyNanos > share * limits.latencyNanos()) {
            return "the origin took " + TimeUnit.NANOSECONDS.toMillis((long) latencyNanos) + " ms to answer, limit="
                    + TimeUnit.NANOSECONDS.toMillis(limits.latencyNanos()) + " ms";
        }
        if (limits.errorShare() > 0 && errors > share * limits.errorShare()) {
            return percent(errors) + " of the origin's answers were errors, limit=" + percent(limits.errorShare());
        }
        if (limits.cpuShare() > 0 && cpuShare > share * limits.cpuShare()) {
            return percent(cpuShare) + " of the CPU time is used, limit=" + percent(limits.cpuShare());
        }
        return null;
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.0f%%", 100 * share);
    }
}
