package io.millrace.proxy.spi;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A client's request.
 *
 * <p>Valid during the call of the hook only, and on its thread. An extension copies the values that it needs later.
 */
public interface RequestView {
    /** The method, such as {@code GET}. */
    String method();

    /** {@code http} or {@code https}. */
    String scheme();

    /** The host of the target URL in lower case, an IPv6 address in brackets. */
    String host();

    /** The port of the target URL. */
    int port();

    /** The path as the client sent it. */
    String path();

    /** The query as the client sent it, without the question mark; null if the target has none. */
    @Nullable
    String query();

    /** {@code http/1.0}, {@code http/1.1} or {@code http/2}. */
    String protocol();

    /** The header fields, including connection fields. */
    Fields fields();

    /**
     * The address of the client. If the connection comes from a trusted proxy, it is the address that this proxy
     * reports.
     */
    InetAddress clientAddress();

    /** Returns true if the client's connection has TLS. */
    boolean isSecure();

    /** The remap rule of the request: its URL pattern as in the configuration. */
    String rule();

    /** The content length in bytes; 0 without content, -1 if it is unknown. */
    long contentLength();

    /** Returns the value of an attribute; null if no hook has set it. */
    <T> @Nullable T get(Attribute<T> attribute);

    /** Sets the value of an attribute for the later hooks of this request; null removes it. */
    <T> void set(Attribute<T> attribute, @Nullable T value);
}
