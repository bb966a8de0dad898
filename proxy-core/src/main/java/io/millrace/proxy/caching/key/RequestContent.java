package io.millrace.proxy.caching.key;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;

/**
 * Detects requests with content (RFC 9112 s6). A GET with content bypasses the cache: no stored response answers it,
 * and its response is not stored.
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
