package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sends the same requests to another proxy and to the product with the configuration that is imported from it. Status,
 * key fields, contents and the requests to the origin must be equal. A response without a request to the origin is a
 * hit. Skipped if the other proxy is not installed.
 */
abstract class ImportSideBySideFixture {
    /** Fields of every response that are compared. */
    private static final List<String> FIELDS = List.of("Location", "X-Frame-Options", "X-Origin");

    /** Fields of successful responses that are compared. */
    private static final List<String> CONTENT_FIELDS = List.of(
            "Vary",
            "Content-Encoding",
            "Content-Type",
            "Content-Length",
            "Content-Range",
            "ETag",
            "Last-Modified",
            "Set-Cookie",
            "Cache-Control",
            "Expires");

    private static final List<String> KINDS = List.of(
            "fresh",
            "public",
            "shared",
            "etag",
            "dated",
            "expires",
            "expired",
            "private",
            "no-store",
            "zero",
            "typed",
            "language",
            "moved",
            "gone",
            "error");

    private record Ask(String method, String host, String target, List<String> fields) {}

    private final String name;
    private final List<String> places;
    private final ScriptedOrigin origin = new ScriptedOrigin();
    private final List<Ask> asks = new ArrayList<>();

    @TempDir
    private Path root;

    private int port;
    private String program = "";

    /** @param places paths of the program on usual systems */
    ImportSideBySideFixture(String name, List<String> places) {
        this.name = name;
        this.places = places;
    }

    /** Returns the command that runs the other proxy in the foreground, without a daemon. */
    abstract List<String> command(String program, Path file);

    /** Imports the file. */
    abstract ImportResult read(Path file);

    /** Returns the fields that differ on purpose, as the guide says. */
    Set<String> differentFields() {
        return Set.of();
    }

    /** Returns the kinds of responses whose storing differs on purpose, as the guide says. */
    Set<String> differentKinds() {
        return Set.of();
    }

    /** Returns what the imported file cannot contain, such as addresses. */
    Map<String, String> settings() {
        return Map.of();
    }

    @BeforeEach
    void startOrigin() {
        program = places.stream()
                .filter(place -> Files.isExecutable(Path.of(place)))
                .findFirst()
                .orElse("");
        Assumptions.assumeFalse(program.isEmpty(), () -> "SKIPPED: " + name + " is not installed");
        origin.start();
        port = PackedProduct.freePort();
    }

    @AfterEach
    void stopOrigin() {
        origin.stop();
    }

    ScriptedOrigin origin() {
        return origin;
    }

    Path root() {
        return root;
    }

    int port() {
        return port;
    }

    /** Returns the number of requests. */
    int asked() {
        return asks.size();
    }

    void ask(String method, String host, String target, String... fields) {
        asks.add(new Ask(method, host, target, List.of(fields)));
    }

    void get(String host, String... targets) {
        for (String target : targets) {
            ask("GET", host, target);
        }
    }

    /** Compares the results; ROOT, PORT, THERE (the origin's port) and ORIGIN stand for values of the test. */
    void compare(String configuration) throws Exception {
        Path file = root.resolve(name + ".conf");
        Files.writeString(
                file,
                configuration
                        .replace("ROOT", root.toString())
                        .replace("PORT", Integer.toString(port))
                        .replace("THERE", Integer.toString(origin.port()))
                        .replace("ORIGIN", "127.0.0.1:" + origin.port()));
        List<String> there = ofOther(file);
        ImportResult result = read(file);
        List<String> here;
        try (ProxyServer proxy = ProxyServer.builder().config(config(result)).start()) {
            assertEquals(port, proxy.addresses().get(0).getPort());
            here = answers();
        }
        List<String> different = new ArrayList<>();
        for (int i = 0; i < asks.size(); i++) {
            if (!there.get(i).equals(here.get(i))) {
                different.add(asks.get(i) + "\n  there: " + there.get(i) + "\n  here:  " + here.get(i));
            }
        }
        assertEquals(List.of(), different, () -> String.join("\n", different) + "\n" + result.yaml());
    }

    private List<String> ofOther(Path file) throws Exception {
        Process started = new ProcessBuilder(command(program, file))
                .redirectErrorStream(true)
                .redirectOutput(root.resolve("output.log").toFile())
                .start();
        try {
            await(name + " answers").atMost(Duration.ofSeconds(60)).until(() -> {
                if (!started.isAlive()) {
                    throw new IllegalStateException(name + " ended: " + Files.readString(root.resolve("output.log")));
                }
                return isListening();
            });
            return answers();
        } finally {
            started.destroy();
            if (!started.waitFor(20, TimeUnit.SECONDS)) {
                started.descendants().forEach(ProcessHandle::destroyForcibly);
                started.destroyForcibly().waitFor();
            }
        }
    }

    private boolean isListening() {
        try {
            RawClient.connect("127.0.0.1", port).close();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private ProxyConfig config(ImportResult result) {
        Map<String, String> own = new java.util.HashMap<>(Map.of(
                "worker.event_loops", "1", "cache.ram_size", "32MiB", "storage", "[]", "log.access.enabled", "false"));
        own.putAll(settings());
        ConfigResult config =
                ConfigLoader.parse(String.valueOf(result.yaml()), "millrace.yaml", root.toAbsolutePath(), own);
        assertTrue(config.isOk(), () -> result.problems() + config.text());
        return config.config();
    }

    private List<String> answers() throws IOException {
        List<String> answers = new ArrayList<>();
        for (Ask ask : asks) {
            int before = origin.requests().size();
            RawResponse response = answer(ask);
            List<String> asked = new ArrayList<>();
            List<OriginRequest> all = origin.requests();
            for (OriginRequest request : all.subList(before, all.size())) {
                String edge = request.field("X-Edge");
                asked.add(request.method() + " " + request.target() + " " + request.field("Host")
                        + (edge == null ? "" : " X-Edge " + edge));
            }
            answers.add(text(ask, response, asked.isEmpty()) + " " + asked);
        }
        return answers;
    }

    private RawResponse answer(Ask ask) throws IOException {
        StringBuilder text = new StringBuilder(ask.method + " " + ask.target + " HTTP/1.1\r\n");
        text.append("Host: ").append(ask.host).append("\r\nConnection: close\r\n");
        ask.fields.forEach(field -> text.append(field).append("\r\n"));
        text.append(ask.method.equals("POST") ? "Content-Length: 1\r\n\r\nx" : "\r\n");
        try (RawClient client = RawClient.connect("127.0.0.1", port)) {
            client.send(text.toString());
            return ask.method.equals("HEAD") ? client.responseToHead() : client.response();
        }
    }

    private String text(Ask ask, RawResponse response, boolean hit) {
        StringBuilder text = new StringBuilder().append(response.status());
        FIELDS.forEach(name -> append(text, response, name));
        if (response.status() < 300) {
            CONTENT_FIELDS.stream()
                    .filter(name -> !differentFields().contains(name))
                    .forEach(name -> append(text, response, name));
            if (hit && !differentFields().contains("Age")) {
                text.append(response.field("Age") == null ? " no Age" : " Age");
            }
            text.append(ask.method.equals("HEAD") ? "" : " content " + response.text());
        }
        return text.toString();
    }

    private static void append(StringBuilder text, RawResponse response, String name) {
        if (response.field(name) != null) {
            text.append(' ').append(name).append(": ").append(response.joined(name));
        }
    }

    /**
     * Makes the origin serve the usual kinds of cacheable and other responses below a path.
     *
     * @param more field lines of every response
     */
    void serveKinds(String below, String... more) {
        Map<String, List<String>> kinds = new LinkedHashMap<>();
        String ranges = "Accept-Ranges: bytes";
        kinds.put("fresh", List.of("Cache-Control: max-age=600", ranges));
        kinds.put("public", List.of("Cache-Control: public, max-age=600"));
        kinds.put("shared", List.of("Cache-Control: s-maxage=600"));
        kinds.put("etag", List.of("Cache-Control: max-age=600", "ETag: \"v1\"", ranges));
        kinds.put(
                "dated", List.of("Cache-Control: max-age=600", "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", ranges));
        kinds.put("expires", List.of("Expires: Fri, 01 Jan 2100 00:00:00 GMT"));
        kinds.put("expired", List.of("Expires: Mon, 01 Jan 1990 00:00:00 GMT"));
        kinds.put("private", List.of("Cache-Control: private, max-age=600"));
        kinds.put("no-store", List.of("Cache-Control: no-store"));
        kinds.put("zero", List.of("Cache-Control: max-age=0"));
        kinds.put("typed", List.of("Cache-Control: max-age=600", "Content-Type: application/json"));
        kinds.put("language", List.of("Cache-Control: max-age=600", "Vary: Accept-Language"));
        kinds.forEach((name, fields) -> {
            List<String> all = new ArrayList<>(List.of(more));
            all.addAll(fields);
            origin().serves(below + name, "body of " + name, all.toArray(String[]::new));
        });
        List<String> age = new ArrayList<>(List.of(more));
        age.add("Cache-Control: max-age=600");
        String[] moved = withField(age, "Location: http://a.example/elsewhere");
        origin().on(below + "moved", exchange -> exchange.answer(301, "", moved));
        origin().on(below + "gone", exchange -> exchange.answer(404, "gone", age.toArray(String[]::new)));
        origin().on(below + "error", exchange -> exchange.answer(500, "error", more));
        origin().on(below + "coded", exchange -> {
            boolean gzip =
                    String.valueOf(exchange.request().field("Accept-Encoding")).contains("gzip");
            List<String> fields = new ArrayList<>(age);
            fields.add("Vary: Accept-Encoding");
            if (gzip) {
                fields.add("Content-Encoding: gzip");
            }
            exchange.answer(200, gzip ? "packed" : "plain", fields.toArray(String[]::new));
        });
    }

    private static String[] withField(List<String> fields, String line) {
        List<String> all = new ArrayList<>(fields);
        all.add(line);
        return all.toArray(String[]::new);
    }

    /** Asks for each kind of response twice, with a query twice, by HEAD, and conditionally. */
    void askForKinds(String host, String below) {
        for (String name : KINDS) {
            if (differentKinds().contains(name)) {
                continue;
            }
            get(host, below + name, below + name, below + name + "?v=2", below + name + "?v=2");
        }
        // The other proxies ask the origin with GET if the response is not stored.
        for (String name : List.of("fresh", "public", "etag", "dated", "typed")) {
            ask("HEAD", host, below + name);
        }
        for (String name : List.of("fresh", "etag", "dated")) {
            ask("GET", host, below + name, "If-None-Match: \"v1\"");
            ask("GET", host, below + name, "If-None-Match: \"v2\"");
            ask("GET", host, below + name, "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT");
            ask("GET", host, below + name, "Range: bytes=0-3");
            ask("GET", host, below + name, "Range: bytes=5-");
        }
        for (String language : List.of("de", "fr", "de", "fr")) {
            ask("GET", host, below + "language", "Accept-Language: " + language);
        }
        for (String fields : List.of(
                "Cookie: a=b",
                "Accept-Encoding: gzip",
                "Cache-Control: no-cache",
                "Pragma: no-cache",
                "User-Agent: x")) {
            ask("GET", host, below + "fresh", fields);
            ask("GET", host, below + "no-store", fields);
        }
        ask("POST", host, below + "fresh");
        ask("DELETE", host, below + "no-store");
        ask("OPTIONS", host, below + "no-store");
    }
}
