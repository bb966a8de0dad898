package io.millrace.proxy.net;

import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.geo.GeoDatabase;
import io.millrace.proxy.geo.GeoLocation;
import io.millrace.proxy.http.IpAddress;
import io.netty.channel.Channel;
import io.netty.channel.unix.DomainSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a client connection that all its requests share: addresses and TLS.
 *
 * <p>Mutable only by the TLS handshake and for cached values. Confined to one event loop.
 */
public final class ClientConnection {
    /**
     * The results of a client's TLS handshake. Immutable.
     *
     * @param version such as {@code TLSv1.3}
     * @param cipher cipher suite by its IANA name
     * @param serverName server name (SNI) of the ClientHello, lower case; null for none
     * @param clientSubject distinguished name (RFC 4514) of the verified client certificate in printable ASCII; null
     *     without one
     * @param settings TLS settings that the handshake used
     * @param names TLS settings of other host names on the same address; null for none
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
        /**
         * Returns an object that identifies the current settings; each change creates another object. Returns null if
         * all names use the settings of the listening address.
         */
        @Nullable
        Object version();

        /** Returns the settings for handshakes of a host, lower case. */
        ServerTlsConfig settings(String host);
    }

    /** Stands for both ends of a connection to a Unix socket, which have no IP address. */
    public static final InetSocketAddress UNIX = new InetSocketAddress(0);

    private final InetSocketAddress remoteAddress;
    private final InetSocketAddress localAddress;
    private final boolean secure;
    private final boolean announcedSecure;
    private Transparency transparency = Transparency.OFF;
    private @Nullable GeoDatabase database;
    private @Nullable GeoLocation location;
    /** The result of {@link #forwardedText}; null before its first call. */
    private @Nullable String forwardedText;

    private @Nullable IpAddress remoteIp;
    private @Nullable IpAddress localIp;
    private @Nullable IpAddress countedAs;
    private @Nullable Tls tls;

    /** The host of the last lookup of settings. The next three fields are the result of this lookup. */
    private byte @Nullable [] lastHost;

    private @Nullable ServerTlsConfig lastSettings;
    /** {@link TlsNames#version} at the last lookup. If it has changed since, the result is outdated. */
    private @Nullable Object lastVersion;

    /** True if this connection may carry requests for {@link #lastHost}. */
    private boolean lastAdmitted;

    /**
     * @param remoteAddress the client's address
     * @param localAddress the local address
     * @param secure whether the connection uses TLS
     */
    public ClientConnection(InetSocketAddress remoteAddress, InetSocketAddress localAddress, boolean secure) {
        this(remoteAddress, localAddress, secure, false);
    }

    /**
     * @param remoteAddress the client's address
     * @param localAddress the local address
     * @param secure whether the connection uses TLS
     * @param announcedSecure whether a trusted PROXY header says that the client used TLS to the load balancer
     */
    public ClientConnection(
            InetSocketAddress remoteAddress, InetSocketAddress localAddress, boolean secure, boolean announcedSecure) {
        this.remoteAddress = remoteAddress;
        this.localAddress = localAddress;
        this.secure = secure;
        this.announcedSecure = announcedSecure;
    }

    /**
     * Returns the properties of an accepted channel.
     *
     * @param announced the client's address in a PROXY header; null for the peer of the channel
     * @param secure whether the connection uses TLS
     * @param announcedSecure whether a trusted PROXY header says that the client used TLS to the load balancer
     */
    public static ClientConnection of(
            Channel channel, @Nullable InetSocketAddress announced, boolean secure, boolean announcedSecure) {
        InetSocketAddress remote = announced == null ? peer(channel) : announced;
        InetSocketAddress local =
                channel instanceof DomainSocketChannel ? UNIX : (InetSocketAddress) channel.localAddress();
        return new ClientConnection(remote, local, secure, announcedSecure);
    }

    /** Returns the peer of an accepted channel: {@link #UNIX} for a Unix socket, null after a disconnection. */
    @SuppressWarnings("NullAway") // A disconnected channel has no address; its requests are never decided.
    public static InetSocketAddress peer(Channel channel) {
        return channel instanceof DomainSocketChannel ? UNIX : (InetSocketAddress) channel.remoteAddress();
    }

    /** Returns the client's address as text without port; {@code unix:} if the connection came by a Unix socket. */
    public String remoteText() {
        InetAddress address = remoteAddress.getAddress();
        return address.isAnyLocalAddress() ? ListenAddress.UNIX : address.getHostAddress();
    }

    /**
     * Returns the client's address as forwarding fields contain it: without its zone, which is only valid on this
     * machine, and {@code unknown} if the connection came by a Unix socket. Each request to an origin needs the text, so
     * it is kept.
     */
    public String forwardedText() {
        String known = forwardedText;
        if (known == null) {
            InetAddress address = remoteAddress.getAddress();
            String text = address == null || address.isAnyLocalAddress() ? "unknown" : address.getHostAddress();
            int zone = text.indexOf('%');
            known = zone < 0 ? text : text.substring(0, zone);
            forwardedText = known;
        }
        return known;
    }

    /** The client's address; {@link #UNIX} if the connection came through a Unix socket. */
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    /** The local address. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /**
     * Sets whether the listening address serves a transparent proxy. Called once, before the first request. Returns
     * this object.
     */
    public ClientConnection transparency(Transparency mode) {
        transparency = mode;
        return this;
    }

    /** Returns true if the kernel may have diverted the connection, so that its local address may be any address. */
    public boolean isDiverted() {
        return transparency.acceptsDiverted();
    }

    /**
     * Returns the local address for connections to origins on behalf of this client; null if the system chooses it.
     * The result is the client's own address.
     */
    public @Nullable InetAddress sourceForOrigins() {
        InetAddress address = transparency.spoofsClientAddress() ? remoteAddress.getAddress() : null;
        return address == null || address.isAnyLocalAddress() ? null : address;
    }

    /** Returns true if the connection uses TLS. */
    public boolean secure() {
        return secure;
    }

    /** The results of the TLS handshake; null without TLS, and before the end of the handshake. */
    public @Nullable Tls tls() {
        return tls;
    }

    /** Sets the results of the TLS handshake; called once, at its end. */
    public void tls(Tls handshake) {
        tls = handshake;
    }

    /**
     * Returns the TLS settings of the host of a request; null without TLS.
     *
     * @param host in lower case; kept
     */
    public @Nullable ServerTlsConfig tlsSettings(byte[] host) {
        Tls handshake = tls;
        return handshake == null ? null : lookUp(handshake, host) ? lastSettings : handshake.settings();
    }

    /**
     * Returns true if this connection may carry requests for a host. Returns false if the host requires a client
     * certificate that the handshake has not verified.
     *
     * @param host in lower case; kept
     */
    public boolean isAdmittedTo(byte[] host) {
        Tls handshake = tls;
        return handshake == null || !lookUp(handshake, host) || lastAdmitted;
    }

    /**
     * Looks up the settings of a host, unless it is the host of the last call. Returns false if all hosts use the
     * settings of the handshake.
     */
    private boolean lookUp(Tls handshake, byte[] host) {
        TlsNames names = handshake.names();
        Object version = names == null ? null : names.version();
        if (names == null || version == null) {
            return false;
        }
        if (!version.equals(lastVersion) || !Arrays.equals(host, lastHost)) {
            ServerTlsConfig found = names.settings(new String(host, StandardCharsets.ISO_8859_1));
            lastSettings = found;
            lastAdmitted = handshake.settings().admitsTo(found);
            lastVersion = version;
            lastHost = host;
        }
        return true;
    }

    /**
     * Returns true if the client uses TLS to this proxy, or to a load balancer. The second is known from a
     * trusted PROXY header.
     */
    public boolean isSecureForClient() {
        return secure || announcedSecure;
    }

    /** Sets the databases that {@link #location} uses. */
    public void locateBy(@Nullable GeoDatabase geo) {
        if (database != geo) {
            database = geo;
            location = null;
        }
    }

    /** Returns the location of the client's address; {@link GeoLocation#UNKNOWN} without databases. */
    public GeoLocation location() {
        GeoLocation known = location;
        if (known == null) {
            known = database == null ? GeoLocation.UNKNOWN : database.find(remoteIp());
            location = known;
        }
        return known;
    }

    /** The client's address, for comparisons; null when it is no IP address. */
    public @Nullable IpAddress remoteIp() {
        if (remoteIp == null) {
            remoteIp = ip(remoteAddress);
        }
        return remoteIp;
    }

    /** The local address, for comparisons; null when it is no IP address. */
    public @Nullable IpAddress localIp() {
        if (localIp == null) {
            localIp = ip(localAddress);
        }
        return localIp;
    }

    /** The client address whose connection limit includes this connection; null if the connection is not counted. */
    public @Nullable IpAddress countedAs() {
        return countedAs;
    }

    /** Sets the client address whose connection limit includes this connection. */
    public void countedAs(@Nullable IpAddress client) {
        countedAs = client;
    }

    private static @Nullable IpAddress ip(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        return ip == null ? null : IpAddress.of(ip.getAddress());
    }

    /** The scheme of requests with a target in origin-form (RFC 9110 s4.2). */
    public String scheme() {
        return secure ? "https" : "http";
    }

    /** Both addresses. */
    @Override
    public String toString() {
        return remoteAddress + " to " + localAddress + (secure ? " over TLS" : "");
    }
}
