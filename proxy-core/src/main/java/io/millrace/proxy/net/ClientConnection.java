package io.millrace.proxy.net;

import java.net.InetSocketAddress;

/**
 * What is known of a client's connection as a whole.
 *
 * <p>Immutable.
 *
 * @param remoteAddress the client's end
 * @param localAddress our end
 * @param secure whether TLS protects it
 */
public record ClientConnection(InetSocketAddress remoteAddress, InetSocketAddress localAddress, boolean secure) {
    /** The scheme that requests in origin form have on this connection (RFC 9110 s4.2). */
    public String scheme() {
        return secure ? "https" : "http";
    }
}
