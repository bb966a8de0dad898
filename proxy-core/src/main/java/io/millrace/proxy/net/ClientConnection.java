package io.millrace.proxy.net;

import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.http.IpAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a client's connection as a whole.
 *
 * <p>Immutable but for what is worked out once; confined to one event loop.
 */
public final class ClientConnection {
    /**
     * Results of a client's TLS handshake. Immutable.
     *
     * @param version such as {@code TLSv1.3}
     * @param cipher cipher suite by its IANA name
     * @param serverName name in the client's hello, lower case; null where it has none
     * @param clientSubject distinguished name (RFC 4514) of the verified client certificate in printable ASCII; null without one
     * @param settings that the handshake had
     * @param names settings of other names on the same address; null where there are none
     */
    public record Tls(
            String version,
            String cipher,
            @Nullable String serverName,
            @Nullable String clientSubject,
            ServerTlsConfig settings,
            @Nullable TlsNames names) {}

    /** TLS settings by host name. Thread-safe. */
    public interface TlsNames {
        /** Another object, by identity, after each change; null where every name has the settings of the address. */
        @Nullable
        Object version();

        /** Settings of a host, lower case; those that its handshakes get. */
        ServerTlsConfig settings(String host);
    }

    private final InetSocketAddress remoteAddress;
    private final InetSocketAddress localAddress;
    private final boolean secure;
    private final boolean announcedSecure;
    private @Nullable IpAddress remoteIp;
    private @Nullable IpAddress localIp;
    private @Nullable IpAddress countedAs;
    private @Nullable Tls tls;

    /** The host whose settings were looked up last, and what was found then. */
    private byte @Nullable [] askedHost;

    private @Nullable ServerTlsConfig askedSettings;
    private @Nullable Object askedVersion;
    private boolean admitted;

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

    /** Results of the TLS handshake; null without TLS, and before the end of the handshake. */
    public @Nullable Tls tls() {
        return tls;
    }

    /** Sets the results of the TLS handshake; called once, at its end. */
    public void tls(Tls agreed) {
        tls = agreed;
    }

    /**
     * TLS settings of the host that a request is for; null without TLS.
     *
     * @param host in lower case; kept
     */
    public @Nullable ServerTlsConfig tlsSettings(byte[] host) {
        Tls agreed = tls;
        return agreed == null ? null : look(agreed, host) ? askedSettings : agreed.settings();
    }

    /**
     * Whether requests for a host may come on this connection: not where the host demands a client certificate that the
     * handshake has not verified.
     *
     * @param host in lower case; kept
     */
    public boolean isAdmittedTo(byte[] host) {
        Tls agreed = tls;
        return agreed == null || !look(agreed, host) || admitted;
    }

    /** Looks a host up that is not the last one; false where every host has the settings of the handshake. */
    private boolean look(Tls agreed, byte[] host) {
        TlsNames names = agreed.names();
        Object version = names == null ? null : names.version();
        if (names == null || version == null) {
            return false;
        }
        if (!version.equals(askedVersion) || !Arrays.equals(host, askedHost)) {
            ServerTlsConfig found = names.settings(new String(host, StandardCharsets.ISO_8859_1));
            askedSettings = found;
            admitted = agreed.settings().admitsTo(found);
            askedVersion = version;
            askedHost = host;
        }
        return true;
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
