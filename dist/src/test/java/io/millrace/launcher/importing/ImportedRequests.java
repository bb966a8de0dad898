package io.millrace.launcher.importing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A proxy with an imported configuration, and requests of clients with any address. */
public final class ImportedRequests implements AutoCloseable {
    private final String yaml;
    private final ProxyServer proxy;

    /** Starts a proxy on any port of the loopback address. */
    public ImportedRequests(ImportResult result, Path directory) throws IOException {
        assertEquals(List.of(), result.problems());
        assertNotNull(result.yaml());
        yaml = result.yaml();
        ConfigResult config = ConfigLoader.parse(
                yaml,
                "millrace.yaml",
                directory,
                Map.of(
                        "listen",
                        "[{address: \"127.0.0.1:0\", proxy_protocol: require}]",
                        "access.proxy_protocol_allow",
                        "[127.0.0.1]",
                        "cache.ram_size",
                        "32MiB",
                        "log.access.enabled",
                        "false",
                        "worker.event_loops",
                        "1"));
        assertTrue(config.isOk(), config::text);
        proxy = ProxyServer.builder().config(config.config()).start();
    }

    /**
     * Returns the status of the answer to a request.
     *
     * @param client address of the client
     * @param fields header fields as {@code Name: value}
     */
    public String status(String method, String path, String client, String... fields) {
        return answer(method, path, client, fields).substring(9, 12);
    }

    /** Returns the answer to a request; the parameters are those of {@link #status}. */
    public String answer(String method, String path, String client, String... fields) {
        String version = client.contains(":") ? "TCP6 " + client + " ::1" : "TCP4 " + client + " 127.0.0.1";
        StringBuilder request = new StringBuilder("PROXY " + version + " 1024 80\r\n");
        request.append(method).append(' ').append(path).append(" HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n");
        for (String each : fields) {
            request.append(each).append("\r\n");
        }
        request.append("POST".equals(method) ? "Content-Length: 0\r\n\r\n" : "\r\n");
        InetSocketAddress address = proxy.addresses().get(0);
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Checks the status of requests.
     *
     * @param expected lines with method, client, path and status; without a method, it is GET. {@code ok} means that the
     *     request reaches an origin, which does not exist, so that the status is 502
     */
    public void assertAnswers(String expected) {
        for (String line : expected.strip().split("\\R", -1)) {
            String[] words = line.strip().split("\\s+", -1);
            int last = words.length - 1;
            String method = words.length == 4 ? words[0] : "GET";
            String status = status(method, words[last - 1], words[last - 2]);
            assertEquals(words[last], status.equals("502") ? "ok" : status, () -> line + "\n" + yaml);
        }
    }

    @Override
    public void close() {
        proxy.close();
    }
}
