package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.overload.Overload;
import io.millrace.proxy.overload.OverloadGauge;
import org.jspecify.annotations.Nullable;

/**
 * Measures the origin's response time for one fetch, for the counters and the rule's {@link OverloadGauge}.
 *
 * <p>Confined to the event loop of the fetch.
 */
public final class OriginTimer {
    private final LoopCounters counters;
    private final Overload overload;
    private final FetchPlan plan;
    private long sentNanos;
    private boolean isSent;

    /** Creates a timer that is not started yet. */
    public OriginTimer(LoopCounters counters, Overload overload, FetchPlan plan) {
        this.counters = counters;
        this.overload = overload;
        this.plan = plan;
    }

    /** Starts the timer. Call when the request is sent. */
    public void sent() {
        isSent = true;
        sentNanos = System.nanoTime();
    }

    /** Counts the time until the response head. */
    public void headArrived() {
        counters.originResponded(System.nanoTime() - sentNanos);
    }

    /** Reports the answer or the failure of the origin to the gauge. */
    public void answered(boolean failed) {
        OverloadGauge gauge = gauge();
        if (gauge != null) {
            gauge.answered(System.nanoTime() - sentNanos, failed);
        }
    }

    /** Reports to the gauge that no exchange waits for the answer any more. Does nothing if no request was sent. */
    public void cancelled() {
        OverloadGauge gauge = isSent ? gauge() : null;
        if (gauge != null) {
            gauge.cancelled(System.nanoTime() - sentNanos);
        }
    }

    private @Nullable OverloadGauge gauge() {
        return overload.of(plan.mapped().rule().config());
    }
}
