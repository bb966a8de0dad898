package io.millrace.cli.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files that a TLS connection to the admin API uses. Immutable.
 *
 * @param authorities PEM file with the trusted certificate authorities; null for the authorities of the JDK
 * @param certificate PEM file with the client's certificate chain; null for none
 * @param key PEM file with the private key of the client certificate, in PKCS#8; null for none
 */
public record TlsFiles(
        @Nullable Path authorities,
        @Nullable Path certificate,
        @Nullable Path key) {
    /** The authorities of the JDK, and no client certificate. */
    public static final TlsFiles NONE = new TlsFiles(null, null, null);

    private static final char[] NO_PASSWORD = new char[0];
    private static final String KEY_BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String KEY_END = "-----END PRIVATE KEY-----";

    /**
     * Reads the files into a TLS context.
     *
     * @throws IOException if a file cannot be used; the message names the file
     */
    public SSLContext context() throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keyManagers(), trustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS: " + e.getMessage(), e);
        }
    }

    private TrustManager @Nullable [] trustManagers() throws GeneralSecurityException, IOException {
        if (authorities == null) {
            return null;
        }
        KeyStore store = emptyStore();
        for (Certificate each : certificates(authorities)) {
            store.setCertificateEntry("authority-" + store.size(), each);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private KeyManager @Nullable [] keyManagers() throws GeneralSecurityException, IOException {
        if (certificate == null || key == null) {
            return null;
        }
        List<Certificate> chain = certificates(certificate);
        KeyStore store = emptyStore();
        try {
            PrivateKey own = privateKey(key, chain.get(0).getPublicKey().getAlgorithm());
            store.setKeyEntry("client", own, NO_PASSWORD, chain.toArray(new Certificate[0]));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException(
                    key + ": no private key for the certificate in " + certificate + ": " + e.getMessage(), e);
        }
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static List<Certificate> certificates(Path file) throws IOException {
        try {
            List<Certificate> certificates = new ArrayList<>(CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(bytes(file))));
            if (certificates.isEmpty()) {
                throw new IOException(file + ": contains no certificate in PEM");
            }
            return certificates;
        } catch (GeneralSecurityException e) {
            throw new IOException(file + ": not a file of certificates in PEM: " + e.getMessage(), e);
        }
    }

    private static PrivateKey privateKey(Path file, String algorithm) throws GeneralSecurityException, IOException {
        String text = new String(bytes(file), StandardCharsets.ISO_8859_1);
        int begin = text.indexOf(KEY_BEGIN);
        int end = text.indexOf(KEY_END);
        if (begin < 0 || end < begin) {
            throw new IOException(file + ": no unencrypted private key in PKCS#8 (BEGIN PRIVATE KEY); convert it with"
                    + " 'openssl pkcs8 -topk8 -nodes'");
        }
        byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + KEY_BEGIN.length(), end));
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
    }

    private static byte[] bytes(Path file) throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw new IOException(file + ": no such file", e);
        } catch (IOException e) {
            throw new IOException(file + ": cannot be read (" + e.getMessage() + ")", e);
        }
    }
}
