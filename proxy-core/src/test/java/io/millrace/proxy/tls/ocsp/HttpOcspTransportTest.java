package io.millrace.proxy.tls.ocsp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.tls.ocsp.OcspFault.Kind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests requests to well-behaved and faulty responders, over real sockets. */
class HttpOcspTransportTest {
    private static final byte[] REQUEST = {1, 2, 3};

    /** Writes a response after the request was read. */
    private interface Answer {
        void write(Socket client) throws IOException;
    }

    private ServerSocket server;
    private volatile String head = "";
    private volatile Answer answer;

    @BeforeEach
    void listen() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::serve, "responder");
        thread.setDaemon(true);
        thread.start();
    }

    @AfterEach
    void close() throws IOException {
        server.close();
    }

    private void serve() {
        while (true) {
            try (Socket client = server.accept()) {
                byte[] bytes = new byte[4096];
                int length = 0;
                while (!new String(bytes, 0, length, StandardCharsets.ISO_8859_1).contains("\r\n\r\n\1\2\3")) {
                    length += client.getInputStream().read(bytes, length, bytes.length - length);
                }
                head = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
                answer.write(client);
            } catch (IOException e) {
                if (server.isClosed()) {
                    return;
                }
            }
        }
    }

    private byte[] post(long timeoutMillis) throws Exception {
        return new HttpOcspTransport(timeoutMillis)
                .post("http://127.0.0.1:" + server.getLocalPort() + "/path", REQUEST)
                .get(60, TimeUnit.SECONDS);
    }

    private OcspFault fault(long timeoutMillis) {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> post(timeoutMillis));
        return assertInstanceOf(OcspFault.class, failure.getCause());
    }

    private static void write(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        client.getOutputStream().flush();
    }

    @Test
    void requestIsPostedAndTheBodyReturned() throws Exception {
        answer = client -> write(client, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
        assertArrayEquals(new byte[] {'a', 'b', 'c'}, post(20_000));
        assertTrue(head.startsWith("POST /path HTTP/1.1\r\n"), head);
        assertTrue(head.contains("Content-Type: application/ocsp-request\r\n"), head);
    }

    @ParameterizedTest
    @CsvSource({
        "'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n', status 500",
        "'HTTP/1.1 301 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n', status 301",
        "'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort', no connection",
        "'nothing of HTTP\r\n\r\n', no connection",
        "'', no connection"
    })
    void invalidAnswersAreUnreachable(String response, String reason) {
        answer = client -> write(client, response);
        OcspFault fault = fault(20_000);
        assertEquals(Kind.UNREACHABLE, fault.kind());
        assertTrue(fault.getMessage().contains(reason), fault.getMessage());
    }

    @Test
    void tenMegabytesAreNotRead() {
        answer = client -> {
            write(client, "HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n");
            for (int i = 0; i < 10; i++) {
                client.getOutputStream().write(new byte[1 << 20]);
            }
        };
        OcspFault fault = fault(20_000);
        assertEquals(Kind.MALFORMED, fault.kind());
        assertTrue(fault.getMessage().contains("64 KiB"), fault.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"''", "'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nslow'"})
    void slowResponderIsGivenUp(String begun) throws Exception {
        CompletableFuture<Integer> end = new CompletableFuture<>();
        answer = client -> {
            write(client, begun);
            end.complete(client.getInputStream().read());
        };
        OcspFault fault = fault(300);
        assertEquals(Kind.UNREACHABLE, fault.kind());
        assertTrue(fault.getMessage().contains("no answer within"), fault.getMessage());
        assertEquals(-1, end.get(20, TimeUnit.SECONDS), "the connection is closed");
    }

    @Test
    void aClosedPortIsUnreachable() throws Exception {
        server.close();
        assertEquals(Kind.UNREACHABLE, fault(20_000).kind());
    }

    @ParameterizedTest
    @CsvSource({"http://", "'http://a b/'", "http:///path"})
    void wrongUrlIsNamed(String url) {
        ExecutionException failure = assertThrows(
                ExecutionException.class,
                () -> new HttpOcspTransport(1000).post(url, REQUEST).get(60, TimeUnit.SECONDS));
        assertInstanceOf(OcspFault.class, failure.getCause());
    }
}
