package io.millrace.proxy.caching.key;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;

/**
 * Detects requests with content (RFC 9112 s6). The response to a GET with content is not stored, and the cache does not
 * answer it.
 */
public final class RequestContent {

    private RequestContent() {}

    public static boolean isPresent(FieldSection fields) {
        if (fields.contains(FieldName.TRANSFER_ENCODING)) {
            return true;
        }
        int line = fields.find(FieldName.CONTENT_LENGTH);
        return line >= 0 && !fields.valueEqualsIgnoreCase(line, "0");
    }
}
