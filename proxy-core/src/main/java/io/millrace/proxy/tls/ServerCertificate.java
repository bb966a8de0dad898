package io.millrace.proxy.tls;

import io.millrace.proxy.tls.ocsp.OcspExtensions;
import io.millrace.proxy.tls.ocsp.OcspTarget;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One version of a server certificate with its chain and key, as read from files. Immutable; compared by identity.
 *
 * <p>Holds only the encoded form, to save memory: of many certificates, usually only few are in use. The decoded
 * objects are created with a TLS context.
 */
public final class ServerCertificate {
    /**
     * The type of key store in memory that Netty and the JDK use to pass a key to a TLS context. PKCS12, the default
     * type, would derive an encryption key with 10,000 rounds of HMAC for each access: 7 ms for each context, without
     * any benefit for keys that are in memory anyway.
     */
    public static final String KEY_STORE_TYPE = "JKS";

    /**
     * The properties of a certificate that operators see.
     *
     * @param names DNS names and IP addresses of subjectAltName in lower case; without any, the common name
     * @param issuer distinguished name of the issuer
     * @param issuedSeconds start of the validity, in epoch seconds
     * @param expirySeconds end of the validity, in epoch seconds
     * @param keyType for example {@code EC 256} or {@code RSA 2048}
     * @param serial serial number, hexadecimal
     * @param sha256 SHA-256 fingerprint, hexadecimal
     * @param chain subjects of the certificates in the chain, in the order in which they are sent
     * @param notes warnings for operators that do not prevent the use of the certificate
     * @param ocsp extensions for OCSP
     */
    public record Facts(
            List<String> names,
            String issuer,
            long issuedSeconds,
            long expirySeconds,
            String keyType,
            String serial,
            String sha256,
            List<String> chain,
            List<String> notes,
            OcspExtensions ocsp) {
        public Facts {
            names = List.copyOf(names);
            chain = List.copyOf(chain);
            notes = List.copyOf(notes);
        }

        /**
         * Returns true if the certificate expires soon. This means within 14 days, or within a quarter of its
         * lifetime if that is shorter.
         */
        public boolean endsSoon(long nowSeconds) {
            return endsWithin(nowSeconds, SOON_SECONDS_MAX);
        }

        /** Returns true if the certificate expires within {@code seconds}, or a quarter of its lifetime if shorter. */
        public boolean endsWithin(long nowSeconds, long seconds) {
            long notice = Math.min(seconds, (expirySeconds - issuedSeconds) / 4);
            return expirySeconds - nowSeconds < Math.max(notice, 0);
        }
    }

    private static final long SOON_SECONDS_MAX = TimeUnit.DAYS.toSeconds(14);

    private final CertificateFiles files;
    private final Facts facts;
    private final String keyAlgorithm;
    private final byte[][] chain;
    private final byte[] key;
    private final long loadedMillis;

    ServerCertificate(
            CertificateFiles files, Facts facts, String keyAlgorithm, byte[][] chain, byte[] key, long loadedMillis) {
        this.files = files;
        this.facts = facts;
        this.keyAlgorithm = keyAlgorithm;
        this.chain = chain;
        this.key = key;
        this.loadedMillis = loadedMillis;
    }

    /** The files from which the certificate was read. */
    public CertificateFiles files() {
        return files;
    }

    public Facts facts() {
        return facts;
    }

    /**
     * The key algorithm: {@code EC}, {@code RSA} or {@code EdDSA}. A name may have one certificate for each algorithm.
     */
    String keyAlgorithm() {
        return keyAlgorithm;
    }

    /** Returns the target of OCSP requests; null if the certificate names no responder. */
    @Nullable
    OcspTarget ocspTarget() {
        String responder = facts.ocsp().responder();
        if (responder == null) {
            return null;
        }
        String name = facts.names().isEmpty()
                ? files.certificate().toString()
                : facts.names().get(0);
        return new OcspTarget(facts.sha256(), name, responder, this::x509Chain);
    }

    /** The time when the files were read, in epoch milliseconds. */
    public long loadedMillis() {
        return loadedMillis;
    }

    boolean isExpired(long nowMillis) {
        return facts.expirySeconds() * 1000 <= nowMillis;
    }

    /** Decodes the chain, which begins with the server's own certificate. */
    public X509Certificate[] x509Chain() throws GeneralSecurityException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        List<X509Certificate> decoded = new ArrayList<>();
        for (byte[] certificate : chain) {
            decoded.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(certificate)));
        }
        return decoded.toArray(X509Certificate[]::new);
    }

    /** Returns the chain and the key as one PEM file. */
    byte[] pem() {
        StringBuilder text = new StringBuilder();
        for (byte[] certificate : chain) {
            Pem.append(text, "CERTIFICATE", certificate);
        }
        Pem.append(text, "PRIVATE KEY", key);
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /** Decodes the private key. */
    public PrivateKey privateKey() throws GeneralSecurityException {
        return KeyFactory.getInstance(keyAlgorithm).generatePrivate(new PKCS8EncodedKeySpec(key));
    }
}
