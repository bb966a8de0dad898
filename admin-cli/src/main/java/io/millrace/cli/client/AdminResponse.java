package io.millrace.cli.client;

import io.millrace.cli.client.AdminClientException.Kind;
import java.nio.charset.StandardCharsets;

/**
 * A complete response of the admin API. Immutable; the body is not copied and must not be changed.
 *
 * @param status the HTTP status, 200 to 599
 * @param body the content
 */
@SuppressWarnings("ArrayRecordComponent") // responses are never compared
public record AdminResponse(int status, byte[] body) {
    /** Returns true for a status of 200 to 299. */
    public boolean isSuccess() {
        return status / 100 == 2;
    }

    /**
     * Parses the content as a JSON object.
     *
     * @throws AdminClientException if the content is not a JSON object
     */
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

    /** Returns the content as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }
}
