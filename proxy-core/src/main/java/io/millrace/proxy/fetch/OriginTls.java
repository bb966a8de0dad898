package io.millrace.proxy.fetch;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.InputStream;
import javax.net.ssl.SSLException;

/**
 * TLS contexts for connections to origins: HTTP/1.1 only, OpenSSL where its library is there, else the JDK's.
 *
 * <p>Thread-safe: no state. A context is meant to be made once and shared by the clients of all event loops.
 */
public final class OriginTls {

    /** Made on first use, then shared: reading the trust store takes long enough to be done once. */
    private static final class Shared {
        static final SslContext CONTEXT = build(builder());
    }

    private OriginTls() {}

    /** Accepts a certificate that the system's trust store vouches for and that names the host asked for (RFC 9110 s4.3.4). */
    public static SslContext verifying() {
        return Shared.CONTEXT;
    }

    /**
     * As {@link #verifying()}, with these authorities in place of the system's. Borrows the stream.
     *
     * @param authorities X.509 certificates in PEM
     * @throws IllegalArgumentException when they cannot be read
     */
    public static SslContext verifying(InputStream authorities) {
        return build(builder().trustManager(authorities));
    }

    /** Accepts any certificate: encrypts, and proves nothing about who is at the other end. */
    public static SslContext unverified() {
        return build(
                builder().trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null));
    }

    private static SslContextBuilder builder() {
        return SslContextBuilder.forClient()
                .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK)
                .endpointIdentificationAlgorithm("HTTPS")
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        ApplicationProtocolConfig.Protocol.ALPN,
                        ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                        ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_1_1));
    }

    private static SslContext build(SslContextBuilder builder) {
        try {
            return builder.build();
        } catch (SSLException e) {
            throw new IllegalStateException("TLS to origins is not available: " + e.getMessage(), e);
        }
    }
}
