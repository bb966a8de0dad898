package io.millrace.proxy.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A field name (RFC 9110 s5.1). Well-known names are singletons with an id, so that a lookup in a {@link FieldSection}
 * compares integers. All other names have the id {@link #UNKNOWN} and are compared by their bytes, ignoring ASCII case.
 * Immutable.
 */
public final class FieldName {

    /** The id of all names that are not well known. */
    static final int UNKNOWN = 0;

    private static final int TABLE_SIZE = 512;
    private static final List<FieldName> WELL_KNOWN = new ArrayList<>();
    private static final @Nullable FieldName[] TABLE = new FieldName[TABLE_SIZE];

    public static final FieldName ACCEPT = wellKnown("Accept");
    public static final FieldName ACCEPT_CHARSET = wellKnown("Accept-Charset");
    public static final FieldName ACCEPT_ENCODING = wellKnown("Accept-Encoding");
    public static final FieldName ACCEPT_LANGUAGE = wellKnown("Accept-Language");
    public static final FieldName ACCEPT_RANGES = wellKnown("Accept-Ranges");
    public static final FieldName AGE = wellKnown("Age");
    public static final FieldName ALLOW = wellKnown("Allow");
    public static final FieldName ALT_SVC = wellKnown("Alt-Svc");
    public static final FieldName AUTHORIZATION = wellKnown("Authorization");
    public static final FieldName CACHE_CONTROL = wellKnown("Cache-Control");
    public static final FieldName CACHE_STATUS = wellKnown("Cache-Status");
    public static final FieldName CDN_CACHE_CONTROL = wellKnown("CDN-Cache-Control");
    public static final FieldName CLIENT_IP = wellKnown("Client-IP");
    public static final FieldName CONNECTION = wellKnown("Connection");
    public static final FieldName CONTENT_DISPOSITION = wellKnown("Content-Disposition");
    public static final FieldName CONTENT_ENCODING = wellKnown("Content-Encoding");
    public static final FieldName CONTENT_LANGUAGE = wellKnown("Content-Language");
    public static final FieldName CONTENT_LENGTH = wellKnown("Content-Length");
    public static final FieldName CONTENT_LOCATION = wellKnown("Content-Location");
    public static final FieldName CONTENT_RANGE = wellKnown("Content-Range");
    public static final FieldName CONTENT_SECURITY_POLICY = wellKnown("Content-Security-Policy");
    public static final FieldName CONTENT_TYPE = wellKnown("Content-Type");
    public static final FieldName COOKIE = wellKnown("Cookie");
    public static final FieldName DATE = wellKnown("Date");
    public static final FieldName ETAG = wellKnown("ETag");
    public static final FieldName EXPECT = wellKnown("Expect");
    public static final FieldName EXPIRES = wellKnown("Expires");
    public static final FieldName FORWARDED = wellKnown("Forwarded");
    public static final FieldName FROM = wellKnown("From");
    public static final FieldName HOST = wellKnown("Host");
    public static final FieldName HTTP2_SETTINGS = wellKnown("HTTP2-Settings");
    public static final FieldName IF_MATCH = wellKnown("If-Match");
    public static final FieldName IF_MODIFIED_SINCE = wellKnown("If-Modified-Since");
    public static final FieldName IF_NONE_MATCH = wellKnown("If-None-Match");
    public static final FieldName IF_RANGE = wellKnown("If-Range");
    public static final FieldName IF_UNMODIFIED_SINCE = wellKnown("If-Unmodified-Since");
    public static final FieldName KEEP_ALIVE = wellKnown("Keep-Alive");
    public static final FieldName LAST_MODIFIED = wellKnown("Last-Modified");
    public static final FieldName LINK = wellKnown("Link");
    public static final FieldName LOCATION = wellKnown("Location");
    public static final FieldName MAX_FORWARDS = wellKnown("Max-Forwards");
    public static final FieldName ORIGIN = wellKnown("Origin");
    public static final FieldName PRAGMA = wellKnown("Pragma");
    public static final FieldName PRIORITY = wellKnown("Priority");
    public static final FieldName PROXY_AUTHENTICATE = wellKnown("Proxy-Authenticate");
    public static final FieldName PROXY_AUTHENTICATION_INFO = wellKnown("Proxy-Authentication-Info");
    public static final FieldName PROXY_AUTHORIZATION = wellKnown("Proxy-Authorization");
    public static final FieldName PROXY_CONNECTION = wellKnown("Proxy-Connection");
    public static final FieldName RANGE = wellKnown("Range");
    public static final FieldName REFERER = wellKnown("Referer");
    public static final FieldName RETRY_AFTER = wellKnown("Retry-After");
    public static final FieldName SEC_WEBSOCKET_KEY1 = wellKnown("Sec-WebSocket-Key1");
    public static final FieldName SEC_WEBSOCKET_KEY2 = wellKnown("Sec-WebSocket-Key2");
    public static final FieldName SERVER = wellKnown("Server");
    public static final FieldName SET_COOKIE = wellKnown("Set-Cookie");
    public static final FieldName STRICT_TRANSPORT_SECURITY = wellKnown("Strict-Transport-Security");
    public static final FieldName TE = wellKnown("TE");
    public static final FieldName TRAILER = wellKnown("Trailer");
    public static final FieldName TRANSFER_ENCODING = wellKnown("Transfer-Encoding");
    public static final FieldName UPGRADE = wellKnown("Upgrade");
    public static final FieldName USER_AGENT = wellKnown("User-Agent");
    public static final FieldName VARY = wellKnown("Vary");
    public static final FieldName VIA = wellKnown("Via");
    public static final FieldName WARNING = wellKnown("Warning");
    public static final FieldName WWW_AUTHENTICATE = wellKnown("WWW-Authenticate");
    public static final FieldName X_FORWARDED_FOR = wellKnown("X-Forwarded-For");
    public static final FieldName X_FORWARDED_HOST = wellKnown("X-Forwarded-Host");
    public static final FieldName X_FORWARDED_PROTO = wellKnown("X-Forwarded-Proto");
    public static final FieldName X_REQUEST_ID = wellKnown("X-Request-Id");
    public static final FieldName TRACEPARENT = wellKnown("traceparent");
    public static final FieldName TRACESTATE = wellKnown("tracestate");

    private final int id;
    private final String text;
    private final String lower;
    private final byte[] spelling;

    private FieldName(int id, String text) {
        this.id = id;
        this.text = text;
        this.lower = text.toLowerCase(Locale.ROOT);
        this.spelling = text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /**
     * Returns true if an HTTP/1.1 head has a line with this name. The head consists of the status line and field lines,
     * each with its CRLF.
     */
    public boolean hasLineIn(byte[] head) {
        int last = head.length - spelling.length - 1;
        for (int at = 0; at <= last; at++) {
            if (at > 0
                    && head[at - 1] == '\n'
                    && head[at + spelling.length] == ':'
                    && matches(head, at, at + spelling.length)) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if the name is one of the constants of this class. */
    public boolean isWellKnown() {
        return id != UNKNOWN;
    }

    /**
     * Returns the name of this text, as the well-known singleton if there is one.
     *
     * @throws IllegalArgumentException if the text is not a token
     */
    public static FieldName of(CharSequence name) {
        byte[] bytes = name.toString().getBytes(StandardCharsets.ISO_8859_1);
        FieldName found = of(bytes, 0, bytes.length);
        if (found == null) {
            throw new IllegalArgumentException("not a field name: '" + name + "'");
        }
        return found;
    }

    /** Returns the name in the range, as the well-known singleton if there is one; null if the range is not a token. */
    public static @Nullable FieldName of(byte[] bytes, int from, int to) {
        FieldName known = lookup(bytes, from, to);
        if (known != null) {
            return known;
        }
        return FieldLexer.isToken(bytes, from, to)
                ? new FieldName(UNKNOWN, new String(bytes, from, to - from, StandardCharsets.ISO_8859_1))
                : null;
    }

    /** Returns the id of the name in the range; {@link #UNKNOWN} if it is not well known. */
    static int idOf(byte[] bytes, int from, int to) {
        FieldName known = lookup(bytes, from, to);
        return known == null ? UNKNOWN : known.id;
    }

    /**
     * The canonical spelling, for example {@code Cache-Control}; the original spelling of a name that is not well
     * known.
     */
    public String text() {
        return text;
    }

    /** The name in lower case. */
    public String lower() {
        return lower;
    }

    /** Returns true if the range equals this name. Ignores ASCII case. */
    public boolean matches(byte[] bytes, int from, int to) {
        byte[] mine = spelling;
        if (to - from != mine.length) {
            return false;
        }
        for (int i = 0; i < mine.length; i++) {
            // Most clients use the same spelling as this class.
            byte b = bytes[from + i];
            if (b != mine[i] && FieldLexer.lower(b & 0xff) != FieldLexer.lower(mine[i] & 0xff)) {
                return false;
            }
        }
        return true;
    }

    /** Returns one more than the highest id. */
    static int ids() {
        return WELL_KNOWN.size() + 1;
    }

    /** The id, unique and above 0 for a well-known name, else {@link #UNKNOWN}. Not stable between releases. */
    int id() {
        return id;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof FieldName that && lower.equals(that.lower));
    }

    @Override
    public int hashCode() {
        return lower.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }

    private static @Nullable FieldName lookup(byte[] bytes, int from, int to) {
        if (from >= to) {
            return null;
        }
        int slot = slot(bytes[from], bytes[from + ((to - from) >>> 1)], bytes[to - 1], to - from);
        for (FieldName name = TABLE[slot]; name != null; name = TABLE[slot]) {
            if (name.matches(bytes, from, to)) {
                return name;
            }
            slot = (slot + 1) & (TABLE_SIZE - 1);
        }
        return null;
    }

    private static FieldName wellKnown(String text) {
        FieldName name = new FieldName(WELL_KNOWN.size() + 1, text);
        WELL_KNOWN.add(name);
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        int slot = slot(bytes[0], bytes[bytes.length >>> 1], bytes[bytes.length - 1], bytes.length);
        while (TABLE[slot] != null) {
            slot = (slot + 1) & (TABLE_SIZE - 1);
        }
        TABLE[slot] = name;
        return name;
    }

    /**
     * Returns the hash slot of a name, from its length and its first, middle and last byte. These differ for most
     * well-known names. The bit 0x20 makes letters lower case.
     */
    private static int slot(byte first, byte middle, byte last, int length) {
        int hash = length * 37 + (first | 0x20);
        hash = hash * 31 + (middle | 0x20);
        hash = hash * 31 + (last | 0x20);
        return (hash ^ (hash >>> 9)) & (TABLE_SIZE - 1);
    }
}
