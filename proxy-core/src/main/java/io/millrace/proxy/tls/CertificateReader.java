package io.millrace.proxy.tls;

import io.millrace.proxy.tls.CertificateFault.Kind;
import io.millrace.proxy.tls.ServerCertificate.Facts;
import io.millrace.proxy.tls.ocsp.OcspExtensions;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslCredentialBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPrivateKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import org.jspecify.annotations.Nullable;

/**
 * Reads certificates and private keys from PEM files, and checks that they match.
 *
 * <p>Thread-safe. Blocks on files: must not run on event loops.
 */
public final class CertificateReader {
    private static final int FILE_BYTES_MAX = 1 << 20;
    /** Types of names in subjectAltName (RFC 5280 section 4.2.1.6). */
    private static final int DNS_NAME = 2;

    private static final int IP_ADDRESS = 7;

    /** Cache of issuers' certificates, which thousands of chains may share. */
    private final Map<ByteBuffer, byte[]> issuers = new ConcurrentHashMap<>();

    /** Cache of texts that many certificates have in common, such as names of issuers and types of keys. */
    private final Map<String, String> texts = new ConcurrentHashMap<>();

    /**
     * Reads one certificate.
     *
     * @param nowMillis current time, for {@link ServerCertificate#loadedMillis}
     * @throws CertificateFault if the certificate is unusable; an expired certificate is no fault here
     */
    public ServerCertificate read(CertificateFiles files, long nowMillis) throws CertificateFault {
        List<Pem.Block> blocks = blocks(files.certificate());
        List<X509Certificate> certificates = certificates(files.certificate(), blocks);
        boolean isKeySeparate = !files.key().equals(files.certificate());
        byte[] key = key(files.key(), isKeySeparate ? blocks(files.key()) : blocks);
        X509Certificate leaf = leaf(certificates, files, key);
        List<String> notes = new ArrayList<>();
        List<X509Certificate> chain = chain(leaf, certificates, notes);
        byte[][] encoded = new byte[chain.size()][];
        try {
            for (int i = 0; i < encoded.length; i++) {
                byte[] der = chain.get(i).getEncoded();
                encoded[i] = i == 0 ? der : shared(der);
            }
            Facts facts = facts(chain, encoded[0], notes);
            return new ServerCertificate(files, facts, leaf.getPublicKey().getAlgorithm(), encoded, key, nowMillis);
        } catch (GeneralSecurityException e) {
            throw new CertificateFault(Kind.MALFORMED, files.certificate(), String.valueOf(e.getMessage()));
        }
    }

    /** Reads all certificates of a PEM file in file order, for example certificates of authorities. */
    public static List<X509Certificate> authorities(Path file) throws CertificateFault {
        return certificates(file, blocks(file));
    }

    /** Reads the names and addresses of the first certificate of a PEM file, in lower case. Needs no key. */
    public static List<String> names(Path file) throws CertificateFault {
        try {
            return names(authorities(file).get(0));
        } catch (GeneralSecurityException e) {
            throw new CertificateFault(Kind.MALFORMED, file, String.valueOf(e.getMessage()));
        }
    }

    /** Creates a key store that trusts all certificates of a PEM file of authorities. */
    public static KeyStore trustStore(Path file) throws CertificateFault, GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        int number = 0;
        for (X509Certificate authority : authorities(file)) {
            store.setCertificateEntry("authority " + number++, authority);
        }
        return store;
    }

    private byte[] shared(byte[] issuer) {
        byte[] known = issuers.putIfAbsent(ByteBuffer.wrap(issuer), issuer);
        return known == null ? issuer : known;
    }

    private String shared(String text) {
        String known = texts.putIfAbsent(text, text);
        return known == null ? text : known;
    }

    /** Clears the caches of issuers and texts. Chains in use keep their references. */
    void forgetShared() {
        issuers.clear();
        texts.clear();
    }

    private static List<Pem.Block> blocks(Path file) throws CertificateFault {
        try {
            if (Files.size(file) > FILE_BYTES_MAX) {
                throw new CertificateFault(Kind.MALFORMED, file, "longer than the limit of 1 MiB");
            }
            return Pem.blocks(Files.readAllBytes(file));
        } catch (NoSuchFileException e) {
            throw new CertificateFault(Kind.UNREADABLE, file, "no such file");
        } catch (AccessDeniedException e) {
            throw new CertificateFault(
                    Kind.UNREADABLE, file, "permission denied for user " + System.getProperty("user.name"));
        } catch (IOException e) {
            throw new CertificateFault(Kind.UNREADABLE, file, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw new CertificateFault(Kind.MALFORMED, file, String.valueOf(e.getMessage()));
        }
    }

    private static List<X509Certificate> certificates(Path file, List<Pem.Block> blocks) throws CertificateFault {
        List<X509Certificate> certificates = new ArrayList<>();
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            for (Pem.Block block : blocks) {
                if (block.label().endsWith("CERTIFICATE")) {
                    certificates.add(
                            (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(block.content())));
                }
            }
        } catch (GeneralSecurityException e) {
            throw new CertificateFault(Kind.MALFORMED, file, "not a valid certificate: " + e.getMessage());
        }
        if (certificates.isEmpty()) {
            throw new CertificateFault(Kind.MALFORMED, file, "has no certificate in PEM (BEGIN CERTIFICATE)");
        }
        return certificates;
    }

    private static byte[] key(Path file, List<Pem.Block> blocks) throws CertificateFault {
        try {
            for (Pem.Block block : blocks) {
                switch (block.label()) {
                    case "PRIVATE KEY" -> {
                        return block.content();
                    }
                    case "RSA PRIVATE KEY" -> {
                        return PrivateKeyDer.ofPkcs1(block.content());
                    }
                    case "EC PRIVATE KEY" -> {
                        return PrivateKeyDer.ofSec1(block.content());
                    }
                    case "ENCRYPTED PRIVATE KEY" ->
                        throw new CertificateFault(
                                Kind.UNSUPPORTED,
                                file,
                                "the key is encrypted; remove its passphrase with: openssl pkey");
                    default -> {}
                }
            }
        } catch (IllegalArgumentException e) {
            throw new CertificateFault(Kind.MALFORMED, file, String.valueOf(e.getMessage()));
        }
        throw new CertificateFault(Kind.MALFORMED, file, "has no private key in PEM (BEGIN PRIVATE KEY)");
    }

    /** Returns the certificate that belongs to the key. Normally this is the first certificate of the file. */
    private static X509Certificate leaf(List<X509Certificate> certificates, CertificateFiles files, byte[] key)
            throws CertificateFault {
        for (X509Certificate certificate : certificates) {
            if (fits(certificate, key, files.key())) {
                return certificate;
            }
        }
        throw new CertificateFault(
                Kind.MISMATCH, files.key(), "the key does not belong to the certificate in " + files.certificate());
    }

    private static boolean fits(X509Certificate certificate, byte[] key, Path file) throws CertificateFault {
        PublicKey publicKey = certificate.getPublicKey();
        PrivateKey privateKey;
        try {
            privateKey = KeyFactory.getInstance(publicKey.getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(key));
        } catch (GeneralSecurityException e) {
            // The key has another type than this certificate. Another certificate of the file may match.
            return false;
        }
        try {
            if (publicKey instanceof RSAPublicKey rsa && privateKey instanceof RSAPrivateKey rsaPrivate) {
                return rsa.getModulus().equals(rsaPrivate.getModulus());
            }
            if (publicKey instanceof ECPublicKey) {
                byte[] point = PrivateKeyDer.ecPoint(key);
                if (point != null) {
                    return Arrays.equals(point, PrivateKeyDer.publicBits(publicKey.getEncoded()));
                }
                return OpenSsl.isAvailable()
                        ? isAccepted(certificate, privateKey)
                        : verifies(publicKey, privateKey, "SHA256withECDSA");
            }
            return verifies(publicKey, privateKey, publicKey.getAlgorithm());
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new CertificateFault(Kind.MALFORMED, file, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Lets BoringSSL check whether the key belongs to the certificate. Takes a tenth of the time of a signature in
     * Java.
     */
    private static boolean isAccepted(X509Certificate certificate, PrivateKey privateKey) {
        try {
            OpenSslCredentialBuilder.forX509(privateKey, certificate).build().release();
            return true;
        } catch (Exception e) {
            return false;
        }
    }

    private static boolean verifies(PublicKey publicKey, PrivateKey privateKey, String algorithm)
            throws GeneralSecurityException {
        byte[] message = {1, 2, 3};
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(privateKey);
        signature.update(message);
        byte[] signed = signature.sign();
        signature.initVerify(publicKey);
        signature.update(message);
        return signature.verify(signed);
    }

    /** Returns the leaf certificate followed by its issuers. The file may contain them in any order. */
    private static List<X509Certificate> chain(
            X509Certificate leaf, List<X509Certificate> certificates, List<String> notes) {
        List<X509Certificate> chain = new ArrayList<>();
        X509Certificate next = leaf;
        while (next != null && !chain.contains(next)) {
            chain.add(next);
            next = issuerOf(next, certificates);
        }
        if (!chain.equals(certificates.subList(0, Math.min(chain.size(), certificates.size())))) {
            notes.add("the certificates in the file are in the wrong order; they are sent in the right order");
        }
        if (chain.size() < certificates.size()) {
            notes.add("certificates in the file that do not belong to the chain: "
                    + (certificates.size() - chain.size()) + "; these are not sent");
        }
        X509Certificate last = chain.get(chain.size() - 1);
        if (chain.size() == 1 && !last.getIssuerX500Principal().equals(last.getSubjectX500Principal())) {
            notes.add("the file has no issuer's certificate; clients that do not know "
                    + last.getIssuerX500Principal().getName() + " will refuse it");
        }
        return chain;
    }

    private static @Nullable X509Certificate issuerOf(X509Certificate certificate, List<X509Certificate> among) {
        if (certificate.getIssuerX500Principal().equals(certificate.getSubjectX500Principal())) {
            return null;
        }
        for (X509Certificate other : among) {
            if (other.getSubjectX500Principal().equals(certificate.getIssuerX500Principal())) {
                return other;
            }
        }
        return null;
    }

    private Facts facts(List<X509Certificate> chain, byte[] encoded, List<String> notes)
            throws GeneralSecurityException {
        X509Certificate leaf = chain.get(0);
        HexFormat hex = HexFormat.of();
        return new Facts(
                names(leaf),
                shared(leaf.getIssuerX500Principal().getName()),
                leaf.getNotBefore().toInstant().getEpochSecond(),
                leaf.getNotAfter().toInstant().getEpochSecond(),
                shared(keyType(leaf.getPublicKey())),
                leaf.getSerialNumber().toString(16),
                hex.formatHex(MessageDigest.getInstance("SHA-256").digest(encoded)),
                chain.stream()
                        .map(each -> shared(each.getSubjectX500Principal().getName()))
                        .toList(),
                notes,
                ocsp(leaf));
    }

    private OcspExtensions ocsp(X509Certificate leaf) {
        OcspExtensions found = OcspExtensions.of(leaf);
        String responder = found.responder();
        return responder == null ? found : new OcspExtensions(shared(responder), found.mustStaple());
    }

    private static String keyType(PublicKey key) {
        if (key instanceof RSAPublicKey rsa) {
            return "RSA " + rsa.getModulus().bitLength();
        }
        return key instanceof ECPublicKey ec
                ? "EC " + ec.getParams().getCurve().getField().getFieldSize()
                : key.getAlgorithm();
    }

    private static List<String> names(X509Certificate leaf) throws GeneralSecurityException {
        Set<String> names = new LinkedHashSet<>();
        Collection<List<?>> alternatives = leaf.getSubjectAlternativeNames();
        if (alternatives != null) {
            for (List<?> name : alternatives) {
                int type = (Integer) Objects.requireNonNull(name.get(0));
                if ((type == DNS_NAME || type == IP_ADDRESS) && name.get(1) instanceof String text) {
                    names.add(text.toLowerCase(Locale.ROOT));
                }
            }
        }
        if (names.isEmpty()) {
            String common = commonName(leaf.getSubjectX500Principal().getName());
            if (common != null) {
                names.add(common.toLowerCase(Locale.ROOT));
            }
        }
        return List.copyOf(names);
    }

    private static @Nullable String commonName(String distinguishedName) {
        try {
            for (Rdn part : new LdapName(distinguishedName).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")) {
                    return String.valueOf(part.getValue());
                }
            }
        } catch (InvalidNameException e) {
            return null;
        }
        return null;
    }
}
