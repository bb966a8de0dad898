package io.millrace.proxy.spi;

import java.util.function.Consumer;

/**
 * Receives the result of a hook, during the call of the hook or after it. The request waits until a method of this
 * object is called. Only the first call has an effect; the metric of failures counts further calls as {@code repeated}.
 * If there is no call within {@code extensions[].deadline}, the hook has failed.
 *
 * <p>Thread-safe. Never blocks.
 *
 * @param <V> the view that the hook got
 */
public interface Continuation<V> {
    /** Continues with the request. */
    void proceed();

    /**
     * Continues with the request after a change.
     *
     * @param change called on the event loop of the request, with a valid view; must not block
     */
    void proceed(Consumer<? super V> change);

    /** Reports that the hook has failed. */
    void fail(Throwable reason);

    /**
     * Returns true if a result has no effect any more, because the request has ended or already has a result. A hook
     * that works for a long time may check this from time to time, and stop its work.
     */
    default boolean isAbandoned() {
        return false;
    }
}
