package io.millrace.proxy.observe;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;

/**
 * Writes this cache's member of the {@code Cache-Status} field (RFC 9211) as bytes, without allocation: first
 * {@link #hit} or {@link #forwarded}, then any parameters.
 *
 * <pre>
 *   millrace; hit; ttl=42
 *   millrace; fwd=uri-miss; fwd-status=200; stored; collapsed; key="http://h/p"; detail=collapse-timeout
 * </pre>
 *
 * <p>The methods write the value only, never the field's name or line end; they borrow the buffer and grow it as needed.
 * Immutable.
 */
public final class CacheStatus {
    /** The field's name. */
    public static final String FIELD_NAME = "Cache-Status";

    private static final byte[] FORWARD_STATUS = ascii("; fwd-status=");
    private static final byte[] TTL = ascii("; ttl=");
    private static final byte[] STORED = ascii("; stored");
    private static final byte[] COLLAPSED = ascii("; collapsed");
    private static final byte[] KEY = ascii("; key=");
    private static final byte[] DETAIL = ascii("; detail=");
    private static final byte[] PURGED_BY = ascii("; purged-by=");

    private static final byte[] HEX_DIGITS = ascii("0123456789ABCDEF");

    private final byte[] local;
    private final byte[] hit;
    private final byte[] hitWithTtl;
    private final byte[][] forwarded;

    /**
     * The writer for one cache name.
     *
     * @param identifier how this cache calls itself: printable ASCII, written as a token where it is one and else quoted
     * @throws IllegalArgumentException if the identifier is empty or has other characters
     */
    public CacheStatus(String identifier) {
        String member = member(identifier);
        local = ascii(member);
        hit = ascii(member + "; hit");
        hitWithTtl = ascii(member + "; hit; ttl=");
        ForwardReason[] reasons = ForwardReason.values();
        forwarded = new byte[reasons.length][];
        for (ForwardReason reason : reasons) {
            forwarded[reason.index()] = ascii(member + "; fwd=" + reason.token());
        }
    }

    private static String member(String identifier) {
        if (identifier.isEmpty()) {
            throw new IllegalArgumentException("the cache's name is empty");
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < identifier.length(); i++) {
            char c = identifier.charAt(i);
            if (c < ' ' || c > '~') {
                throw new IllegalArgumentException("the cache's name is not printable ASCII: " + identifier);
            }
            if (c == '"' || c == '\\') {
                quoted.append('\\');
            }
            quoted.append(c);
        }
        return isToken(identifier) ? identifier : quoted.append('"').toString();
    }

    private static boolean isToken(String text) {
        if (text.isEmpty() || !(isAlpha(text.charAt(0)) || text.charAt(0) == '*')) {
            return false;
        }
        for (int i = 1; i < text.length(); i++) {
            if (!isTokenCharacter(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAlpha(int c) {
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    }

    /** RFC 9651 section 4.1.7: tchar, colon and slash. */
    private static boolean isTokenCharacter(int c) {
        return isAlpha(c) || (c >= '0' && c <= '9') || "!#$%&'*+-.^_`|~:/".indexOf(c) >= 0;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Writes the whole value for a hit. */
    public void hit(ByteBuf out, long ttlSeconds) {
        out.writeBytes(hitWithTtl);
        Decimal.write(out, ttlSeconds);
    }

    /** Begins the value for a response that was served from the cache. */
    public void hit(ByteBuf out) {
        out.writeBytes(hit);
    }

    /** Begins the value for a response of the proxy's own, neither from the cache nor from the origin. */
    public void local(ByteBuf out) {
        out.writeBytes(local);
    }

    /** Begins the value for a request that went to the origin. */
    public void forwarded(ByteBuf out, ForwardReason reason) {
        out.writeBytes(forwarded[reason.index()]);
    }

    /** Adds the status that the origin answered with. */
    public static void forwardStatus(ByteBuf out, int status) {
        out.writeBytes(FORWARD_STATUS);
        Decimal.write(out, status);
    }

    /** Adds the remaining freshness lifetime, negative when stale. */
    public static void ttl(ByteBuf out, long ttlSeconds) {
        out.writeBytes(TTL);
        Decimal.write(out, ttlSeconds);
    }

    /** Adds that the response was stored. */
    public static void stored(ByteBuf out) {
        out.writeBytes(STORED);
    }

    /** Adds that the request was collapsed with another one. */
    public static void collapsed(ByteBuf out) {
        out.writeBytes(COLLAPSED);
    }

    /** Adds the cache key as a string; bytes that a string cannot hold are percent-encoded. */
    public static void key(ByteBuf out, byte[] key, int offset, int length) {
        out.writeBytes(KEY);
        out.writeByte('"');
        for (int i = offset; i < offset + length; i++) {
            int c = key[i] & 0xff;
            if (c == '"' || c == '\\') {
                out.writeByte('\\').writeByte(c);
            } else if (c < ' ' || c > '~') {
                out.writeByte('%').writeByte(HEX_DIGITS[c >> 4]).writeByte(HEX_DIGITS[c & 0xf]);
            } else {
                out.writeByte(c);
            }
        }
        out.writeByte('"');
    }

    /** Adds the identifier of the purge that has outdated what was stored, a token; an extension parameter (RFC 9211 section 2). */
    public static void purgedBy(ByteBuf out, String id) {
        out.writeBytes(PURGED_BY);
        ByteBufUtil.writeAscii(out, id);
    }

    /** Adds a detail: as a token where it is one, and else as a string, with question marks beyond ASCII. */
    public static void detail(ByteBuf out, String detail) {
        out.writeBytes(DETAIL);
        if (isToken(detail)) {
            ByteBufUtil.writeAscii(out, detail);
            return;
        }
        out.writeByte('"');
        for (int i = 0; i < detail.length(); i++) {
            char c = detail.charAt(i);
            if (c == '"' || c == '\\') {
                out.writeByte('\\');
            }
            out.writeByte(c < ' ' || c > '~' ? '?' : c);
        }
        out.writeByte('"');
    }
}
