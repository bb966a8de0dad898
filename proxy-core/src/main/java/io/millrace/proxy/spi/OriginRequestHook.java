package io.millrace.proxy.spi;

/**
 * The hook for requests to the origin. Several clients may share the response to one origin request. The hook sees only
 * the client whose request began the fetch.
 *
 * <p>After a failure the request is sent without the changes of the hook by default ({@code on_error: open}).
 */
public interface OriginRequestHook {
    /**
     * Changes a request. Called on an event loop, once for each fetch; repeated tries at other hosts have the same
     * changes. The fetch waits until a method of {@code continuation} is called, during this call or later, on any
     * thread.
     */
    void originRequest(OriginRequestView request, Continuation<OriginRequestView> continuation);
}
