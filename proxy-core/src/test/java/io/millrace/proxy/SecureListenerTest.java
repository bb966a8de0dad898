package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests a listener with TLS: the same as a plain one, and the kinds of ends. */
class SecureListenerTest {
    @TempDir
    static Path directory;

    private static TestCertificate certificate;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final CountDownLatch go = new CountDownLatch(1);

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = TestCertificate.in(directory);
    }

    private void start(RawOrigin.Script script) throws IOException {
        proxy.start(script, config -> config.listen("127.0.0.1:0", certificate.certificate(), certificate.key()));
    }

    private RawClient client() throws IOException {
        return proxy.keep(certificate.client(proxy.proxy().addresses().get(1)));
    }

    @Test
    void servesLikeAPlainListener() throws Exception {
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

    /** The response must not be lost in the reset that unread bytes cause. */
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

    /** RFC 9112 s8, s9.8: no closure alert if content that only the close delimits is truncated. */
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
