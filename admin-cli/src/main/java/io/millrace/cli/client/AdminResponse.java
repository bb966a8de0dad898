package io.millrace.cli.client;

import io.millrace.cli.client.AdminClientException.Kind;
import java.nio.charset.StandardCharsets;

/**
 * A whole answer of the admin API. Immutable; the body is not copied and nobody changes it.
 *
 * @param status the HTTP status, 200 to 599
 * @param body the content
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record AdminResponse(int status, byte[] body) {
    /** Whether the request was carried out. */
    public boolean isSuccess() {
        return status / 100 == 2;
    }

    /** The content, which must be one JSON object. */
    public JsonObject json() throws AdminClientException {
        try {
            return JsonObject.parse(body);
        } catch (IllegalArgumentException e) {
            throw new AdminClientException(
                    Kind.BROKEN_ANSWER,
                    "the answer (status " + status + ") is not a JSON object, so it is not from Millrace's admin API: "
                            + e.getMessage());
        }
    }

    /** The content as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }
}
