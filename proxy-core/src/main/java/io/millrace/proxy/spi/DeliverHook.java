package io.millrace.proxy.spi;

/**
 * The hook for response heads to clients. It is called for each client, for hits and for responses that the proxy
 * generates too.
 *
 * <p>After a failure the head is sent without the changes of the hook by default ({@code on_error: open}).
 */
public interface DeliverHook {
    /** Changes a response head. Called on the event loop of the request. */
    void deliver(RequestView request, DeliveredResponse response);
}
