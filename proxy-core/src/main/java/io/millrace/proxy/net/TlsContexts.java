package io.millrace.proxy.net;

import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLException;

/**
 * Makes TLS contexts for listeners: BoringSSL through netty-tcnative where its library loads, the JDK's own TLS elsewhere.
 *
 * <p>Immutable.
 */
public final class TlsContexts {
    private TlsContexts() {}

    /** The provider in use, for the start message and the status. */
    public static String provider() {
        return OpenSsl.isAvailable()
                ? OpenSsl.versionString()
                : "JDK " + Runtime.version().feature();
    }

    /**
     * A server context.
     *
     * @param certificate PEM file with the certificate chain, leaf first
     * @param key PEM file with the unencrypted PKCS#8 private key
     * @throws IOException when a file is missing, unreadable or no certificate or key; the message names the file
     */
    public static SslContext forServer(Path certificate, Path key) throws IOException {
        requireReadable(certificate, "certificate");
        requireReadable(key, "key");
        try {
            return SslContextBuilder.forServer(certificate.toFile(), key.toFile())
                    .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL_REFCNT : SslProvider.JDK)
                    .protocols("TLSv1.3", "TLSv1.2")
                    .build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new IOException(
                    "listen.tls: cannot use certificate " + certificate + " with key " + key + ": " + e.getMessage(),
                    e);
        }
    }

    private static void requireReadable(Path file, String what) throws IOException {
        if (!Files.isReadable(file)) {
            throw new IOException("listen.tls." + what + ": no readable file " + file);
        }
    }
}
