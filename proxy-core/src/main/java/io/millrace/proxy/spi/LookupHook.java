package io.millrace.proxy.spi;

/**
 * The hook after the cache lookup, when the state of the stored response is known.
 *
 * <p>A failure has no effect on the request by default ({@code on_error: open}).
 */
public interface LookupHook {
    /** The result of a lookup. */
    enum State {
        /** A stored response is fresh. */
        HIT,
        /** A stored response is stale, or the request demands a validation. */
        STALE,
        /** No stored response answers the request. */
        MISS
    }

    /** The use of a stored response. */
    enum Action {
        /** The proxy continues as it would without the hook. */
        PROCEED,
        /** A fresh response is validated before it is sent. Without a stored response, this equals {@link #PROCEED}. */
        VALIDATE,
        /** The request goes to the origin, and its response is not stored. */
        BYPASS
    }

    /** Decides about the use of the stored response. Called on the event loop of the request. */
    Action lookupDone(RequestView request, State state);
}
