package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The target URI of a request (RFC 9110 s7.1): scheme, host in lower case, port, path and query. Path and query are the
 * bytes received from the client, without normalization. Immutable.
 */
public final class TargetUri implements TargetResult {

    /** Limit of the length of a host name in DNS. */
    static final int HOST_LENGTH_MAX = 255;

    /** The form of the request target (RFC 9112 s3.2). */
    public enum Form {
        /** {@code /path?query}. */
        ORIGIN,
        /** {@code http://host/path?query}. */
        ABSOLUTE,
        /** {@code host:port}, only for CONNECT. */
        AUTHORITY,
        /** {@code *}, only for OPTIONS. */
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
     * Parses the target of a request. The result contains copies of the bytes.
     *
     * @param fields the request's fields. Host is checked in every form and determines the host in origin form (RFC
     *     9112 s3.2, s3.3)
     * @param minorVersion minor version of HTTP/1. An HTTP/1.0 request may omit Host; its host is then empty
     * @param secure whether the connection uses TLS, which determines the scheme except in absolute form
     */
    public static TargetResult parse(
            Method method, byte[] bytes, int from, int to, FieldSection fields, int minorVersion, boolean secure) {
        return TargetParser.parse(method, bytes, from, to, fields, minorVersion, secure);
    }

    /**
     * Parses the target of a request; see {@link #parse(Method, byte[], int, int, FieldSection, int, boolean)}.
     *
     * @param recent cache of the connection's last Host field; it also knows whether the connection uses TLS
     */
    public static TargetResult parse(
            Method method, byte[] bytes, int from, int to, FieldSection fields, int minorVersion, RecentHost recent) {
        return TargetParser.parse(method, bytes, from, to, fields, minorVersion, recent);
    }

    /** Parses the target of a request; see {@link #parse(Method, byte[], int, int, FieldSection, int, boolean)}. */
    public static TargetResult parse(
            Method method, CharSequence target, FieldSection fields, int minorVersion, boolean secure) {
        byte[] bytes = target.toString().getBytes(StandardCharsets.ISO_8859_1);
        return TargetParser.parse(method, bytes, 0, bytes.length, fields, minorVersion, secure);
    }

    /** Parses an absolute http or https URI, for example of a purge. */
    public static TargetResult parseAbsolute(CharSequence uri) {
        byte[] bytes = uri.toString().getBytes(StandardCharsets.ISO_8859_1);
        return TargetParser.parseAbsolute(bytes, 0, bytes.length);
    }

    /** {@code http} or {@code https}. */
    public String scheme() {
        return secure ? "https" : "http";
    }

    /** Returns true if the scheme is https. */
    public boolean isSecure() {
        return secure;
    }

    /** The host in lower case, an IPv6 address in brackets; empty for an HTTP/1.0 request without Host. */
    public String host() {
        return new String(host, StandardCharsets.ISO_8859_1);
    }

    /** The bytes of {@link #host}; borrowed, and must not be changed. */
    public byte[] hostBytes() {
        return host;
    }

    /** The port of the URI, or the default port of its scheme. */
    public int port() {
        return port;
    }

    /** Returns true if the port is the scheme's default. */
    public boolean isDefaultPort() {
        return port == defaultPort(secure);
    }

    /** Returns the host, with the port if it is not the default, as in a Host field. */
    public String authority() {
        return isDefaultPort() ? host() : host() + ":" + port;
    }

    /** Returns the path as received; {@code /} if it was empty, {@code *} in asterisk form, empty in authority form. */
    public String path() {
        return text(pathStart, pathEnd);
    }

    /** Returns the query as received, without the question mark; null if there is none. */
    public @Nullable String query() {
        return hasQuery() ? text(pathEnd + 1, queryEnd) : null;
    }

    /** Returns true if the target has a question mark. The query may still be empty. */
    public boolean hasQuery() {
        return queryEnd > pathEnd;
    }

    /** The array with path and query; borrowed, and must not be changed. */
    public byte[] targetBytes() {
        return target;
    }

    /** Position of the path in {@link #targetBytes}. */
    public int pathStart() {
        return pathStart;
    }

    /** Returns true if the path as received begins with these bytes. */
    public boolean pathStartsWith(byte[] prefix) {
        int length = prefix.length;
        return pathEnd - pathStart >= length && Arrays.equals(target, pathStart, pathStart + length, prefix, 0, length);
    }

    /** Position after the path. A query begins one byte later. */
    public int pathEnd() {
        return pathEnd;
    }

    /** Position after the query; equal to {@link #pathEnd} if there is none. */
    public int queryEnd() {
        return queryEnd;
    }

    public Form form() {
        return form;
    }

    /** Returns path and query as received. */
    public String pathAndQuery() {
        return text(pathStart, queryEnd);
    }

    /** Writes {@link #pathAndQuery}; borrows the buffer. */
    public void writePathAndQuery(ByteBuf out) {
        out.writeBytes(target, pathStart, queryEnd - pathStart);
    }

    /** Returns true if the text is exactly this URI's host, with or without its port. Ignores case. */
    public boolean isHostAndPort(String text) {
        return text.equalsIgnoreCase(host()) || text.equalsIgnoreCase(host() + ":" + port);
    }

    /** Returns the complete URI. */
    public String asString() {
        return scheme() + "://" + authority() + (form == Form.ASTERISK ? "" : pathAndQuery());
    }

    /** Returns true if the other URI has the same scheme, host and port (RFC 6454; RFC 9111 s4.4). */
    public boolean isSameOrigin(TargetUri other) {
        return secure == other.secure && port == other.port && Arrays.equals(host, other.host);
    }

    /**
     * Returns this URI with https instead of http, or http instead of https. A default port becomes that of the new
     * scheme; other ports are kept.
     */
    public TargetUri inOtherScheme() {
        int newPort = isDefaultPort() ? defaultPort(!secure) : port;
        return new TargetUri(form, !secure, host, newPort, target, pathStart, pathEnd, queryEnd);
    }

    /** Returns this URI with the scheme http or https and its default port. */
    public TargetUri inScheme(boolean inHttps) {
        return new TargetUri(form, inHttps, host, defaultPort(inHttps), target, pathStart, pathEnd, queryEnd);
    }

    /**
     * Returns this URI with another query.
     *
     * @param query contains the query without question mark at its start; copied
     * @param length length of the query in bytes; 0 for no query
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
     * Returns this URI with another path and no query.
     *
     * @param path not copied; must not be changed
     */
    public TargetUri withPath(byte[] path) {
        return new TargetUri(form, secure, host, port, path, 0, path.length, path.length);
    }

    /**
     * Returns this URI with another host.
     *
     * @param other in lower case, an IPv6 address in brackets; not copied, and must not be changed
     */
    public TargetUri withHost(byte[] other) {
        return new TargetUri(form, secure, other, port, target, pathStart, pathEnd, queryEnd);
    }

    /**
     * Resolves a reference with this URI as its base (RFC 3986 s5.2). Returns the URI without fragment; null if it is
     * not an http or https URI.
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
