package io.millrace.proxy.caching.storing;

import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;

/**
 * Errors that are about one client's request and not about its URL. Stored, they would deny the page to everybody: the client
 * chooses the fields that provoke them, and these are in no key. RFC 6585 forbids to store some, and RFC 9111 s3 obliges to store
 * none. Thread-safe: no state.
 */
final class RequestErrors {
    /**
     * Bytes of fields up to which a request is an ordinary one. 4 KiB: servers in use begin to refuse at that much, most at 8 KiB,
     * and browsers send less.
     */
    static final int ORDINARY_BYTES_MAX = 4096;

    /** Field lines up to which a request is an ordinary one; servers in use begin to refuse at 100. */
    static final int ORDINARY_LINES_MAX = 64;

    private RequestErrors() {}

    /**
     * Whether an answer is one: its status code speaks of what the request has beside its URL, and no operator says otherwise; or
     * it is any error, to a request with fields that some servers refuse.
     *
     * @param named the status codes that an operator has stored
     */
    static boolean isOne(RequestHead request, int status, LifetimeRules.NegativeCaching named) {
        return status >= 400 && ((isAboutFields(status) && !named.covers(status)) || !isOrdinary(request.fields()));
    }

    /** Not 400: that many an application says of a URL too, with a lifetime. */
    private static boolean isAboutFields(int status) {
        return switch (status) {
            case 406, 408, 411, 412, 413, 415, 416, 417, 421, 425, 426 -> true;
            // RFC 6585 s3 to s6: must not be stored.
            case 428, 429, 431, 511 -> true;
            default -> false;
        };
    }

    private static boolean isOrdinary(FieldSection fields) {
        if (fields.size() > ORDINARY_LINES_MAX || fields.wireLength() > ORDINARY_BYTES_MAX) {
            return false;
        }
        byte[] bytes = fields.bytes();
        for (int line = 0; line < fields.size(); line++) {
            for (int i = fields.valueStart(line); i < fields.valueEnd(line); i++) {
                boolean printable = (bytes[i] >= ' ' && bytes[i] <= '~') || bytes[i] == '\t';
                if (!printable) {
                    return false;
                }
            }
        }
        return true;
    }
}
