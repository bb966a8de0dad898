package io.millrace.proxy.spi;

/**
 * The hook for received requests. The remap rule is known, and the proxy's own rules of access permit the request. The
 * lookup in the cache follows.
 *
 * <p>A failure refuses the request with 503 by default ({@code on_error: closed}).
 */
public interface RequestHook {
    /**
     * Decides about a request. Called on its event loop. The request waits until a method of {@code reply} is called,
     * during this call or later, on any thread.
     */
    void requestReceived(RequestView request, Reply reply);

    /**
     * The result of the hook.
     *
     * <p>Thread-safe. Never blocks.
     */
    interface Reply extends Continuation<RequestView> {
        /** Answers the request. No later hook for requests is called. */
        void answer(Answer answer);
    }
}
