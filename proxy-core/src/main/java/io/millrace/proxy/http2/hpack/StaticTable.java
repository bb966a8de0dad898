package io.millrace.proxy.http2.hpack;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * The static table of HPACK (RFC 7541 appendix A).
 *
 * <p>Immutable.
 */
public final class StaticTable {
    /** Number of entries. Indices begin at 1. */
    public static final int SIZE = 61;

    // The index of the first entry of each name.
    public static final int AUTHORITY = 1;
    public static final int METHOD = 2;
    public static final int PATH = 4;
    public static final int SCHEME = 6;
    public static final int STATUS = 8;
    public static final int AGE = 21;
    public static final int CONTENT_LENGTH = 28;
    public static final int CONTENT_RANGE = 30;
    public static final int STRICT_TRANSPORT_SECURITY = 56;
    public static final int VIA = 60;

    private static final String[] ENTRIES = {
        ":authority", "",
        ":method", "GET",
        ":method", "POST",
        ":path", "/",
        ":path", "/index.html",
        ":scheme", "http",
        ":scheme", "https",
        ":status", "200",
        ":status", "204",
        ":status", "206",
        ":status", "304",
        ":status", "400",
        ":status", "404",
        ":status", "500",
        "accept-charset", "",
        "accept-encoding", "gzip, deflate",
        "accept-language", "",
        "accept-ranges", "",
        "accept", "",
        "access-control-allow-origin", "",
        "age", "",
        "allow", "",
        "authorization", "",
        "cache-control", "",
        "content-disposition", "",
        "content-encoding", "",
        "content-language", "",
        "content-length", "",
        "content-location", "",
        "content-range", "",
        "content-type", "",
        "cookie", "",
        "date", "",
        "etag", "",
        "expect", "",
        "expires", "",
        "from", "",
        "host", "",
        "if-match", "",
        "if-modified-since", "",
        "if-none-match", "",
        "if-range", "",
        "if-unmodified-since", "",
        "last-modified", "",
        "link", "",
        "location", "",
        "max-forwards", "",
        "proxy-authenticate", "",
        "proxy-authorization", "",
        "range", "",
        "referer", "",
        "refresh", "",
        "retry-after", "",
        "server", "",
        "set-cookie", "",
        "strict-transport-security", "",
        "transfer-encoding", "",
        "user-agent", "",
        "vary", "",
        "via", "",
        "www-authenticate", ""
    };

    private static final byte[][] NAMES = new byte[SIZE + 1][];
    private static final byte[][] VALUES = new byte[SIZE + 1][];
    private static final Map<String, Integer> BY_NAME = new HashMap<>();

    static {
        for (int index = SIZE; index >= 1; index--) {
            String name = ENTRIES[2 * index - 2];
            NAMES[index] = name.getBytes(StandardCharsets.US_ASCII);
            VALUES[index] = ENTRIES[2 * index - 1].getBytes(StandardCharsets.US_ASCII);
            BY_NAME.put(name, index);
        }
    }

    private StaticTable() {}

    /** Returns the name of an entry; borrowed. */
    public static byte[] name(int index) {
        return NAMES[index];
    }

    /** Returns the value of an entry; borrowed. */
    public static byte[] value(int index) {
        return VALUES[index];
    }

    /** Returns the index of the first entry with a lower-case name; 0 for none. */
    public static int find(String name) {
        return BY_NAME.getOrDefault(name, 0);
    }
}
