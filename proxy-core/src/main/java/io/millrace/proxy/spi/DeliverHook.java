package io.millrace.proxy.spi;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The hook for response heads to clients. It is called for each request that the proxy's own access control permits,
 * also for hits, answers of extensions, and errors. It is not called for responses that the proxy generates before
 * that access control: for URLs without a remap rule, refused clients, redirects by remap rules, and malformed
 * requests.
 *
 * <p>After a failure the head is sent without the changes of the hook by default ({@code on_error: open}).
 */
public interface DeliverHook {
    /** Changes a response head. Called on the event loop of the request. */
    void deliver(RequestView request, DeliveredResponse response);

    /**
     * Returns the fields that the hook sets in every response, if it does nothing else. The proxy asks once, after
     * {@link Extension#open}, encodes the fields, and sets them itself. Then {@link #deliver} is not called, and calls
     * are not counted.
     *
     * <p>The limits of {@link MutableFields} apply; if a field violates them, the proxy does not start.
     *
     * @return the values by name, for {@link MutableFields#set}; null if {@link #deliver} must be called
     */
    default @Nullable Map<String, String> constantFields() {
        return null;
    }
}
