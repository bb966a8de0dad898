package io.millrace.proxy.admin.resource;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The answer to one request of the admin API. Immutable; the body is not copied and must not be changed.
 *
 * @param status the HTTP status
 * @param contentType the value of Content-Type
 * @param body the content
 * @param errorCode the error code for programs, such as {@code not-found}; null for other answers
 * @param fields further header fields; each replaces the field of the same name that the admin API would send
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record AdminReply(
        int status,
        String contentType,
        byte[] body,
        @Nullable String errorCode,
        Map<String, String> fields) {
    /** The field with the error code. */
    public static final String ERROR_FIELD = "Millrace-Error";

    /** The media type of JSON answers. */
    public static final String JSON = "application/json";

    /** Creates an answer without an error code and without further header fields. */
    public AdminReply(int status, String contentType, byte[] body) {
        this(status, contentType, body, null, Map.of());
    }

    /** Returns a copy with these further header fields. */
    public AdminReply with(Map<String, String> further) {
        return new AdminReply(status, contentType, body, errorCode, Map.copyOf(further));
    }

    /** Creates an answer with a JSON object and status 200. */
    public static AdminReply json(Consumer<JsonGenerator> members) {
        return json(200, members);
    }

    /**
     * Creates an answer with a JSON object.
     *
     * @param members writes the members of the object, without its start and end
     */
    public static AdminReply json(int status, Consumer<JsonGenerator> members) {
        return new AdminReply(status, JSON, Json.object(members));
    }

    /** Creates an answer with a text and status 200. */
    public static AdminReply text(String contentType, String text) {
        return new AdminReply(200, contentType, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Creates the error answer of the API: {@code {"error":{"code":...,"message":...}}}. */
    public static AdminReply error(int status, String code, String message) {
        return json(status, json -> {
                    json.writeObjectPropertyStart("error");
                    json.writeStringProperty("code", code);
                    json.writeStringProperty("message", message);
                    json.writeEndObject();
                })
                .withErrorCode(code);
    }

    /** Returns a copy that is an error with this error code. */
    public AdminReply withErrorCode(String code) {
        return new AdminReply(status, contentType, body, code, fields);
    }

    public static AdminReply error(AdminException error) {
        return error(error.status(), error.code(), error.message());
    }
}
