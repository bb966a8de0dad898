package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the numbers of bytes received and sent, on both sides. */
class TransferredBytesTest {
    private static final String ORIGIN_HEAD =
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 5000\r\n\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final AtomicLong sentToOrigin = new AtomicLong();
    private final AtomicLong sentToClient = new AtomicLong();
    private long receivedFromClient;

    private void exchange(RawClient client, String request) throws Exception {
        receivedFromClient += request.length();
        RawClient.Response response = client.send(request).response();
        assertEquals(200, response.status());
        sentToClient.addAndGet(response.head().length() + response.content().length);
    }

    /** Hits, misses and a request with content on one connection, which moves between the fast lane and a channel. */
    @ParameterizedTest(name = "fast lane {0}, content of {1} bytes")
    @CsvSource({"true, 10", "false, 10", "true, 200000", "false, 200000"})
    void bytesAreCountedOnceWhereverTheyAreRead(boolean fastLane, int contentBytes) throws Exception {
        byte[] content = ProxyExtension.content(5000);
        proxy.start(
                request -> {
                    sentToOrigin.addAndGet(request.head().length());
                    if (request.has("POST")) {
                        sentToOrigin.addAndGet(request.in().read(contentBytes).length);
                    }
                    request.send(ORIGIN_HEAD);
                    request.send(content);
                },
                config -> config.set("worker.fast_lane", String.valueOf(fastLane)));
        RawClient client = proxy.client();
        String get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
        exchange(client, get);
        proxy.settle();
        exchange(client, get);
        exchange(client, "GET /b HTTP/1.1\r\nHost: h\r\nX-Long: " + "x".repeat(3000) + "\r\n\r\n");
        exchange(client, get);
        exchange(
                client,
                "POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: " + contentBytes + "\r\n\r\n"
                        + "y".repeat(contentBytes));
        exchange(client, get);
        proxy.settle();
        assertEquals(receivedFromClient, proxy.counted(Counter.CLIENT_RECEIVED_BYTES));
        assertEquals(sentToClient.get(), proxy.counted(Counter.CLIENT_SENT_BYTES));
        assertEquals(3L * (ORIGIN_HEAD.length() + 5000), proxy.counted(Counter.ORIGIN_RECEIVED_BYTES));
        assertEquals(sentToOrigin.get(), proxy.counted(Counter.ORIGIN_SENT_BYTES));
        assertTrue(sentToOrigin.get() > contentBytes);
    }
}
