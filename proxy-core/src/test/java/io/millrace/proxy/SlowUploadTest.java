package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests clients that send their content slowly, and the other clients' access to the origin in the meantime. */
class SlowUploadTest {
    private static final String POST = "POST /upload HTTP/1.1\r\nHost: test.example\r\n";
    private static final int BUFFER = 64 << 10;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Starts an origin that answers with the received content, over the only permitted connection. */
    private void start(String... settings) throws IOException {
        proxy.start(
                request -> {
                    String length = RawClient.field(request.head(), "content-length");
                    try {
                        int bytes = length == null ? 0 : Integer.parseInt(length);
                        request.ok("Cache-Control: no-store\r\n", request.in().read(bytes));
                    } catch (IOException e) {
                        // The proxy has aborted the upload.
                        request.socket().close();
                    }
                },
                config -> {
                    config.set("origin.connections_max", "1").set("origin.queue_max", "0");
                    for (int i = 0; i < settings.length; i += 2) {
                        config.set(settings[i], settings[i + 1]);
                    }
                    return config;
                });
    }

    /** As in an attack: uploads begin and do not continue. Requests of other clients still reach the origin. */
    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 100000\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x"})
    void pausedUploadsHaveNoConnection(String content) throws Exception {
        start();
        List<RawClient> uploads = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            uploads.add(proxy.client().send(POST + content));
        }
        ProxyExtension.await("the uploads", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 20);
        for (int i = 0; i < 5; i++) {
            assertEquals(200, proxy.get("/" + i).status());
        }
        assertEquals(5, proxy.origin().requests());
        for (RawClient upload : uploads) {
            upload.close();
        }
        ProxyExtension.await("their end", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
        assertEquals(5, proxy.origin().requests());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1000, BUFFER - 1, BUFFER, BUFFER + 1, 1_000_000})
    void contentArrivesAsItWasSent(int length) throws Exception {
        start();
        byte[] content = ProxyExtension.content(length);
        RawClient client = proxy.client().send(POST + "Content-Length: " + length + "\r\n\r\n");
        for (int from = 0; from < length; from += 10_007) {
            byte[] piece = new byte[Math.min(10_007, length - from)];
            System.arraycopy(content, from, piece, 0, piece.length);
            client.send(piece);
        }
        assertArrayEquals(content, client.response().content());
        assertEquals(200, client.get("/next").response().status());
    }

    /** RFC 9110 s10.1.1: the origin decides whether the content is to be sent. */
    @Test
    void expectationGoesToTheOriginAtOnce() throws Exception {
        proxy.start(request -> {
            request.send("HTTP/1.1 100 Continue\r\n\r\n");
            request.ok("", request.in().read(3));
        });
        RawClient client = proxy.client().send(POST + "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n");
        assertEquals(100, client.head().status());
        assertEquals("abc", client.send("abc").response().text());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 100000\r\n\r\nab",
                "Content-Length: 200000\r\n\r\n+",
                "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=",
                "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX: ",
            })
    void tooSlowContentIs408AndGivesTheConnectionBack(String content) throws Exception {
        start("limits.request_body_rate", "1MiB", "timeouts.client_body_window", "250ms");
        String sent = content.replace("+", "a".repeat(BUFFER));
        RawClient client = proxy.client().send(POST + sent);
        RawClient.Response response = client.response();
        assertEquals(408, response.status());
        assertEquals("close", response.field("connection"));
        assertEquals("408 Request Timeout: request content slower than limits.request_body_rate\n", response.text());
        assertEquals(0, client.in.readToEnd().length);
        assertEquals(1, proxy.counted(Counter.CLIENT_FAILURES_SLOW_BODY));
        assertEquals(200, proxy.get("/other").status());
    }

    /** An origin that reads nothing for many windows is no fault of the client. */
    @Test
    void timeInWhichTheOriginTakesNothingDoesNotCount() throws Exception {
        int length = 64 << 20;
        proxy.start(
                request -> {
                    for (int i = 0; i < 5; i++) {
                        RawClient late = proxy.client().send("GET / HTTP/1.1\r\n");
                        assertEquals(408, late.response().status());
                    }
                    for (int left = length; left > 0; left -= 1 << 16) {
                        request.in().read(1 << 16);
                    }
                    request.ok("", new byte[0]);
                },
                config -> config.set("limits.request_body_rate", "1MiB")
                        .set("timeouts.client_body_window", "250ms")
                        .set("timeouts.client_header", "250ms"));
        RawClient client = proxy.client().send(POST + "Content-Length: " + length + "\r\n\r\n");
        byte[] piece = new byte[1 << 16];
        for (int left = length; left > 0; left -= piece.length) {
            client.send(piece);
        }
        assertEquals(200, client.response().status());
        assertEquals(0, proxy.counted(Counter.CLIENT_FAILURES_SLOW_BODY));
    }
}
