package io.millrace.cli.warm;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A listener of the proxy to which requests are sent. Immutable.
 *
 * @param secure whether the listener expects TLS
 */
public record Endpoint(InetSocketAddress address, boolean secure) {
    /**
     * Returns true if the certificate of the listener is verified. On loopback it is not verified, since the listener
     * is on this machine.
     */
    boolean isVerified() {
        return !address.getAddress().isLoopbackAddress();
    }

    @Override
    public String toString() {
        InetAddress host = address.getAddress();
        String text = host.getHostAddress();
        return (secure ? "https://" : "http://") + (text.indexOf(':') >= 0 ? "[" + text + "]" : text) + ":"
                + address.getPort();
    }

    /**
     * Parses the value of {@code --via}.
     *
     * @throws IllegalArgumentException if the text is not {@code http[s]://HOST:PORT}; the message has the problem
     */
    public static Endpoint parse(String text) throws IOException {
        if (!(text.startsWith("http") && AdminAddress.parse(text) instanceof AdminAddress.Tcp tcp)) {
            throw new IllegalArgumentException("not of the form http://HOST:PORT or https://HOST:PORT: " + text);
        }
        return new Endpoint(new InetSocketAddress(resolved(tcp.host()), tcp.port()), tcp.secure());
    }

    /**
     * Returns the listeners in a status report.
     *
     * @param admin the address of the admin API. A listener on all addresses is reached at the host of this address, or
     *     on loopback if the API has a Unix socket.
     */
    public static List<Endpoint> of(JsonObject status, AdminAddress admin) throws IOException {
        List<Endpoint> endpoints = new ArrayList<>();
        for (JsonObject listener : status.objects("listeners")) {
            String address = listener.text("address", "");
            int colon = address.lastIndexOf(':');
            String host = colon < 0 ? "" : address.substring(0, colon);
            String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
            if (bare.isEmpty()) {
                throw new IOException("the status names a listener that cannot be used: " + address);
            }
            InetAddress at = resolved(bare);
            if (at.isAnyLocalAddress()) {
                at = admin instanceof AdminAddress.Tcp tcp
                        ? resolved(tcp.host())
                        : InetAddress.getByAddress("localhost", new byte[] {127, 0, 0, 1});
            }
            int port = Integer.parseInt(address.substring(colon + 1));
            endpoints.add(new Endpoint(
                    new InetSocketAddress(at, port),
                    listener.text("protocol", "").equals("https")));
        }
        return List.copyOf(endpoints);
    }

    private static InetAddress resolved(String host) throws IOException {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new IOException(host + ": unknown host", e);
        }
    }

    /**
     * Returns a listener with the scheme of the URL, if possible also with the port of the URL; null if no listener has
     * the scheme.
     */
    static @Nullable Endpoint forUrl(WarmUrl url, List<Endpoint> endpoints) {
        Endpoint first = null;
        for (Endpoint endpoint : endpoints) {
            if (endpoint.secure() != url.secure()) {
                continue;
            }
            if (endpoint.address().getPort() == url.effectivePort()) {
                return endpoint;
            }
            first = first == null ? endpoint : first;
        }
        return first;
    }
}
