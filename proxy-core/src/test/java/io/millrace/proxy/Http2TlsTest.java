package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.request;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests HTTP/2 over TLS: its negotiation, and the permitted names. */
class Http2TlsTest {
    @TempDir
    static Path directory;

    private static TestCertificate certificate;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = TestCertificate.in(directory);
    }

    private void start(boolean http2) throws IOException {
        proxy.start(
                request -> request.ok("Cache-Control: max-age=600\r\n", ProxyExtension.content(40_000)),
                fresh -> fresh.listen(
                        "127.0.0.1:0",
                        ConfigValues.builder()
                                .set(ConfigKeys.LISTEN_CERTIFICATE, certificate.certificate())
                                .set(ConfigKeys.LISTEN_KEY, certificate.key())
                                .set(Http2Keys.LISTEN, http2)
                                .build()));
    }

    private SSLSocket connect(String sni, String... protocols) throws IOException {
        SSLSocket socket = (SSLSocket) certificate
                .trust()
                .getSocketFactory()
                .createSocket(
                        proxy.proxy().addresses().get(1).getAddress(),
                        proxy.proxy().addresses().get(1).getPort());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        if (!sni.isEmpty()) {
            parameters.setServerNames(List.of(new SNIHostName(sni)));
        }
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    @ParameterizedTest
    @CsvSource({
        "true, h2 http/1.1, h2",
        "true, http/1.1 h2, h2",
        "true, http/1.1, http/1.1",
        "true, spdy/3, ''",
        "true, '', ''",
        "false, h2 http/1.1, ''"
    })
    void alpnChooses(boolean http2, String offered, String chosen) throws Exception {
        start(http2);
        String[] protocols = offered.isEmpty() ? new String[0] : offered.split(" ");
        try (SSLSocket socket = connect("test.example", protocols)) {
            assertEquals(chosen, socket.getApplicationProtocol());
            if (!chosen.equals("h2")) {
                RawClient client = new RawClient(socket);
                for (int i = 0; i < 2; i++) {
                    assertArrayEquals(
                            ProxyExtension.content(40_000),
                            client.get("/a").response().content());
                }
                return;
            }
            Http2Client client = new Http2Client(socket);
            for (int id = 1; id < 7; id += 2) {
                String[] fields = request("GET", "/a");
                fields[3] = "https";
                assertArrayEquals(
                        ProxyExtension.content(40_000),
                        client.headers(id, true, fields).response(id).content());
            }
        }
    }

    /** RFC 9110 s7.4, RFC 9113 s9.1.1. */
    @ParameterizedTest
    @CsvSource({
        "test.example, test.example, 200",
        "test.example, TEST.example:443, 200",
        "other.example, other.example, 200",
        "other.example, test.example, 200",
        "test.example, other.example, 421",
        "'', other.example, 200"
    })
    void otherNamesAreMisdirected(String sni, String authority, int status) throws Exception {
        start(true);
        try (SSLSocket socket = connect(sni, "h2")) {
            String[] fields = request("GET", "/a");
            fields[3] = "https";
            fields[5] = authority;
            Http2Client client = new Http2Client(socket);
            assertEquals(status, client.headers(1, true, fields).response(1).status());
            assertEquals(status == 421 ? 1 : 0, proxy.counted(Counter.HTTP2_FAULT_MISDIRECTED));
            // The connection is valid for its own name.
            fields[5] = sni.isEmpty() ? "test.example" : sni;
            assertEquals(200, client.headers(3, true, fields).response(3).status());
        }
    }

    @Test
    void aConnectionIsCountedOnce() throws Exception {
        start(true);
        try (SSLSocket socket = connect("test.example", "h2")) {
            new Http2Client(socket).frame(Http2Client.PING, 0, 0, new byte[8]).await(Http2Client.PING);
            assertEquals(1, proxy.counted(Counter.CLIENT_CONNECTIONS));
            assertEquals(1, proxy.proxy().loops().get(0).connections().size());
        }
        ProxyExtension.await(
                "the end", () -> proxy.proxy().loops().get(0).connections().size() == 0);
    }
}
