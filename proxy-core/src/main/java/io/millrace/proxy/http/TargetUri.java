package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The target URI of a request (RFC 9110 s7.1): scheme, host in lower case, port, and path and query byte for byte as
 * the client sent them. What an origin receives is never changed by normalisation; only cache keys are. Immutable.
 */
public final class TargetUri implements TargetResult {

    /** The longest host name that DNS can carry. */
    static final int HOST_LENGTH_MAX = 255;

    /** How the request target was written (RFC 9112 s3.2). */
    public enum Form {
        /** {@code /path?query}. */
        ORIGIN,
        /** {@code http://host/path?query}. */
        ABSOLUTE,
        /** {@code host:port}, CONNECT only. */
        AUTHORITY,
        /** {@code *}, OPTIONS only. */
        ASTERISK
    }

    private final Form form;
    private final boolean secure;
    private final byte[] host;
    private final int port;
    private final byte[] target;
    private final int pathStart;
    private final int pathEnd;
    private final int queryEnd;

    TargetUri(
            Form form, boolean secure, byte[] host, int port, byte[] target, int pathStart, int pathEnd, int queryEnd) {
        this.form = form;
        this.secure = secure;
        this.host = host;
        this.port = port;
        this.target = target;
        this.pathStart = pathStart;
        this.pathEnd = pathEnd;
        this.queryEnd = queryEnd;
    }

    /**
     * Reads a request's target. The range is copied where it is kept.
     *
     * @param fields the request's fields; Host is checked in every form and decides in origin form (RFC 9112 s3.2,
     *     s3.3)
     * @param minorVersion of HTTP/1; a request of HTTP/1.0 may lack Host, its host is then empty
     * @param secure whether the connection is secured, which decides the scheme except in absolute form
     */
    public static TargetResult parse(
            Method method, byte[] bytes, int from, int to, FieldSection fields, int minorVersion, boolean secure) {
        return TargetParser.parse(method, bytes, from, to, fields, minorVersion, secure);
    }

    /**
     * Reads a request's target; see {@link #parse(Method, byte[], int, int, FieldSection, int, boolean)}.
     *
     * @param recent the host of the request before, and whether the connection is secured
     */
    public static TargetResult parse(
            Method method, byte[] bytes, int from, int to, FieldSection fields, int minorVersion, RecentHost recent) {
        return TargetParser.parse(method, bytes, from, to, fields, minorVersion, recent);
    }

    /** Reads a request's target; see {@link #parse(Method, byte[], int, int, FieldSection, int, boolean)}. */
    public static TargetResult parse(
            Method method, CharSequence target, FieldSection fields, int minorVersion, boolean secure) {
        byte[] bytes = target.toString().getBytes(StandardCharsets.ISO_8859_1);
        return TargetParser.parse(method, bytes, 0, bytes.length, fields, minorVersion, secure);
    }

    /** Reads an absolute http or https URI, as operators write it for a purge. */
    public static TargetResult parseAbsolute(CharSequence uri) {
        byte[] bytes = uri.toString().getBytes(StandardCharsets.ISO_8859_1);
        return TargetParser.parseAbsolute(bytes, 0, bytes.length);
    }

    /** {@code http} or {@code https}. */
    public String scheme() {
        return secure ? "https" : "http";
    }

    /** Whether the scheme is https. */
    public boolean isSecure() {
        return secure;
    }

    /** The host in lower case, an IPv6 address in its brackets; empty for an HTTP/1.0 request without Host. */
    public String host() {
        return new String(host, StandardCharsets.ISO_8859_1);
    }

    /** The bytes of {@link #host}; borrowed, and never to be changed. */
    public byte[] hostBytes() {
        return host;
    }

    /** The port, given or the scheme's default. */
    public int port() {
        return port;
    }

    /** Whether the port is the scheme's default. */
    public boolean isDefaultPort() {
        return port == defaultPort(secure);
    }

    /** Host, and port where it is not the default, as a Host field carries them. */
    public String authority() {
        return isDefaultPort() ? host() : host() + ":" + port;
    }

    /** The path as it came, {@code /} when it was empty, {@code *} in asterisk form, empty in authority form. */
    public String path() {
        return text(pathStart, pathEnd);
    }

    /** The query as it came, without the question mark; null when there is none. */
    public @Nullable String query() {
        return hasQuery() ? text(pathEnd + 1, queryEnd) : null;
    }

    /** Whether there is a question mark; the query may still be empty. */
    public boolean hasQuery() {
        return queryEnd > pathEnd;
    }

    /** The array that holds path and query; borrowed, and never to be changed. */
    public byte[] targetBytes() {
        return target;
    }

    /** Position of the path in {@link #targetBytes}. */
    public int pathStart() {
        return pathStart;
    }

    /** Whether the path as it came begins with these bytes. */
    public boolean pathStartsWith(byte[] prefix) {
        int length = prefix.length;
        return pathEnd - pathStart >= length && Arrays.equals(target, pathStart, pathStart + length, prefix, 0, length);
    }

    /** Position after the path; a query begins one further. */
    public int pathEnd() {
        return pathEnd;
    }

    /** Position after the query, {@link #pathEnd} when there is none. */
    public int queryEnd() {
        return queryEnd;
    }

    public Form form() {
        return form;
    }

    /** Path and query as they came: what an origin receives as its request target. */
    public String pathAndQuery() {
        return text(pathStart, queryEnd);
    }

    /** Writes {@link #pathAndQuery}; borrows the buffer. */
    public void writePathAndQuery(ByteBuf out) {
        out.writeBytes(target, pathStart, queryEnd - pathStart);
    }

    /** Whether the text is this URI's host in any letters, alone or with its port: nothing else beside them. */
    public boolean isHostAndPort(String text) {
        return text.equalsIgnoreCase(host()) || text.equalsIgnoreCase(host() + ":" + port);
    }

    /** The whole URI. */
    public String asString() {
        return scheme() + "://" + authority() + (form == Form.ASTERISK ? "" : pathAndQuery());
    }

    /** Whether the other URI has the same scheme, host and port (RFC 6454; RFC 9111 s4.4). */
    public boolean isSameOrigin(TargetUri other) {
        return secure == other.secure && port == other.port && Arrays.equals(host, other.host);
    }

    /** The same URI in the other of http and https, at its default port if this is at its own, else at the same. */
    public TargetUri inOtherScheme() {
        int itsPort = isDefaultPort() ? defaultPort(!secure) : port;
        return new TargetUri(form, !secure, host, itsPort, target, pathStart, pathEnd, queryEnd);
    }

    /** The same URI in http or https, at that scheme's default port. */
    public TargetUri inScheme(boolean inHttps) {
        return new TargetUri(form, inHttps, host, defaultPort(inHttps), target, pathStart, pathEnd, queryEnd);
    }

    /**
     * The same URI with another query.
     *
     * @param query holds it, without question mark, at its beginning; copied
     * @param length bytes of it; 0 for no query at all
     */
    public TargetUri withQuery(byte[] query, int length) {
        int pathLength = pathEnd - pathStart;
        byte[] bytes = new byte[pathLength + (length == 0 ? 0 : 1 + length)];
        System.arraycopy(target, pathStart, bytes, 0, pathLength);
        if (length > 0) {
            bytes[pathLength] = '?';
            System.arraycopy(query, 0, bytes, pathLength + 1, length);
        }
        return new TargetUri(form, secure, host, port, bytes, 0, pathLength, bytes.length);
    }

    /**
     * The same URI with another path, and no query.
     *
     * @param path not copied, and never to be changed
     */
    public TargetUri withPath(byte[] path) {
        return new TargetUri(form, secure, host, port, path, 0, path.length, path.length);
    }

    /**
     * The same URI at another host.
     *
     * @param other in lower case, an IPv6 address in its brackets; not copied, and never to be changed
     */
    public TargetUri withHost(byte[] other) {
        return new TargetUri(form, secure, other, port, target, pathStart, pathEnd, queryEnd);
    }

    /**
     * The URI that a reference means when this one is its base (RFC 3986 s5.2), without fragment; null when it is no
     * http or https URI.
     */
    public @Nullable TargetUri resolve(CharSequence reference) {
        return TargetReference.resolve(this, reference.toString());
    }

    @Override
    public String toString() {
        return asString();
    }

    static int defaultPort(boolean secure) {
        return secure ? 443 : 80;
    }

    private String text(int from, int to) {
        return new String(target, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
