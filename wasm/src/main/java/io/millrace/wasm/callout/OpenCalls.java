package io.millrace.wasm.callout;

import java.net.http.HttpRequest;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one instance whose results the module has not received. Each accepted call has one result, unless the
 * instance is discarded. A refused call has a result without fields, as a failed one has.
 *
 * <p>Confined to the thread of the instance.
 */
public final class OpenCalls {
    /** Limit of the calls that are open for one request. */
    static final int REQUEST_MAX = 16;

    /** Limit of the calls of an instance without a result, refused ones included. */
    static final int INSTANCE_MAX = 1024;

    /** Receives the results of calls. */
    @FunctionalInterface
    public interface Results {
        /** Receives a result, which the receiver releases. Called on any thread; must not block. */
        void ended(int call, CalloutResponse response);
    }

    /**
     * A call whose result the module has not received.
     *
     * @param context the context of the module that calls
     * @param endNanos the time at which the call fails
     * @param exchange the HTTP exchange; null if the call was refused or cancelled
     */
    private record OpenCall(
            int number,
            int context,
            long endNanos,
            @Nullable Future<?> exchange) {}

    private final CalloutClient client;
    private final int rootContext;
    private final Results results;
    private final Map<Integer, OpenCall> calls = new HashMap<>();
    private final TreeSet<OpenCall> byEnd =
            new TreeSet<>(Comparator.comparingLong(OpenCall::endNanos).thenComparingInt(OpenCall::number));
    private int lastNumber;
    private int sent;
    private boolean isRetired;

    /** @param rootContext the number of the context whose calls belong to no request */
    public OpenCalls(CalloutClient client, int rootContext, Results results) {
        this.client = client;
        this.rootContext = rootContext;
        this.results = results;
    }

    /** The upstreams and limits. */
    public CalloutSettings settings() {
        return client.settings();
    }

    /** Refuses further calls that belong to no request, so that the instance can end after its open calls. */
    public void retire() {
        isRetired = true;
    }

    /**
     * Sends a request, or refuses it with a result.
     *
     * @param context the context of the module that calls
     * @param nowNanos the time, as {@link System#nanoTime} returns it
     * @param endNanos the time at which the call fails
     * @return the number of the call; 0 if it is refused without a result, because too many calls have no result yet
     */
    public int begin(HttpRequest request, int context, long nowNanos, long endNanos) {
        client.count();
        if (calls.size() >= INSTANCE_MAX) {
            client.refused("more than " + INSTANCE_MAX + " calls of an instance have no result");
            return 0;
        }
        lastNumber = lastNumber == Integer.MAX_VALUE ? 1 : lastNumber + 1;
        int number = lastNumber;
        String fault = fault(context, nowNanos, endNanos);
        Future<?> exchange = null;
        if (fault == null) {
            exchange = client.send(request, response -> results.ended(number, response));
        } else {
            client.refused(fault);
        }
        OpenCall call = new OpenCall(number, context, endNanos, exchange);
        calls.put(number, call);
        if (exchange == null) {
            results.ended(number, CalloutResponse.failed(null));
        } else {
            sent++;
            byEnd.add(call);
        }
        return number;
    }

    /** Returns the reason for which a call is refused; null for none. */
    private @Nullable String fault(int context, long nowNanos, long endNanos) {
        if (endNanos - nowNanos <= 0) {
            return "no time is left for the calls of a request";
        }
        if (context == rootContext) {
            return isRetired ? "the module was replaced" : null;
        }
        int open = 0;
        for (OpenCall call : calls.values()) {
            open += call.context() == context ? 1 : 0;
        }
        return open >= REQUEST_MAX ? "more than " + REQUEST_MAX + " calls are open for a request" : null;
    }

    /** Removes a call whose result is known. Returns false if the call has ended before. */
    public boolean end(int number) {
        OpenCall call = calls.remove(number);
        if (call == null) {
            return false;
        }
        forget(call);
        return true;
    }

    private void forget(OpenCall call) {
        if (call.exchange() != null) {
            byEnd.remove(call);
            sent--;
        }
    }

    /** True while a request has been sent and its result is not known. */
    public boolean isOpen() {
        return sent > 0;
    }

    /** The time until the next call fails, in nanoseconds; {@code Long.MAX_VALUE} if none is open. */
    public long untilEnd(long nowNanos) {
        return byEnd.isEmpty() ? Long.MAX_VALUE : byEnd.first().endNanos() - nowNanos;
    }

    /** Cancels the calls whose time has passed. The module then receives a failed result for each of them. */
    public void expire(long nowNanos) {
        while (!byEnd.isEmpty() && byEnd.first().endNanos() - nowNanos <= 0) {
            fail(byEnd.first());
        }
    }

    /**
     * Cancels all open calls of a context that ends. The module still receives a failed result for each call, because
     * modules keep lists of their open calls.
     */
    public void cancel(int context) {
        for (OpenCall call : List.copyOf(byEnd)) {
            if (call.context() == context) {
                fail(call);
            }
        }
    }

    /** Cancels a call. The module then receives a failed result. */
    private void fail(OpenCall call) {
        forget(call);
        calls.put(call.number(), new OpenCall(call.number(), call.context(), call.endNanos(), null));
        cancel(call);
    }

    /** Cancels all calls, whose results are then ignored. */
    public void cancelAll() {
        Map<Integer, OpenCall> cancelled = Map.copyOf(calls);
        calls.clear();
        byEnd.clear();
        sent = 0;
        cancelled.values().forEach(OpenCalls::cancel);
    }

    /** Cancels the HTTP exchange of a call, which completes its result with a failure. */
    private static void cancel(OpenCall call) {
        if (call.exchange() != null) {
            boolean ignored = call.exchange().cancel(true);
        }
    }
}
