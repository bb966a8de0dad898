package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.access.ListenerConfig.ProxyProtocol;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.ProxyProtocolVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests connections to origins that begin with the client's address. */
class ProxyProtocolOutTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    private static ConfigValues out(ProxyProtocolVersion version) {
        return ConfigValues.builder().set(ProxyProtocolKeys.OUT, version).build();
    }

    /** Answers with the first received line, which is the PROXY header if there is one. */
    private void start() throws IOException {
        proxy.start(
                request -> request.ok(
                        "Cache-Control: no-store\r\n",
                        RawInput.latin1(request.head().lines().findFirst().orElse(""))),
                config -> config.map("http://told.example/", proxy.origin().url(), out(ProxyProtocolVersion.V1))
                        .map("http://plain.example/", proxy.origin().url())
                        .listen("127.0.0.1:0", ProxyProtocol.ACCEPT)
                        .set("access.proxy_protocol_allow", "127.0.0.1"));
    }

    private static String get(String host) {
        return "GET /p HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    }

    private static String header(RawClient client) {
        return "PROXY TCP4 " + client.socket.getLocalAddress().getHostAddress() + " 127.0.0.1 "
                + client.socket.getLocalPort() + " " + client.socket.getPort();
    }

    /** A client's request is never sent on a connection that names another client. */
    @Test
    void everyRequestHasTheHeaderOfItsClient() throws Exception {
        start();
        try (RawClient one = proxy.client();
                RawClient two = RawClient.from("127.0.0.2", proxy.address())) {
            for (int i = 0; i < 3; i++) {
                for (RawClient client : new RawClient[] {one, two}) {
                    assertEquals(
                            header(client),
                            client.send(get("told.example")).response().text());
                    assertEquals(
                            "GET /p HTTP/1.1",
                            client.send(get("plain.example")).response().text());
                }
            }
        }
    }

    @Test
    void clientOfAHeaderIsPassedOn() throws Exception {
        start();
        try (RawClient client = new RawClient(proxy.proxy().addresses().get(1))) {
            String told = client.send("PROXY TCP4 192.0.2.7 198.51.100.1 56324 80\r\n" + get("told.example"))
                    .response()
                    .text();
            assertTrue(told.startsWith("PROXY TCP4 192.0.2.7 127.0.0.1 56324 "), told);
        }
    }

    @Test
    void version2IsBinary() throws Exception {
        try (ServerSocket origin = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<byte[]> header = CompletableFuture.supplyAsync(() -> firstBytes(origin));
            proxy.start(
                    request -> {},
                    config -> config.map(
                            "http://told.example/",
                            "http://127.0.0.1:" + origin.getLocalPort(),
                            out(ProxyProtocolVersion.V2)));
            try (RawClient client = proxy.client()) {
                assertEquals("ok", client.send(get("told.example")).response().text());
                byte[] bytes = header.get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
                assertEquals(0x21, bytes[12]);
                assertEquals(0x11, bytes[13]);
                assertEquals(127, bytes[16]);
                assertEquals(client.socket.getLocalPort(), ((bytes[24] & 0xff) << 8) | (bytes[25] & 0xff));
            }
        }
    }

    private static byte[] firstBytes(ServerSocket origin) {
        try (Socket socket = origin.accept()) {
            InputStream in = socket.getInputStream();
            byte[] header = in.readNBytes(28);
            new RawInput(in).readHead();
            socket.getOutputStream()
                    .write(RawInput.latin1("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
            return header;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
