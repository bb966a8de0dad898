package io.millrace.worker.warmup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Objects;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The certificate of the warm-up's TLS listener. Its private key is in the product, so it must not be used for anything
 * else. Immutable.
 *
 * @param certificate PEM file of the certificate
 * @param key PEM file of the private key
 */
record WarmUpCertificate(Path certificate, Path key) {
    private static final String CERTIFICATE = "certificate.pem";
    private static final String KEY = "key.pem";

    /** Writes both files into {@code directory}. */
    static WarmUpCertificate in(Path directory) throws IOException {
        WarmUpCertificate files = new WarmUpCertificate(directory.resolve(CERTIFICATE), directory.resolve(KEY));
        copy(CERTIFICATE, files.certificate);
        copy(KEY, files.key);
        return files;
    }

    private static InputStream resource(String name) throws IOException {
        return Objects.requireNonNull(WarmUpCertificate.class.getResourceAsStream(name), name);
    }

    private static void copy(String name, Path file) throws IOException {
        try (InputStream in = resource(name)) {
            Files.copy(in, file);
        }
        if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
    }

    /**
     * Returns a socket factory that trusts the certificate. All sockets share a TLS context, so that sessions are
     * resumed.
     */
    static SocketFactory clients() throws IOException {
        try (InputStream in = resource(CERTIFICATE)) {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            trusted.setCertificateEntry(
                    "warm-up", CertificateFactory.getInstance("X.509").generateCertificate(in));
            TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context.getSocketFactory();
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS for the clients of the warm-up cannot be set up: " + e.getMessage(), e);
        }
    }
}
