package io.millrace.proxy.admin.copy;

import io.millrace.proxy.admin.copy.CopySource.StoredCopy;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.util.Base64;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /v1/cache/object} and {@code /v1/cache/object/content}: a stored response, for a copy in another cache.
 * For operators only. Thread-safe.
 */
public final class ObjectResource implements AdminResource {
    /** Path of the head. */
    public static final String HEAD_PATH = "/v1/cache/object";

    /** Path of a part of the content. */
    public static final String CONTENT_PATH = "/v1/cache/object/content";

    private static final String BYTES = "application/octet-stream";

    private final CopySource source;
    private final boolean isHead;

    private ObjectResource(CopySource source, boolean isHead) {
        this.source = source;
        this.isHead = isHead;
    }

    /** Creates the resource that returns heads. */
    public static ObjectResource head(CopySource source) {
        return new ObjectResource(source, true);
    }

    /** Creates the resource that returns parts of the content. */
    public static ObjectResource content(CopySource source) {
        return new ObjectResource(source, false);
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return isHead ? HEAD_PATH : CONTENT_PATH;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        byte[] key = key(request.parameter("key"));
        if (isHead) {
            responder.replyWhen(source.head(key, request.caller()), copy -> AdminReply.json(json -> write(json, copy)));
            return;
        }
        String version = request.parameter("version");
        long position = Uploads.number(request.parameter("position"), "position");
        responder.replyWhen(source.content(key, version, position), bytes -> new AdminReply(200, BYTES, bytes));
    }

    private static byte[] key(String text) throws AdminException {
        try {
            return Base64.getUrlDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new AdminException(400, "bad-request", "key: not base64url, as /v1/cache/list returns it: " + text);
        }
    }

    private static void write(JsonGenerator json, StoredCopy copy) {
        Base64.Encoder base64 = Base64.getEncoder();
        json.writeStringProperty("url", copy.url());
        json.writeStringProperty("version", copy.version());
        json.writeNumberProperty("length", copy.length());
        json.writeStringProperty("head", base64.encodeToString(copy.head()));
        json.writeBooleanProperty("varies", copy.varies());
        Json.strings(json, "request_fields", copy.requestFields());
        json.writeNumberProperty("requested_at_ms", copy.requestMillis());
        json.writeNumberProperty("received_at_ms", copy.responseMillis());
        json.writeNumberProperty("now_ms", copy.nowMillis());
        json.writeNumberProperty("age_seconds", copy.ageSeconds());
        json.writeNumberProperty("freshness_lifetime_seconds", copy.lifetimeSeconds());
        json.writeStringProperty("tags", base64.encodeToString(copy.tags()));
    }
}
