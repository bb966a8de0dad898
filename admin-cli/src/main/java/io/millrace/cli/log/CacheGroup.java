package io.millrace.cli.log;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Result codes that mean the same for a site, as Traffic Server's statistics group them. */
public enum CacheGroup {
    /** Answered from the cache, confirmed by the origin or not. */
    HIT,
    /** Fetched. */
    MISS,
    /** Not answered as the client wanted. */
    ERROR,
    /** Answered by the proxy itself, or not said. */
    OTHER;

    /** The word for people and in JSON. */
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
