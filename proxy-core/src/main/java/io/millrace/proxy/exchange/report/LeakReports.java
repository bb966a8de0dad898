package io.millrace.proxy.exchange.report;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.storing.LeakGuard;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.LoopCounters;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * Counts responses that look personal, and logs those that are stored nevertheless. Thread-safe, except for the
 * counters, which belong to the calling event loop.
 */
public final class LeakReports {
    /** Writes at most one line per minute, because clients can cause such responses at any rate. */
    private static final FaultLog LOG =
            new FaultLog(LoggerFactory.getLogger(LeakReports.class), TimeUnit.MINUTES.toNanos(1), System::nanoTime);

    private LeakReports() {}

    /** Counts a response that is not stored, if it looks personal. */
    public static void refused(LoopCounters counters, NoStoreReason reason) {
        switch (reason) {
            case AUTHORIZATION -> counters.increment(Counter.LEAK_GUARD_AUTHORIZATION);
            case COOKIES, HEURISTIC_REFUSED -> counters.increment(Counter.LEAK_GUARD_COOKIES);
            case LEAK_GUARD -> counters.increment(Counter.LEAK_GUARD_TYPE);
            default -> {
                // The other reasons do not mean that the response is personal.
            }
        }
    }

    /** Counts and logs a response that is stored although it looks personal. Does nothing for other responses. */
    public static void stored(
            LoopCounters counters, RequestHead request, ResponseHead response, CacheSettings settings) {
        if (!LeakGuard.finds(request, response, settings)) {
            return;
        }
        counters.increment(Counter.LEAK_GUARD_TYPE_STORED);
        LOG.reportFrequent(
                "a response that may be for one user is stored, because cache.leak_guard is warn",
                () -> request.target().asString() + ", " + response.fields().get(FieldName.CONTENT_TYPE));
    }
}
