package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.syntax.Directive;
import org.jspecify.annotations.Nullable;

/**
 * A listening address of a {@code server} block. Immutable.
 *
 * @param address address in Millrace's syntax, such as {@code :80}
 * @param isDefault whether the server is marked as the default for the address
 */
record Listen(Directive source, String address, int port, boolean tls, boolean proxyProtocol, boolean isDefault) {
    /**
     * Parses a {@code listen} directive. Returns null for an address without equivalent, and marks the directive.
     *
     * @param oldSsl whether the old directive {@code ssl on} enables TLS for all addresses of the server
     */
    @Nullable
    static Listen of(Directive source, boolean oldSsl) {
        String text = source.arg(0);
        if (text.startsWith("unix:")) {
            source.notMapped("the socket is not imported, because rules of servers are chosen by port; add the address"
                    + " to listen");
            return null;
        }
        boolean quic = source.args().contains("quic");
        if (quic) {
            source.notMapped("HTTP/3 is not supported; clients use HTTP/2");
            return null;
        }
        boolean tls = source.args().contains("ssl") || oldSsl;
        String host = text;
        String port = tls && !text.matches(".*\\d.*") ? "443" : "80";
        if (text.matches("\\d+")) {
            host = "";
            port = text;
        } else if (text.matches(".*:\\d+")) {
            host = text.substring(0, text.lastIndexOf(':'));
            port = text.substring(text.lastIndexOf(':') + 1);
        }
        boolean isAnyAddress = host.isEmpty() || host.equals("*") || host.equals("[::]") || host.equals("0.0.0.0");
        if (port.length() > 5) {
            source.notMapped("the port is not a number up to 65535");
            return null;
        }
        String name = host.equals("localhost") ? "127.0.0.1" : host;
        return new Listen(
                source,
                (isAnyAddress ? "" : name) + ":" + port,
                Integer.parseInt(port),
                tls,
                source.args().contains("proxy_protocol"),
                source.args().contains("default_server") || source.args().contains("default"));
    }

    /** Returns true for an address that only clients of this machine can reach. */
    boolean isLoopback() {
        return address.startsWith("127.") || address.startsWith("[::1]");
    }

    String scheme() {
        return tls ? "https" : "http";
    }
}
