package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the PROXY protocol from a load balancer, and to origins. */
class ProxyProtocolTest {
    private static final byte[] SIGNATURE = {13, 10, 13, 10, 0, 13, 10, 'Q', 'U', 'I', 'T', 10};

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;
    private static ServerSocket announced;

    @BeforeAll
    static void start() throws IOException {
        origin.on(
                "/",
                exchange -> exchange.answer(
                        200, String.valueOf(exchange.request().field("X-Forwarded-For")), "Cache-Control: no-store"));
        announced = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread acceptor = new Thread(ProxyProtocolTest::serveAnnounced, "announced-origin");
        acceptor.setDaemon(true);
        acceptor.start();
        int port = PackedProduct.freePort();
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                listen: [{address: "127.0.0.1:%1$d", proxy_protocol: accept}]
                access:
                  proxy_protocol_allow: 127.0.0.1
                  forwarded_fields: [x-forwarded-for]
                remap:
                  - map: http://only.example/
                    to: %2$s/
                    filters: [{action: allow, src_ip: 192.0.2.7}]
                  - {map: "http://open.example/", to: "%2$s/"}
                  - {map: "http://v1.example/", to: "http://127.0.0.1:%3$d/", proxy_protocol_out: v1}
                  - {map: "http://v2.example/", to: "http://127.0.0.1:%3$d/", proxy_protocol_out: v2}
                """.formatted(port, origin.url(), announced.getLocalPort()));
        proxy = product.launch().config(config).listeningByFile(port).start();
    }

    @AfterAll
    static void close() throws IOException {
        announced.close();
    }

    /** Answers with the bytes before the request. */
    private static void serveAnnounced() {
        while (!announced.isClosed()) {
            try (Socket socket = announced.accept()) {
                InputStream in = socket.getInputStream();
                StringBuilder before = new StringBuilder();
                while (before.indexOf("GET ") < 0) {
                    before.append((char) in.read());
                }
                new Wire(in).head();
                String header = before.substring(0, before.indexOf("GET "));
                byte[] body =
                        describe(header.getBytes(StandardCharsets.ISO_8859_1)).getBytes(StandardCharsets.ISO_8859_1);
                socket.getOutputStream()
                        .write(("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: " + body.length
                                        + "\r\n\r\n")
                                .getBytes(StandardCharsets.ISO_8859_1));
                socket.getOutputStream().write(body);
            } catch (IOException e) {
                // Closed.
            }
        }
    }

    private static String describe(byte[] header) throws IOException {
        if (header[0] == 'P') {
            return new String(header, StandardCharsets.US_ASCII).strip();
        }
        ByteBuffer in = ByteBuffer.wrap(header, SIGNATURE.length, header.length - SIGNATURE.length);
        int command = in.get() & 0xff;
        int family = in.get() & 0xff;
        byte[] source = new byte[4];
        in.getShort();
        in.get(source);
        return "v2 " + Integer.toHexString(command) + ' ' + Integer.toHexString(family) + ' '
                + InetAddress.getByAddress(source).getHostAddress();
    }

    private static byte[] version1(String source) {
        return ("PROXY TCP4 " + source + " 127.0.0.1 40000 80\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] version2(String source) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(28).put(SIGNATURE);
        out.put((byte) 0x21).put((byte) 0x11).putShort((short) 12);
        out.put(InetAddress.getByName(source).getAddress()).put(new byte[] {127, 0, 0, 1});
        return out.putShort((short) 40_000).putShort((short) 80).array();
    }

    private static RawClient send(RawClient client, byte[] header, String host) throws IOException {
        return client.send(header).send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    }

    @ParameterizedTest
    @CsvSource({"1, 192.0.2.7, 200", "2, 192.0.2.7, 200", "1, 192.0.2.8, 403", "2, 192.0.2.8, 403"})
    void theClientIsWhoTheHeaderNames(int version, String source, int status) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            byte[] header = version == 1 ? version1(source) : version2(source);
            RawResponse response = send(client, header, "only.example").response();
            assertEquals(status, response.status(), response::toString);
            if (status == 200) {
                assertEquals(source, response.text());
            }
        }
    }

    @Test
    void aConnectionWithoutAHeaderIsTheClientsOwn() throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            assertEquals(
                    "127.0.0.1",
                    send(client, new byte[0], "open.example").response().text());
            assertEquals(
                    403, send(client, new byte[0], "only.example").response().status());
        }
    }

    @Test
    void untrustedSendersOfAHeaderAreClosed() throws IOException {
        int before = origin.requests().size();
        try (RawClient client = RawClient.connect("127.0.0.2", proxy.port())) {
            assertTrue(send(client, version1("192.0.2.7"), "only.example").reachesEnd());
        }
        assertEquals(before, origin.requests().size());
    }

    @Test
    void theOriginLearnsTheClient() throws IOException {
        try (RawClient client = RawClient.connect("127.0.0.3", proxy.port())) {
            String first = send(client, new byte[0], "v1.example").response().text();
            assertTrue(first.matches("PROXY TCP4 127\\.0\\.0\\.3 127\\.0\\.0\\.1 \\d+ " + proxy.port()), first);
            assertEquals(
                    "v2 21 11 127.0.0.3",
                    send(client, new byte[0], "v2.example").response().text());
        }
        try (RawClient client = RawClient.connect(proxy.port())) {
            String told =
                    send(client, version1("192.0.2.7"), "v1.example").response().text();
            assertTrue(told.startsWith("PROXY TCP4 192.0.2.7 127.0.0.1 40000 "), told);
        }
    }
}
