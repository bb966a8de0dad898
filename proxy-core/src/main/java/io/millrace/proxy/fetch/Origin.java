package io.millrace.proxy.fetch;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The destination of a request: scheme, host and port of one origin (RFC 9110 s4.3.1).
 *
 * <p>Immutable.
 *
 * @param scheme {@link Scheme#HTTP} or {@link Scheme#HTTPS}
 * @param host lower-case name, IPv4 address, or IPv6 address without brackets
 * @param port 1 to 65535
 * @param usesSrv whether DNS SRV records may determine host and port, because the URL has no port
 * @param socket path of the Unix domain socket to which connections are made instead of host and port; null for TCP
 */
public record Origin(
        Scheme scheme,
        String host,
        int port,
        boolean usesSrv,
        @Nullable String socket) {

    /** The URI scheme of an origin. */
    public enum Scheme {
        /** HTTP over TCP in clear text. */
        HTTP("http", 80),
        /** HTTP over TLS. */
        HTTPS("https", 443);

        private final String text;
        private final int defaultPort;

        Scheme(String text, int defaultPort) {
            this.text = text;
            this.defaultPort = defaultPort;
        }

        /** The scheme as written in a URI. */
        public String text() {
            return text;
        }

        /** The default port of the scheme. */
        public int defaultPort() {
            return defaultPort;
        }
    }

    /** Checks the port's range and that the host is not empty. */
    public Origin {
        Objects.requireNonNull(scheme, "scheme");
        if (host.isEmpty() || host.charAt(0) == '[') {
            throw new IllegalArgumentException(
                    "host: actual=\"" + host + "\", expected a name or an address without brackets");
        }
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("port: actual=" + port + ", limit=1..65535, where=" + host);
        }
    }

    /** Returns an origin with the scheme http. */
    public static Origin http(String host, int port) {
        return new Origin(Scheme.HTTP, host, port, false, null);
    }

    /** Returns an origin with the scheme https. */
    public static Origin https(String host, int port) {
        return new Origin(Scheme.HTTPS, host, port, false, null);
    }

    /** Returns a copy whose host and port may come from DNS SRV records. */
    public Origin withSrv() {
        return new Origin(scheme, host, port, true, socket);
    }

    /** Returns a copy that is reached through a Unix domain socket. */
    public Origin onSocket(String path) {
        return new Origin(scheme, host, port, false, path);
    }

    /** Returns a copy that ignores DNS SRV records; this object if it already does. */
    Origin withoutSrv() {
        return usesSrv ? new Origin(scheme, host, port, false, socket) : this;
    }

    /** Service and protocol labels of the DNS SRV record (RFC 2782). */
    String service() {
        return isSecure() ? "_https._tcp" : "_http._tcp";
    }

    /** Returns true if the connection is encrypted. */
    public boolean isSecure() {
        return scheme == Scheme.HTTPS;
    }

    /** Host and port as written in logs: {@code [2001:db8::1]:8080}. */
    public String authority() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    /** Uses only the components in which most origins differ: each fetch computes this value several times. */
    @Override
    public int hashCode() {
        return 31 * host.hashCode() + port;
    }

    /** The origin as the start of a URI, for messages: {@code http://[2001:db8::1]:8080}, with its socket if any. */
    @Override
    public String toString() {
        String url = scheme.text() + "://" + authority();
        return socket == null ? url : url + " on unix:" + socket;
    }
}
