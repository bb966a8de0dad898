package io.millrace.cli.log;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A group of result codes of access logs, as in the statistics of Traffic Server. */
public enum CacheGroup {
    /** Answered from the cache, with or without a validation at the origin. */
    HIT,
    /** Fetched from the origin. */
    MISS,
    /** An error, a refusal, or a request without a response. */
    ERROR,
    /** Any other request. Examples are a response of the proxy itself, and a line without a result code. */
    OTHER;

    /** Returns the name of the group in text and JSON, in lower case. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static CacheGroup of(@Nullable String result, int status) {
        if (result == null) {
            return OTHER;
        }
        if (result.startsWith("ERR_") || result.equals("TCP_DENIED") || result.equals("TCP_SWAPFAIL") || status == 0) {
            return ERROR;
        }
        if (result.endsWith("_HIT")) {
            return HIT;
        }
        return result.endsWith("_MISS") || result.equals("TCP_CLIENT_REFRESH") ? MISS : OTHER;
    }
}
