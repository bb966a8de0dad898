package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A listener that speaks TLS: the same as a plain one, and ends that can be told apart. */
class SecureListenerTest {
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    static Path directory;

    private static Path certificate;
    private static Path key;
    private static SSLContext trust;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final CountDownLatch go = new CountDownLatch(1);

    @BeforeAll
    static void makeCertificate() throws Exception {
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
        certificate = pem("CERTIFICATE", made.getEncoded());
        key = pem("PRIVATE KEY", store.getKey("test", PASSWORD).getEncoded());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, PASSWORD);
        trusted.setCertificateEntry("test", made);
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        trust = SSLContext.getInstance("TLS");
        trust.init(null, managers.getTrustManagers(), null);
    }

    private static Path pem(String what, byte[] content) throws IOException {
        String text = "-----BEGIN " + what + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content) + "\n-----END " + what
                + "-----\n";
        return Files.writeString(directory.resolve(what.replace(' ', '-') + ".pem"), text);
    }

    private void start(RawOrigin.Script script) throws IOException {
        proxy.start(script, config -> config.listen("127.0.0.1:0", certificate, key));
    }

    private RawClient client() throws IOException {
        return proxy.keep(new RawClient(trust.getSocketFactory()
                .createSocket("127.0.0.1", proxy.proxy().addresses().get(1).getPort())));
    }

    @Test
    void servesAsAPlainOneDoes() throws Exception {
        byte[] content = ProxyExtension.content(600_000);
        start(request -> request.ok("Cache-Control: max-age=600\r\n", content));
        RawClient client = client();
        for (int i = 0; i < 3; i++) {
            assertArrayEquals(content, client.get("/a").response().content());
        }
        assertEquals(1, proxy.origin().requests());
        client.get("/a", "Connection: close\r\n");
        assertArrayEquals(content, client.response().content());
        assertNull(client.in.readHead());
    }

    /** The answer must not be lost in the reset that unread bytes cause. */
    @Test
    void refusalReachesAClientThatStillSends() throws Exception {
        start(request -> request.awaitClose());
        RawClient client = client().send(
                        "POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n");
        for (int i = 0; i < 10; i++) {
            client.send(new byte[10_000]);
        }
        assertEquals(400, client.response().status());
        assertNull(client.in.readHead());
    }

    /** RFC 9112 s8, s9.8: no closure alert where content that only the close delimits breaks off. */
    @Test
    void brokenOffContentEndsWithoutClosureAlert_rfc9112_s9_8() throws Exception {
        start(request -> {
            request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
            go.await();
            request.socket().close();
        });
        RawClient client = client().send("GET /a HTTP/1.0\r\nHost: test.example\r\n\r\n");
        client.head();
        client.in.read(5);
        go.countDown();
        assertThrows(IOException.class, client.in::readToEnd);
    }
}
