package io.millrace.proxy.fetch.tls;

import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig.Verify;
import io.millrace.proxy.config.value.TlsVersion;
import io.millrace.proxy.tls.CertificateFault;
import io.millrace.proxy.tls.CertificateFiles;
import io.millrace.proxy.tls.CertificateReader;
import io.millrace.proxy.tls.ServerCertificate;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLException;

/**
 * Creates TLS contexts for connections to origins. Uses OpenSSL if its library is available, else the JDK.
 *
 * <p>Thread-safe: no state. Create a context once and share it among the clients of all event loops.
 */
public final class OriginTls {

    /** The context that is created on first use and then shared, since reading the trust store takes long. */
    private static final class Shared {
        static final SslContext CONTEXT = build(builder());
    }

    private OriginTls() {}

    /**
     * Returns a context that verifies the certificate's issuer and name (RFC 9110 s4.3.4). The issuer must be in the
     * system's trust store, and the name must match the host.
     */
    public static SslContext verifying() {
        return Shared.CONTEXT;
    }

    /**
     * Returns a context like {@link #verifying()}, with these certification authorities instead of the system's.
     * Borrows the stream.
     *
     * @param authorities X.509 certificates in PEM
     * @throws IllegalArgumentException when they cannot be read
     */
    public static SslContext verifying(InputStream authorities) {
        return build(builder().trustManager(authorities));
    }

    /** Returns a context that accepts any certificate: it encrypts, but does not authenticate the origin. */
    public static SslContext unverified() {
        return build(
                builder().trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null));
    }

    /**
     * Creates a context from settings. Blocks, because it reads the files that the settings name.
     *
     * @param http2 determines the protocols offered by ALPN
     * @throws SSLException when a file cannot be used; the message names the file
     */
    public static SslContext of(OriginTlsConfig.Context config, OriginConfig.Http2 http2) throws SSLException {
        if (http2 == OriginConfig.Http2.OFF && config.equals(OriginTlsConfig.DEFAULTS.context())) {
            return verifying();
        }
        SslContextBuilder builder =
                builder(protocols(http2)).protocols(TlsVersion.between(config.minVersion(), TlsVersion.TLS_1_3));
        if (config.verify() == Verify.OFF) {
            builder.trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null);
        } else {
            builder.trustManager(OriginTrust.of(config.verify(), config.caFile()));
        }
        if (config.verify() == Verify.CHAIN) {
            builder.endpointIdentificationAlgorithm(null);
        }
        Path certificate = config.certificate();
        if (certificate != null) {
            Path key = config.key();
            try {
                ServerCertificate clientCertificate = new CertificateReader()
                        .read(new CertificateFiles(certificate, key == null ? certificate : key), 0);
                builder.keyManager(clientCertificate.privateKey(), clientCertificate.x509Chain())
                        .keyStoreType(ServerCertificate.KEY_STORE_TYPE);
            } catch (CertificateFault e) {
                throw new SSLException(e.file() + ": " + e.getMessage(), e);
            } catch (GeneralSecurityException e) {
                throw new SSLException(certificate + ": " + e.getMessage(), e);
            }
        }
        return builder.build();
    }

    private static SslContextBuilder builder() {
        return builder(protocols(OriginConfig.Http2.OFF));
    }

    private static String[] protocols(OriginConfig.Http2 http2) {
        return switch (http2) {
            case OFF -> new String[] {ApplicationProtocolNames.HTTP_1_1};
            case ALPN -> new String[] {ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1};
            case PRIOR_KNOWLEDGE -> new String[] {ApplicationProtocolNames.HTTP_2};
        };
    }

    private static SslContextBuilder builder(String... protocols) {
        return SslContextBuilder.forClient()
                .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK)
                .endpointIdentificationAlgorithm("HTTPS")
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        ApplicationProtocolConfig.Protocol.ALPN,
                        ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                        ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                        protocols));
    }

    private static SslContext build(SslContextBuilder builder) {
        try {
            return builder.build();
        } catch (SSLException e) {
            throw new IllegalStateException("TLS to origins is not available: " + e.getMessage(), e);
        }
    }
}
