package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A proxy with one Wasm extension, in front of an origin that answers with the request fields {@code x-wasm} and
 * {@code x-status}. Responses below {@code /c} may be stored.
 */
final class WasmProxy implements AutoCloseable {
    private final HttpClient client = HttpClient.newHttpClient();
    private final HttpServer origin;
    private final ExecutorService originThreads = Executors.newCachedThreadPool();
    private final ProxyServer proxy;

    /** Paths that the origin was asked for. */
    final List<String> asked = new CopyOnWriteArrayList<>();

    private WasmProxy(Path directory, Class<?> extension, String entry, String config, HttpHandler handler)
            throws IOException {
        origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        origin.createContext("/", exchange -> {
            asked.add(exchange.getRequestURI().getPath());
            handler.handle(exchange);
            exchange.close();
        });
        origin.setExecutor(originThreads);
        origin.start();
        String file = directory.resolve("millrace.yaml").toString();
        String text = "listen: ['127.0.0.1:0']\nworker: {event_loops: 1}\nlog: {access: {enabled: false}}\n"
                + "remap: [{map: /, to: 'http://127.0.0.1:"
                + origin.getAddress().getPort() + "/'}]\n"
                + "extensions: [{name: filter, class: " + extension.getName() + entry + ", config: " + config + "}]\n";
        ConfigResult result = ConfigLoader.parse(text, file, directory, Map.of());
        try {
            assertNotNull(result.config(), result::text);
            proxy = ProxyServer.builder().config(result.config()).start();
        } catch (IOException | RuntimeException | Error e) {
            originThreads.shutdownNow();
            origin.stop(0);
            throw e;
        }
    }

    /** Answers with the fields of the request. */
    private static void answer(HttpExchange exchange) throws IOException {
        String text = "wasm=" + exchange.getRequestHeaders().getFirst("x-wasm") + " status="
                + exchange.getRequestHeaders().getFirst("x-status") + " remove="
                + exchange.getRequestHeaders().getFirst("x-remove");
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        boolean isStorable = exchange.getRequestURI().getPath().startsWith("/c");
        exchange.getResponseHeaders().set("Cache-Control", isStorable ? "max-age=600" : "no-store");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
    }

    /** Starts a proxy. The configuration names files of the directory. */
    static WasmProxy start(Path directory, String config) throws IOException {
        return start(directory, ProxyWasmExtension.class, "", config);
    }

    /** As {@link #start}, with further keys of the entry, such as {@code ", on_error: open"}. */
    static WasmProxy start(Path directory, Class<?> extension, String entry, String config) throws IOException {
        return start(directory, extension, entry, config, WasmProxy::answer);
    }

    /** As {@link #start}, with another origin. */
    static WasmProxy start(Path directory, Class<?> extension, String entry, String config, HttpHandler origin)
            throws IOException {
        return new WasmProxy(directory, extension, entry, config, origin);
    }

    /** Copies a module of the test to a directory. */
    static void copy(String module, Path to) throws IOException {
        Files.write(to, bytes(module));
    }

    /** The bytes of a module of the test. */
    static byte[] bytes(String module) throws IOException {
        try (InputStream in = WasmProxy.class.getResourceAsStream(module)) {
            assertNotNull(in, module);
            return in.readAllBytes();
        }
    }

    /** Gets a path with fields, as names and values in turn. */
    HttpResponse<String> get(String path, String... fields) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path));
        for (int i = 0; i < fields.length; i += 2) {
            request.header(fields[i], fields[i + 1]);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Sends HEAD for a path. */
    HttpResponse<String> head(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                .method("HEAD", HttpRequest.BodyPublishers.noBody())
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    int port() {
        return proxy.addresses().get(0).getPort();
    }

    /** The value of a counter of the extension; -1 if the metrics have none. */
    long counter(String name) {
        return metric("millrace_extension_counter_total{", "counter=\"" + name + "\"");
    }

    /** The number of failures of a hook; -1 if the metrics have none. */
    long failures(String hook, String reason) {
        return metric("millrace_extension_failures_total{", "hook=\"" + hook + "\",reason=\"" + reason + "\"");
    }

    private long metric(String beginning, String part) {
        return proxy.metricsText()
                .lines()
                .filter(line -> line.startsWith(beginning) && line.contains(part))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElse(-1);
    }

    @Override
    public void close() {
        proxy.close();
        originThreads.shutdownNow();
        origin.stop(0);
    }
}
