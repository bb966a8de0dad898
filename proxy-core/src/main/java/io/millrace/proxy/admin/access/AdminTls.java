package io.millrace.proxy.admin.access;

import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.ServerTlsConfig.ClientCertificates;
import io.millrace.proxy.tls.CertificateFault;
import io.millrace.proxy.tls.CertificateFiles;
import io.millrace.proxy.tls.CertificateReader;
import io.millrace.proxy.tls.ClientTrust;
import io.millrace.proxy.tls.FileStamp;
import io.millrace.proxy.tls.ServerCertificate;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;

/**
 * The TLS context of the admin API, built from one version of its files. It uses the JDK's TLS, because the launcher
 * loads no native library.
 *
 * <p>Immutable.
 */
final class AdminTls {
    private static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

    private final AdminConfig.Tls settings;
    private final List<FileStamp> stamps;
    private final SslContext context;

    private AdminTls(AdminConfig.Tls settings, List<FileStamp> stamps, SslContext context) {
        this.settings = settings;
        this.stamps = stamps;
        this.context = context;
    }

    /**
     * Reads the files. Blocks.
     *
     * @throws IOException if a file cannot be used; the message names it
     */
    static AdminTls read(AdminConfig.Tls settings) throws IOException {
        // The stamps are taken before the files are read, so that a later change is noticed.
        List<FileStamp> stamps = stamps(settings);
        try {
            CertificateFiles files = new CertificateFiles(settings.certificate(), settings.key());
            ServerCertificate certificate = new CertificateReader().read(files, System.currentTimeMillis());
            SslContextBuilder builder = SslContextBuilder.forServer(certificate.privateKey(), certificate.x509Chain())
                    .keyStoreType(ServerCertificate.KEY_STORE_TYPE)
                    .sslProvider(SslProvider.JDK)
                    .protocols(PROTOCOLS);
            Path authorities = settings.caFile();
            if (authorities != null) {
                builder.trustManager(Objects.requireNonNull(trust(settings).manager()))
                        .clientAuth(ClientAuth.REQUIRE);
            }
            return new AdminTls(settings, stamps, builder.build());
        } catch (CertificateFault e) {
            throw new IOException("admin.tls: " + e.file() + ": " + e.getMessage(), e);
        } catch (SSLException e) {
            throw new IOException("admin.tls: " + e.getMessage(), e);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException("admin.tls: " + settings.certificate() + ": " + e.getMessage(), e);
        }
    }

    private static ClientTrust trust(AdminConfig.Tls settings) throws SSLException {
        ServerTlsConfig defaults = ServerTlsConfig.DEFAULTS;
        return ClientTrust.of(new ServerTlsConfig(
                defaults.minVersion(),
                defaults.maxVersion(),
                List.of(),
                List.of(),
                ClientCertificates.REQUIRE,
                settings.caFile(),
                settings.crlFile(),
                null,
                false));
    }

    private static List<FileStamp> stamps(AdminConfig.Tls settings) {
        return Stream.of(settings.certificate(), settings.key(), settings.caFile(), settings.crlFile())
                .filter(Objects::nonNull)
                .map(FileStamp::of)
                .toList();
    }

    AdminConfig.Tls settings() {
        return settings;
    }

    /** Returns true if a file has changed since it was read. Blocks. */
    boolean isOutdated() {
        return !stamps.equals(stamps(settings));
    }

    /** Creates the first handler of a connection, which owns it. */
    SslHandler newHandler(ByteBufAllocator allocator, Duration handshakeTimeout) {
        SslHandler handler = context.newHandler(allocator);
        handler.setHandshakeTimeout(handshakeTimeout.toNanos(), TimeUnit.NANOSECONDS);
        return handler;
    }
}
