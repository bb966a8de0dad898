package io.millrace.proxy.http2;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The hosts for which a TLS connection may be used: the server name that the client sent (SNI), and the names in the
 * certificate.
 *
 * <p>A client may use one connection for every name of its certificate (RFC 9113 s9.1.1). A request for any other
 * host is refused with 421, because the TLS settings of that host may differ. Confined to one event loop.
 */
final class ConnectionNames {
    /** Type of a DNS name in a GeneralName (RFC 5280 s4.2.1.6). */
    private static final int DNS_NAME = 2;

    private final SSLSession session;
    private final byte[] serverName;
    /** The host that was last found in the certificate. Most requests are for the same host. */
    private byte[] lastCoveredHost;

    private @Nullable List<String> names;

    private ConnectionNames(SSLSession session, byte[] serverName) {
        this.session = session;
        this.serverName = serverName;
        this.lastCoveredHost = serverName;
    }

    /** Returns the names of a channel. Returns null if it has no TLS or the client sent no server name. */
    static @Nullable ConnectionNames of(Channel channel) {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls == null || !(tls.engine().getSession() instanceof ExtendedSSLSession session)) {
            return null;
        }
        for (SNIServerName name : session.getRequestedServerNames()) {
            if (name instanceof SNIHostName host) {
                String lower = host.getAsciiName().toLowerCase(Locale.ROOT);
                return new ConnectionNames(session, lower.getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        return null;
    }

    /**
     * Returns true if the connection may be used for a host.
     *
     * @param host in lower case; the array is retained
     */
    boolean covers(byte[] host) {
        if (Arrays.equals(lastCoveredHost, host) || Arrays.equals(serverName, host)) {
            return true;
        }
        String text = new String(host, StandardCharsets.ISO_8859_1);
        int dot = text.indexOf('.');
        String wildcard = dot < 0 ? null : "*".concat(text.substring(dot));
        for (String name : names()) {
            if (name.equals(text) || name.equals(wildcard)) {
                lastCoveredHost = host;
                return true;
            }
        }
        return false;
    }

    private List<String> names() {
        List<String> known = names;
        if (known == null) {
            Certificate[] local = session.getLocalCertificates();
            known = local != null && local.length > 0 && local[0] instanceof X509Certificate certificate
                    ? dnsNames(certificate)
                    : List.of();
            names = known;
        }
        return known;
    }

    private static List<String> dnsNames(X509Certificate certificate) {
        try {
            Collection<List<?>> all = certificate.getSubjectAlternativeNames();
            return all == null
                    ? List.of()
                    : all.stream()
                            .filter(name -> Integer.valueOf(DNS_NAME).equals(name.get(0)))
                            .map(name -> name.get(1).toString().toLowerCase(Locale.ROOT))
                            .toList();
        } catch (CertificateParsingException e) {
            return List.of();
        }
    }
}
