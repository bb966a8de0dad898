package io.millrace.wasm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The requests whose contexts are in one instance: the current one, and those that the module has paused. Requests that
 * were paused first expire first.
 *
 * <p>Confined to the thread of the instance.
 */
final class PausedRequests {
    /** Limit of the paused requests of an instance. */
    static final int COUNT_MAX = 1000;

    /**
     * Time between the time limit of a request's HTTP calls and the failure of the request. In this time, a callback
     * for a failed call can still resume the request.
     */
    private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Minimum time between two searches for abandoned requests, for whose result nobody waits. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final long limitNanos;
    private final Map<HttpContext, RequestWorkers.Call> calls = new LinkedHashMap<>();
    private long lookedNanos = System.nanoTime();

    /** @param timeoutNanos limit of the time of the HTTP calls of a request */
    PausedRequests(long timeoutNanos) {
        limitNanos = timeoutNanos + GRACE_NANOS;
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    boolean isFull() {
        return calls.size() >= COUNT_MAX;
    }

    void add(RequestWorkers.Call call) {
        calls.put(call.message(), call);
    }

    boolean contains(HttpContext message) {
        return calls.containsKey(message);
    }

    /** Removes a request. Returns null if there is none. */
    RequestWorkers.@Nullable Call remove(HttpContext message) {
        return calls.remove(message);
    }

    /** Removes all requests. */
    List<RequestWorkers.Call> removeAll() {
        List<RequestWorkers.Call> all = List.copyOf(calls.values());
        calls.clear();
        return all;
    }

    /** The time until the first request expires, in nanoseconds; {@code Long.MAX_VALUE} if there is none. */
    long untilEnd(long nowNanos) {
        if (calls.isEmpty()) {
            return Long.MAX_VALUE;
        }
        HttpContext first = calls.keySet().iterator().next();
        return first.beganNanos() + limitNanos - nowNanos;
    }

    /** Returns the first request if its time has passed; null otherwise. */
    @Nullable
    HttpContext expired(long nowNanos) {
        if (calls.isEmpty()) {
            return null;
        }
        HttpContext first = calls.keySet().iterator().next();
        return first.beganNanos() + limitNanos - nowNanos <= 0 ? first : null;
    }

    /** Returns the requests for whose result nobody waits. Searches only every 200 ms, and otherwise returns none. */
    List<HttpContext> abandoned(long nowNanos) {
        if (calls.isEmpty() || nowNanos - lookedNanos < LOOK_NANOS) {
            return List.of();
        }
        lookedNanos = nowNanos;
        List<HttpContext> found = new ArrayList<>();
        for (RequestWorkers.Call call : calls.values()) {
            if (call.isAbandoned()) {
                found.add(call.message());
            }
        }
        return found;
    }
}
