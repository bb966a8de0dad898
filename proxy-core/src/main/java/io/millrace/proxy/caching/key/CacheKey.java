package io.millrace.proxy.caching.key;

import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The primary cache key of a URL (RFC 9111 s2): the client's URL in normal form, as readable text. GET and HEAD share
 * one key.
 *
 * <pre>
 * http://example.com/a%2Fb/~c?x=%7e
 *        |              |     +- query byte for byte
 *        |              +- path: unreserved bytes decoded, other encodings with A to F (RFC 3986 s6.2.2)
 *        +- host in lower case, port unless it is the scheme's default
 * </pre>
 *
 * If a remap rule changes keys ({@code KeyRules}), the key contains the changed URL. A suffix may follow after a space,
 * which no URL contains. The suffix distinguishes responses with the same URL. For example, it contains the generation
 * ({@code cache.key.generation}), the received port, or the mapping of a rule that shares stored responses among hosts.
 * Dot segments and encoded dots in the path stay unchanged, because URLs that an origin may distinguish must have
 * different keys. Immutable.
 */
public final class CacheKey {

    private static final byte[] NOTHING = {};
    /** Maximum length of a host name with a port (RFC 1035 s2.3.4). */
    private static final int HOST_SHOWN_MAX = 253 + ":65535".length();

    private final byte[] bytes;

    private CacheKey(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Returns the key of the URL. */
    public static CacheKey of(TargetUri target) {
        return of(target, NOTHING);
    }

    /**
     * Returns the key of the URL with a suffix that no URL contains.
     *
     * @param suffix begins with a space, or is empty; borrowed
     */
    public static CacheKey of(TargetUri target, byte[] suffix) {
        byte[] scratch = new byte[lengthIfNormal(target) + suffix.length];
        int length = encode(target, scratch, 0);
        System.arraycopy(suffix, 0, scratch, length, suffix.length);
        length += suffix.length;
        return new CacheKey(length == scratch.length ? scratch : Arrays.copyOf(scratch, length));
    }

    /** Returns the maximum number of bytes that {@link #encode} writes for the URL. */
    public static int lengthMax(TargetUri target) {
        return "https://".length()
                + target.hostBytes().length
                + ":65535".length()
                + target.queryEnd()
                - target.pathStart();
    }

    /**
     * Returns the length of the key if the path is already in normal form. Normalization may shorten it, but never
     * makes it longer.
     */
    private static int lengthIfNormal(TargetUri target) {
        int scheme = target.isSecure() ? "https://".length() : "http://".length();
        int port = target.isDefaultPort() ? 0 : 1 + digits(target.port());
        return scheme + target.hostBytes().length + port + target.queryEnd() - target.pathStart();
    }

    private static int digits(int port) {
        int digits = 1;
        for (int rest = port; rest >= 10; rest /= 10) {
            digits++;
        }
        return digits;
    }

    /**
     * Writes the key of the URL without allocation.
     *
     * @param to has room for {@link #lengthMax} bytes at {@code at}
     * @return the position after the last byte written
     */
    public static int encode(TargetUri target, byte[] to, int at) {
        int position = putText(target.isSecure() ? "https://" : "http://", to, at);
        byte[] host = target.hostBytes();
        System.arraycopy(host, 0, to, position, host.length);
        position += host.length;
        if (!target.isDefaultPort()) {
            to[position++] = ':';
            position = putPort(target.port(), to, position);
        }
        byte[] source = target.targetBytes();
        position = UriBytes.normalizePath(source, target.pathStart(), target.pathEnd(), to, position);
        int queryLength = target.queryEnd() - target.pathEnd();
        System.arraycopy(source, target.pathEnd(), to, position, queryLength);
        return position + queryLength;
    }

    /**
     * Returns the host in the bytes of a key. The port follows unless it is the scheme's default. Also accepts keys of
     * variants, which begin like the key of their URL. Returns an empty text if the bytes contain no host.
     */
    public static String hostOf(byte[] key) {
        int start = 0;
        while (start < key.length && key[start] != '/') {
            start++;
        }
        start += "//".length();
        int end = start;
        while (end < key.length && key[end] != '/' && key[end] != '?' && key[end] != ' ') {
            end++;
        }
        int length = Math.min(end - start, HOST_SHOWN_MAX);
        return length <= 0 ? "" : new String(key, start, length, StandardCharsets.ISO_8859_1);
    }

    /** The key's bytes. Borrowed: do not modify. */
    public byte[] bytes() {
        return bytes;
    }

    /** The key as text. */
    public String asString() {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof CacheKey that && Arrays.equals(bytes, that.bytes));
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return asString();
    }

    private static int putText(String text, byte[] to, int at) {
        for (int i = 0; i < text.length(); i++) {
            to[at + i] = (byte) text.charAt(i);
        }
        return at + text.length();
    }

    private static int putPort(int port, byte[] to, int at) {
        int divisor = 10_000;
        while (divisor > port) {
            divisor /= 10;
        }
        int position = at;
        for (int rest = port; divisor > 0; divisor /= 10) {
            to[position++] = (byte) ('0' + rest / divisor);
            rest %= divisor;
        }
        return position;
    }
}
