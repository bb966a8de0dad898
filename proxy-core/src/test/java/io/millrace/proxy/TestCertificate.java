package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate for {@code test.example}, created by the JDK's keytool, and clients that trust it.
 *
 * @param certificate PEM file
 * @param key PEM file
 * @param trust trust managers of clients
 */
record TestCertificate(Path certificate, Path key, SSLContext trust) {
    private static final char[] PASSWORD = "changeit".toCharArray();

    static TestCertificate in(Path directory) throws Exception {
        Path file = directory.resolve("test.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "test",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=test.example",
                        "-ext",
                        "san=dns:test.example",
                        "-validity",
                        "3650",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        "changeit")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("keytool.log").toFile())
                .start();
        assertEquals(0, keytool.waitFor());
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
        Certificate made = store.getCertificate("test");
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, PASSWORD);
        trusted.setCertificateEntry("test", made);
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext trust = SSLContext.getInstance("TLS");
        trust.init(null, managers.getTrustManagers(), null);
        return new TestCertificate(
                pem(directory, "CERTIFICATE", made.getEncoded()),
                pem(directory, "PRIVATE KEY", store.getKey("test", PASSWORD).getEncoded()),
                trust);
    }

    private static Path pem(Path directory, String what, byte[] content) throws IOException {
        String text = "-----BEGIN " + what + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content) + "\n-----END " + what
                + "-----\n";
        return Files.writeString(directory.resolve(what.replace(' ', '-') + ".pem"), text);
    }

    /** Returns a client that sends these bytes before the TLS handshake. */
    RawClient clientAfter(byte[] first, InetSocketAddress address) throws IOException {
        Socket plain = new Socket();
        plain.connect(address);
        plain.getOutputStream().write(first);
        return new RawClient(trust.getSocketFactory().createSocket(plain, "test.example", address.getPort(), true));
    }

    /** Returns a client with TLS. */
    RawClient client(InetSocketAddress address) throws IOException {
        return new RawClient(trust.getSocketFactory().createSocket(address.getAddress(), address.getPort()));
    }
}
