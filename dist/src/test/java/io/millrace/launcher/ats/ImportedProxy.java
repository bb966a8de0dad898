package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A proxy with an imported configuration, and an origin that records its requests. */
final class ImportedProxy implements AutoCloseable {
    private final Path directory;
    private final Samples samples;
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final HttpServer origin;
    private @Nullable ProxyServer proxy;

    ImportedProxy(Path directory) throws IOException {
        this.directory = directory;
        samples = new Samples(directory);
        origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        origin.createContext("/", this::answer);
        origin.start();
    }

    Samples samples() {
        return samples;
    }

    /** Returns the requests that the origin received: method, target and Host. */
    List<String> asked() {
        return asked;
    }

    String lastAsked() {
        return asked.isEmpty() ? "" : asked.get(asked.size() - 1);
    }

    /** Returns the origin's port. */
    int port() {
        return origin.getAddress().getPort();
    }

    /**
     * Answers with the requested host; {@code missing} with 404, {@code moved} with a redirection to another path,
     * {@code fresh} with a lifetime.
     */
    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().toString();
        String host = exchange.getRequestHeaders().getFirst("Host");
        asked.add(exchange.getRequestMethod() + " " + path + " " + host);
        byte[] body = ("origin of " + path).getBytes(StandardCharsets.UTF_8);
        int status = path.contains("missing") ? 404 : path.contains("moved") ? 302 : 200;
        if (status == 302) {
            String there = path.substring(0, path.lastIndexOf('/') + 1) + "elsewhere";
            String self = host.endsWith(":" + port()) ? host : "127.0.0.1:" + port();
            exchange.getResponseHeaders().set("Location", "http://" + self + there);
        }
        if (path.contains("fresh")) {
            exchange.getResponseHeaders().set("Cache-Control", "max-age=600");
        }
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** Starts a proxy with the imported configuration and little memory. */
    void start(Map<String, String> overrides) throws IOException {
        String yaml = String.valueOf(samples.result().yaml());
        Map<String, String> all = new HashMap<>(overrides);
        all.putIfAbsent("cache.ram_size", "32MiB");
        all.putIfAbsent("log.access.enabled", "false");
        all.putIfAbsent("worker.event_loops", "1");
        ConfigResult result = ConfigLoader.parse(yaml, "millrace.yaml", directory, all);
        assertTrue(result.isOk(), () -> samples.result().problems() + result.text());
        proxy = ProxyServer.builder().config(result.config()).start();
    }

    /** Starts the proxy on any port. */
    void start() throws IOException {
        start(Map.of("listen", "[\"127.0.0.1:0\"]"));
    }

    List<InetSocketAddress> addresses() {
        ProxyServer started = proxy;
        return started == null ? List.of() : started.addresses();
    }

    /** Returns all bytes received from an address until the connection ends. */
    String ask(InetSocketAddress address, String request) throws IOException {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    String ask(String request) throws IOException {
        return ask(addresses().get(0), request);
    }

    String ask(String method, String path, String host, String... fields) throws IOException {
        return ask(method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n"
                + String.join("", fields) + "\r\n");
    }

    String get(String path, String host, String... fields) throws IOException {
        return ask("GET", path, host, fields);
    }

    /** Stops the proxy, so that its log is complete. */
    void stop() {
        ProxyServer started = proxy;
        if (started != null) {
            started.close();
        }
    }

    @Override
    public void close() {
        stop();
        origin.stop(0);
    }
}
