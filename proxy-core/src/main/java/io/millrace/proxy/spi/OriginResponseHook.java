package io.millrace.proxy.spi;

/**
 * The hook for responses of the origin, before they are stored. Many clients may get the response, so the hook sees
 * none of them.
 *
 * <p>After a failure the response is passed on without the changes of the hook, and is not stored
 * ({@code on_error: open}, the default).
 */
public interface OriginResponseHook {
    /** Changes a response. Called on an event loop. */
    void originResponse(OriginResponseView response);
}
