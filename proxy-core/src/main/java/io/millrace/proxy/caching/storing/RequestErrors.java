package io.millrace.proxy.caching.storing;

import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;

/**
 * Recognizes errors that concern one client's request and not its URL. A client chooses the fields that provoke such an
 * error, and the cache key does not contain these fields. A stored error would therefore deny the URL to all clients.
 * RFC 6585 forbids storing some of these errors. RFC 9111 s3 permits storing the others but never requires it, so the
 * cache may refuse all of them. Thread-safe: no state.
 */
final class RequestErrors {
    /**
     * Limit in bytes of the fields of an ordinary request. Browsers send less. Some servers refuse more than 4 KiB,
     * most servers more than 8 KiB.
     */
    static final int ORDINARY_BYTES_MAX = 4096;

    /** Limit of field lines of an ordinary request. Some servers refuse 100 lines. */
    static final int ORDINARY_LINES_MAX = 64;

    private RequestErrors() {}

    /**
     * Returns true if a response is an error that concerns the request and not its URL. Either its status code concerns
     * the request's fields and is not configured for negative caching. Or it is any error, and the request has fields
     * that some servers refuse.
     *
     * @param negativeCaching the statuses whose lifetime the operator has configured
     */
    static boolean isRequestError(RequestHead request, int status, LifetimeRules.NegativeCaching negativeCaching) {
        return status >= 400
                && ((isAboutFields(status) && !negativeCaching.covers(status)) || !isOrdinary(request.fields()));
    }

    /**
     * Returns true for errors about request fields. Excludes 400, because applications often answer certain URLs with a
     * 400 that has a lifetime.
     */
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
