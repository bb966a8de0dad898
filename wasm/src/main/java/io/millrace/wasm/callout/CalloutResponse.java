package io.millrace.wasm.callout;

import io.millrace.wasm.abi.HeaderMap;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The response to a call of a module, or its failure. Confined to one thread at a time. */
public final class CalloutResponse {
    private final HeaderMap fields;
    private final byte[] body;
    private final OpenLimits.@Nullable Slot slot;

    private CalloutResponse(HeaderMap fields, byte[] body, OpenLimits.@Nullable Slot slot) {
        this.fields = fields;
        this.body = body;
        this.slot = slot;
    }

    /**
     * Returns the result of a call without a response: it has no fields, as the ABI demands.
     *
     * @param slot the slot of the call; null for a refused call
     */
    static CalloutResponse failed(OpenLimits.@Nullable Slot slot) {
        return new CalloutResponse(new HeaderMap(), new byte[0], slot);
    }

    static CalloutResponse of(HttpResponse<byte[]> response, OpenLimits.Slot slot) {
        HeaderMap fields = new HeaderMap().with(":status", Integer.toString(response.statusCode()));
        for (Map.Entry<String, List<String>> field : response.headers().map().entrySet()) {
            String name = field.getKey().toLowerCase(Locale.ROOT);
            for (String value : field.getValue()) {
                fields.with(name, value);
            }
        }
        return new CalloutResponse(fields, response.body(), slot);
    }

    /**
     * Frees the call's share of the client's limits. Must be called when the result has left the queue, delivered or
     * dropped.
     */
    public void release() {
        if (slot != null) {
            slot.release();
        }
    }

    /** The fields with the pseudo field {@code :status}; empty after a failure. */
    public HeaderMap fields() {
        return fields;
    }

    /** The content. Borrowed, and must not be changed. */
    public byte[] body() {
        return body;
    }
}
