package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig.ProxyProtocol;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests clients that connect to a Unix socket. */
class UnixListenerTest {
    private static final String GET = "GET /p HTTP/1.1\r\nHost: test.example\r\n\r\n";
    private static final String LAST = "GET /p HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private Path socket() {
        return directory.resolve("http.sock");
    }

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                request -> request.ok(
                        "Cache-Control: max-age=3600\r\n",
                        RawInput.latin1("for " + RawClient.field(request.head(), "x-forwarded-for"))),
                more::apply);
    }

    /** Sends requests, of which the last ends the connection, and returns all bytes of the responses. */
    private String send(String requests) throws IOException {
        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(socket()))) {
            client.write(ByteBuffer.wrap(requests.getBytes(StandardCharsets.ISO_8859_1)));
            return new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static String[] lines(Path log) {
        try {
            return Files.exists(log) ? Files.readString(log).lines().toArray(String[]::new) : new String[0];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void missAndHitAreServedAndTheLogNamesNoAddress() throws Exception {
        Path log = directory.resolve("access.log");
        start(config -> config.listen("unix:" + socket())
                .set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", "%<chi> %<pssc>"));
        assertEquals("rw-rw----", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket())));
        String all = send(GET + LAST);
        assertEquals(2, all.split("for unknown", -1).length - 1, all);
        assertTrue(all.contains("; hit"), all);
        ProxyExtension.await("two lines", () -> lines(log).length == 2);
        assertEquals("unix: 200", lines(log)[0]);
        proxy.proxy().close();
        assertFalse(Files.exists(socket()));
    }

    @Test
    void filtersAndTrustedProxiesNameTheSocketsPeers() throws Exception {
        start(config -> config.listen("unix:" + socket()).set("access.trusted_proxies", "unix:"));
        String all = send("GET /p HTTP/1.1\r\nHost: test.example\r\nX-Forwarded-For: 192.0.2.9\r\n"
                + "Connection: close\r\n\r\n");
        assertTrue(all.endsWith("for 192.0.2.9, unknown"), all);
    }

    @Test
    void aProxyHeaderFromATrustedSocketNamesTheClient() throws Exception {
        start(config ->
                config.listen("unix:" + socket(), ProxyProtocol.ACCEPT).set("access.proxy_protocol_allow", "unix:"));
        String all = send("PROXY TCP4 192.0.2.7 198.51.100.1 56324 80\r\n" + LAST);
        assertTrue(all.endsWith("for 192.0.2.7"), all);
    }

    @Test
    void aStaleSocketIsReplacedAndOneInUseIsNot() throws Exception {
        try (ServerSocketChannel earlier = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            earlier.bind(UnixDomainSocketAddress.of(socket()));
            IOException inUse =
                    assertThrows(IOException.class, () -> start(config -> config.listen("unix:" + socket())));
            assertTrue(inUse.getMessage().contains("is in use by another process"), inUse::getMessage);
        }
        assertTrue(Files.exists(socket()), "the JDK leaves the file");
        start(config -> config.listen("unix:" + socket()));
        assertTrue(send(LAST).endsWith("for unknown"));
    }

    @Test
    void aFileThatIsNoSocketIsKept() throws Exception {
        Files.writeString(socket(), "precious");
        IOException refused = assertThrows(IOException.class, () -> start(config -> config.listen("unix:" + socket())));
        assertTrue(refused.getMessage().contains("is no socket"), refused::getMessage);
        assertEquals("precious", Files.readString(socket()));
    }
}
