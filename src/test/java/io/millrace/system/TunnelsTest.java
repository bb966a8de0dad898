package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the JDK's WebSocket client through a mapped rule, and CONNECT and a whole URL through the forward proxy. */
@Tag("nightly")
class TunnelsTest {
    private static final long WAIT_SECONDS = 20;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static ServerSocket chat;
    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        origin.serves("/", "the origin", "Cache-Control: max-age=3600");
        chat = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        Thread echo = new Thread(TunnelsTest::echoAll, "chat");
        echo.setDaemon(true);
        echo.start();
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                forward_proxy:
                  enabled: true
                  allow: 127.0.0.1
                  connect_ports: [%1$d]
                  allow_destinations: 127.0.0.1
                remap:
                  - map: /chat
                    to: http://127.0.0.1:%2$d/room
                    upgrade: [websocket]
                """.formatted(origin.port(), chat.getLocalPort()));
        proxy = product.launch().config(config).start();
    }

    @AfterAll
    static void stop() throws IOException {
        chat.close();
    }

    private static void echoAll() {
        while (!chat.isClosed()) {
            try (Socket socket = chat.accept()) {
                echo(socket);
            } catch (IOException | GeneralSecurityException e) {
                // The next frame, or the end.
            }
        }
    }

    /** Performs the handshake and sends every frame back unmasked, up to the closing one (RFC 6455 s4.2, s5.2). */
    private static void echo(Socket socket) throws IOException, GeneralSecurityException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        OutputStream out = socket.getOutputStream();
        String key = "";
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            key = line.startsWith("Sec-WebSocket-Key: ") ? line.substring(19) : key;
        }
        byte[] accept = MessageDigest.getInstance("SHA-1")
                .digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII));
        out.write(
                ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                                + Base64.getEncoder().encodeToString(accept) + "\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        int first;
        do {
            first = in.readUnsignedByte();
            int length = in.readUnsignedByte() & 0x7f;
            length = length == 126 ? in.readUnsignedShort() : length == 127 ? (int) in.readLong() : length;
            byte[] mask = in.readNBytes(4);
            byte[] payload = in.readNBytes(length);
            for (int i = 0; i < length; i++) {
                payload[i] ^= mask[i & 3];
            }
            out.write(first);
            out.write(
                    length < 126 ? new byte[] {(byte) length} : new byte[] {126, (byte) (length >>> 8), (byte) length});
            out.write(payload);
        } while ((first & 0xf) != 8);
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int octet = in.read(); octet != '\n'; octet = in.read()) {
            if (octet < 0) {
                throw new IOException("ended within a head");
            }
            line.append(octet == '\r' ? "" : String.valueOf((char) octet));
        }
        return line.toString();
    }

    /** Collects the received messages. */
    private static final class Heard implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();
        private final CompletableFuture<String> whole = new CompletableFuture<>();
        private final CompletableFuture<Integer> closed = new CompletableFuture<>();
        private final int expected;

        private Heard(int expected) {
            this.expected = expected;
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            text.append(data);
            if (text.length() >= expected) {
                whole.complete(text.toString());
            }
            socket.request(1);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            closed.complete(status);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            whole.completeExceptionally(error);
            closed.completeExceptionally(error);
        }
    }

    @Test
    void webSocketThroughARule() throws Exception {
        String message = "millrace ".repeat(6_000);
        Heard heard = new Heard(message.length());
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create("ws://127.0.0.1:" + proxy.port() + "/chat"), heard)
                .get(WAIT_SECONDS, TimeUnit.SECONDS);
        socket.sendText(message, true).get(WAIT_SECONDS, TimeUnit.SECONDS);
        assertEquals(message, heard.whole.get(WAIT_SECONDS, TimeUnit.SECONDS));
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get(WAIT_SECONDS, TimeUnit.SECONDS);
        assertEquals(WebSocket.NORMAL_CLOSURE, heard.closed.get(WAIT_SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void tunnelToAPortThatIsListed() throws Exception {
        String host = "127.0.0.1:" + origin.port();
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
            assertEquals("HTTP/1.1 200 Connection established", client.head().startLine());
            client.send("GET / HTTP/1.1\r\nHost: inside.example\r\n\r\n");
            assertEquals("the origin", client.response().text());
            client.shutdownOutput();
            assertTrue(client.reachesEnd());
        }
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n");
            RawResponse refused = client.response();
            assertEquals(403, refused.status());
            assertTrue(refused.field("Cache-Status").contains("forward:port"), refused::toString);
            assertTrue(client.reachesEnd());
        }
    }

    @Test
    void wholeUrlIsFetchedAndStored() throws Exception {
        for (int i = 0; i < 2; i++) {
            try (RawClient client = RawClient.connect(proxy.port())) {
                client.send("GET " + origin.url() + "/ HTTP/1.1\r\nHost: x\r\n\r\n");
                RawResponse response = client.response();
                assertEquals("the origin", response.text());
                assertEquals(i == 1, response.field("Cache-Status").contains("; hit"), response::toString);
            }
        }
        // This proxy itself is not a permitted destination.
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("GET http://127.0.0.1:" + proxy.port() + "/ HTTP/1.1\r\nHost: x\r\n\r\n");
            int status = client.response().status();
            assertTrue(status == 403 || status == 508, () -> "status " + status);
        }
    }
}
