package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.fetch.Http2Origin;
import io.millrace.proxy.http2.Http2Client;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests responses of HTTP/2 origins that are aborted: clients detect it, and no part is used as the whole response. */
class Http2OriginFailuresTest {
    private static ProxyServer proxy(Http2Origin origin, String more) throws Exception {
        ConfigResult config = ConfigLoader.parse(
                "listen: [{address: '127.0.0.1:0', h2c: true}]\nstorage: []\n" + more
                        + "remap: [{map: /, to: 'http://127.0.0.1:" + origin.port()
                        + "/', origin: {http2: prior_knowledge}}]",
                "millrace.yaml",
                Map.of());
        assertNotNull(config.config(), config::text);
        return ProxyServer.builder().config(config.config()).start();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/cut-reset", "/cut-end", "/cut-length-reset", "/cut-length-end", "/cut-length-short"})
    void aResponseThatBreaksOffIsNotStored(String path) throws Exception {
        try (Http2Origin origin = new Http2Origin();
                ProxyServer proxy = proxy(origin, "");
                Http2Client client = new Http2Client(proxy.addresses().get(0))) {
            assertEquals("INTERNAL_ERROR", client.get(1, path).await(RST_STREAM).error());
            assertEquals("whole", client.get(3, path).response(3).text());
            assertEquals("whole", client.get(5, path).response(5).text());
            assertEquals(2, origin.requests(path));
        }
    }

    /** The access log has the protocol of the origin's response, and none for a hit. */
    @Test
    void theOriginsProtocolIsLogged(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("access.log");
        String log = "log: {access: {path: '" + file + "', format: '%<cquup> %<sshv> %<sssc>'}}\n";
        try (Http2Origin origin = new Http2Origin();
                ProxyServer proxy = proxy(origin, log);
                Http2Client client = new Http2Client(proxy.addresses().get(0))) {
            client.get(1, "/cut-length-end").await(RST_STREAM);
            client.get(3, "/cut-length-end").response(3);
            client.get(5, "/cut-length-end").response(5);
            ProxyExtension.await("three lines", () -> lines(file).size() == 3);
            assertEquals(
                    List.of("/cut-length-end HTTP/2.0 200", "/cut-length-end HTTP/2.0 200", "/cut-length-end - 000"),
                    lines(file));
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
