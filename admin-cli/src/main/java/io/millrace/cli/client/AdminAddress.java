package io.millrace.cli.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** The address of the admin API of a running Millrace. Immutable. */
public sealed interface AdminAddress {
    /** File name of the admin socket in a state directory. */
    String SOCKET_NAME = "admin.sock";

    /** A Unix domain socket. */
    record UnixSocket(Path path) implements AdminAddress {
        @Override
        public String toString() {
            return path.toString();
        }
    }

    /**
     * A TCP address. Over TCP the API requires a token.
     *
     * @param secure whether the connection uses TLS
     */
    record Tcp(String host, int port, boolean secure) implements AdminAddress {
        /** An address without TLS. */
        public Tcp(String host, int port) {
            this(host, port, false);
        }

        /** Returns {@code HOST:PORT} as in a URL; an IPv6 address is in brackets. */
        public String authority() {
            return (host.indexOf(':') >= 0 ? '[' + host + ']' : host) + ':' + port;
        }

        @Override
        public String toString() {
            return (secure ? "https://" : "http://") + authority();
        }
    }

    /**
     * Parses an address. Accepts the path of a socket, a state directory with a socket in it, {@code unix:PATH},
     * {@code http://HOST:PORT} and {@code https://HOST:PORT}.
     *
     * @throws IllegalArgumentException if the text is invalid; the message describes the problem
     */
    static AdminAddress parse(String text) {
        if (text.startsWith("unix:")) {
            return socket(text.substring("unix:".length()));
        }
        if (text.startsWith("http://") || text.startsWith("https://")) {
            return tcp(text);
        }
        if (text.contains("://")) {
            throw new IllegalArgumentException(
                    "not an address of an admin API (a socket path, http://HOST:PORT or https://HOST:PORT): " + text);
        }
        AdminAddress socket = socket(text);
        int colon = text.lastIndexOf(':');
        if (text.indexOf('/') < 0 && colon >= 0 && isPort(text.substring(colon + 1)) && !Files.exists(Path.of(text))) {
            throw new IllegalArgumentException("no such socket: " + text + " (did you mean http://"
                    + (colon == 0 ? "localhost" : "") + text + "?)");
        }
        return socket;
    }

    private static AdminAddress socket(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("the path of the admin socket is empty");
        }
        try {
            Path path = Path.of(text);
            return new UnixSocket(Files.isDirectory(path) ? path.resolve(SOCKET_NAME) : path);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("not a path: " + text, e);
        }
    }

    private static AdminAddress tcp(String text) {
        try {
            URI uri = new URI(text);
            String path = uri.getRawPath();
            if (uri.getHost() != null
                    && (path == null || path.isEmpty() || path.equals("/"))
                    && uri.getRawQuery() == null
                    && uri.getRawUserInfo() == null
                    && uri.getRawFragment() == null) {
                if (uri.getPort() <= 0 || uri.getPort() > 65535) {
                    throw new IllegalArgumentException(
                            "the port is missing: " + text + " (such as http://localhost:9090)");
                }
                String host = uri.getHost();
                return new Tcp(
                        host.startsWith("[") ? host.substring(1, host.length() - 1) : host,
                        uri.getPort(),
                        text.startsWith("https:"));
            }
        } catch (URISyntaxException e) {
            // The exception below reports this problem.
        }
        throw new IllegalArgumentException("not of the form http://HOST:PORT or https://HOST:PORT: " + text);
    }

    private static boolean isPort(String text) {
        if (text.isEmpty() || text.length() > 5) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }
}
