package io.millrace.proxy.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate authority for tests. Writes X.509 certificates in DER directly, in microseconds, and connects as a
 * client that trusts it.
 */
public final class TestAuthority {
    private static final char[] PASSWORD = new char[0];
    private static final byte[] ECDSA_SHA256 = {6, 8, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 4, 3, 2};
    private static final byte[] SUBJECT_ALT_NAME = {6, 3, 0x55, 0x1d, 17};
    private static final byte[] BASIC_CONSTRAINTS = {6, 3, 0x55, 0x1d, 19};
    private static final byte[] COMMON_NAME = {6, 3, 0x55, 4, 3};
    private static final byte[] AUTHORITY_ACCESS = {6, 8, 0x2b, 6, 1, 5, 5, 7, 1, 1};
    private static final byte[] TLS_FEATURE = {6, 8, 0x2b, 6, 1, 5, 5, 7, 1, 24};
    private static final byte[] OCSP = {6, 8, 0x2b, 6, 1, 5, 5, 7, 48, 1};
    private static final byte[] EXTENDED_KEY_USAGE = {6, 3, 0x55, 0x1d, 37};
    private static final byte[] OCSP_SIGNING = {6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 9};
    private static final byte[] SERVER_AUTH = {6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 1};
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("2050-01-01T00:00:00Z");
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    /** A certificate with its key; the chain contains the issuers below the root. */
    public record Made(X509Certificate certificate, KeyPair keys, List<X509Certificate> chain) {
        public String chainPem() {
            StringBuilder text = new StringBuilder();
            chain.forEach(each -> text.append(pem("CERTIFICATE", encoded(each))));
            return text.toString();
        }

        public String keyPem() {
            return pem("PRIVATE KEY", keys.getPrivate().getEncoded());
        }

        /** Writes both files and returns their description for the store. */
        public CertificateFiles write(Path directory, String name) throws IOException {
            Path certificate = Files.writeString(directory.resolve(name + ".crt"), chainPem());
            return new CertificateFiles(certificate, Files.writeString(directory.resolve(name + ".key"), keyPem()));
        }
    }

    private final AtomicLong serial = new AtomicLong(1);
    private final Made root;
    private final Made issuer;

    public TestAuthority(String name) {
        Instant start = START;
        Instant end = Instant.parse("2060-01-01T00:00:00Z");
        root = sign(name + " root", List.of(), ecKeys(), start, end, null, new byte[0]);
        issuer = sign(name + " issuer", List.of(), ecKeys(), start, end, root, new byte[0]);
    }

    /** Issues a certificate with a P-256 key for some names; the first one is also its common name. */
    public Made issue(Instant start, Instant end, String... names) {
        return issue(ecKeys(), start, end, names);
    }

    /** Issues one that is valid for more than a year. */
    public Made issue(String... names) {
        return issue(START, END, names);
    }

    public Made issue(KeyPair keys, Instant start, Instant end, String... names) {
        return sign(names[0], List.of(names), keys, start, end, issuer, new byte[0]);
    }

    /** Issues a certificate that names an OCSP responder and may require a staple. */
    public Made issueWithResponder(String responder, boolean mustStaple, KeyPair keys, String... names) {
        byte[] access = der(
                0x30,
                AUTHORITY_ACCESS,
                der(4, der(0x30, der(0x30, OCSP, der(0x86, responder.getBytes(StandardCharsets.US_ASCII))))));
        byte[] feature = mustStaple ? der(0x30, TLS_FEATURE, der(4, der(0x30, der(2, new byte[] {5})))) : new byte[0];
        return sign(names[0], List.of(names), keys, START, END, issuer, join(access, feature));
    }

    /** Issues a certificate that may sign OCSP answers for this authority, by itself or by another issuer. */
    public Made issueResponder(boolean forOcsp, Instant end, TestAuthority by) {
        byte[] usage = der(0x30, EXTENDED_KEY_USAGE, der(4, der(0x30, forOcsp ? OCSP_SIGNING : SERVER_AUTH)));
        return sign("responder", List.of("responder"), ecKeys(), START, end, by.issuer, usage);
    }

    /** Returns the intermediate with its key. */
    public Made issuing() {
        return issuer;
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }

    public X509Certificate root() {
        return root.certificate;
    }

    public String rootPem() {
        return pem("CERTIFICATE", encoded(root.certificate));
    }

    public X509Certificate issuer() {
        return issuer.certificate;
    }

    public static KeyPair ecKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    public static KeyPair rsaKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private Made sign(String name, List<String> names, KeyPair keys, Instant start, Instant end, Made by, byte[] more) {
        byte[] algorithm = der(0x30, ECDSA_SHA256);
        byte[] basic =
                der(0x30, BASIC_CONSTRAINTS, der(4, names.isEmpty() ? der(0x30, der(1, new byte[] {-1})) : der(0x30)));
        byte[][] alternatives = new byte[names.size()][];
        for (int i = 0; i < alternatives.length; i++) {
            alternatives[i] = der(0x82, names.get(i).getBytes(StandardCharsets.US_ASCII));
        }
        byte[] extensions = names.isEmpty()
                ? der(0x30, basic)
                : der(0x30, basic, der(0x30, SUBJECT_ALT_NAME, der(4, der(0x30, alternatives))), more);
        byte[] content = der(
                0x30,
                der(0xa0, der(2, new byte[] {2})),
                der(2, BigInteger.valueOf(serial.getAndIncrement()).toByteArray()),
                algorithm,
                by == null
                        ? name(name)
                        : by.certificate.getSubjectX500Principal().getEncoded(),
                der(0x30, time(start), time(end)),
                name(name),
                keys.getPublic().getEncoded(),
                der(0xa3, extensions));
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign((by == null ? keys : by.keys).getPrivate());
            signature.update(content);
            byte[] whole = der(0x30, content, algorithm, der(3, new byte[1], signature.sign()));
            X509Certificate certificate = (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(whole));
            boolean leaf = !names.isEmpty();
            return new Made(certificate, keys, leaf ? List.of(certificate, by.certificate) : List.of(certificate));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] name(String common) {
        return der(0x30, der(0x31, der(0x30, COMMON_NAME, der(12, common.getBytes(StandardCharsets.UTF_8)))));
    }

    private static byte[] time(Instant time) {
        return der(24, TIME.format(time).getBytes(StandardCharsets.US_ASCII));
    }

    public static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        int length = content.size();
        if (length >= 0x100) {
            out.write(0x82);
            out.write(length >> 8);
        } else if (length >= 0x80) {
            out.write(0x81);
        }
        out.write(length);
        out.writeBytes(content.toByteArray());
        return out.toByteArray();
    }

    public static String pem(String label, byte[] content) {
        return "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content) + "\n-----END " + label
                + "-----\n";
    }

    static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the context of a client of this authority, with a client certificate if {@code own} is not null. */
    public SSLContext clientContext(Made own) {
        try {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, PASSWORD);
            trusted.setCertificateEntry("root", root.certificate);
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            KeyManager[] keys = null;
            if (own != null) {
                KeyStore store = KeyStore.getInstance("PKCS12");
                store.load(null, PASSWORD);
                store.setKeyEntry("own", own.keys.getPrivate(), PASSWORD, own.chain.toArray(X509Certificate[]::new));
                KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                managers.init(store, PASSWORD);
                keys = managers.getKeyManagers();
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Connects and performs the handshake; without a server name if {@code name} is null. */
    public static SSLSocket dial(SSLContext client, InetSocketAddress address, String name) throws IOException {
        Socket plain = new Socket();
        plain.connect(address);
        plain.setSoTimeout(20_000);
        SSLSocket socket = (SSLSocket) client.getSocketFactory()
                .createSocket(plain, name == null ? "127.0.0.1" : name, address.getPort(), true);
        if (name != null) {
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setServerNames(List.of(new SNIHostName(name)));
            socket.setSSLParameters(parameters);
        }
        try {
            socket.startHandshake();
        } catch (IOException e) {
            socket.close();
            throw e;
        }
        return socket;
    }

    /** Returns the certificate that a server presents for a name. */
    public X509Certificate shown(InetSocketAddress address, String name) throws IOException {
        try (SSLSocket socket = dial(clientContext(null), address, name)) {
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }
}
