package io.millrace.proxy.net;

import io.millrace.proxy.http.IpAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a client's connection as a whole.
 *
 * <p>Immutable but for what is worked out once; confined to one event loop.
 */
public final class ClientConnection {
    private final InetSocketAddress remoteAddress;
    private final InetSocketAddress localAddress;
    private final boolean secure;
    private final boolean announcedSecure;
    private @Nullable IpAddress remoteIp;
    private @Nullable IpAddress localIp;
    private @Nullable IpAddress countedAs;

    /**
     * @param remoteAddress the client's end
     * @param localAddress our end
     * @param secure whether TLS protects it
     */
    public ClientConnection(InetSocketAddress remoteAddress, InetSocketAddress localAddress, boolean secure) {
        this(remoteAddress, localAddress, secure, false);
    }

    /**
     * @param remoteAddress the client's end
     * @param localAddress our end
     * @param secure whether TLS protects it
     * @param announcedSecure whether a trusted PROXY header says that the client connected to the sender over TLS
     */
    public ClientConnection(
            InetSocketAddress remoteAddress, InetSocketAddress localAddress, boolean secure, boolean announcedSecure) {
        this.remoteAddress = remoteAddress;
        this.localAddress = localAddress;
        this.secure = secure;
        this.announcedSecure = announcedSecure;
    }

    /** The client's end. */
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    /** Our end. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** Whether TLS protects it. */
    public boolean secure() {
        return secure;
    }

    /** Whether TLS protects the client's side: here, or at the sender of a trusted PROXY header. */
    public boolean isSecureForClient() {
        return secure || announcedSecure;
    }

    /** The client's end, for comparisons; null when it is no IP address. */
    public @Nullable IpAddress remoteIp() {
        if (remoteIp == null) {
            remoteIp = ip(remoteAddress);
        }
        return remoteIp;
    }

    /** Our end, for comparisons; null when it is no IP address. */
    public @Nullable IpAddress localIp() {
        if (localIp == null) {
            localIp = ip(localAddress);
        }
        return localIp;
    }

    /** What the connection is counted by among those of its client; null when it is not counted. */
    public @Nullable IpAddress countedAs() {
        return countedAs;
    }

    /** Called by the one who counts. */
    public void countedAs(@Nullable IpAddress client) {
        countedAs = client;
    }

    private static @Nullable IpAddress ip(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        return ip == null ? null : IpAddress.of(ip.getAddress());
    }

    /** The scheme that requests in origin form have on this connection (RFC 9110 s4.2). */
    public String scheme() {
        return secure ? "https" : "http";
    }

    /** Both ends. */
    @Override
    public String toString() {
        return remoteAddress + " to " + localAddress + (secure ? " over TLS" : "");
    }
}
