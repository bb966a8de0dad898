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
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sends the same requests to another proxy and to the product with the configuration that is imported from it. Status,
 * Location and the requests to the origin must be equal. Skipped if the other proxy is not installed.
 */
abstract class ImportSideBySideFixture {
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
            String answer = answer(ask);
            List<String> asked = new ArrayList<>();
            List<OriginRequest> all = origin.requests();
            for (OriginRequest request : all.subList(before, all.size())) {
                String edge = request.field("X-Edge");
                asked.add(request.method() + " " + request.target() + " " + request.field("Host")
                        + (edge == null ? "" : " X-Edge " + edge));
            }
            answers.add(answer + " " + asked);
        }
        return answers;
    }

    private String answer(Ask ask) throws IOException {
        StringBuilder text = new StringBuilder(ask.method + " " + ask.target + " HTTP/1.1\r\n");
        text.append("Host: ").append(ask.host).append("\r\nConnection: close\r\n");
        ask.fields.forEach(field -> text.append(field).append("\r\n"));
        text.append(ask.method.equals("POST") ? "Content-Length: 1\r\n\r\nx" : "\r\n");
        try (RawClient client = RawClient.connect("127.0.0.1", port)) {
            client.send(text.toString());
            RawResponse response = ask.method.equals("HEAD") ? client.responseToHead() : client.response();
            return response.status()
                    + (response.field("Location") == null ? "" : " to " + response.field("Location"))
                    + (response.field("X-Frame-Options") == null ? "" : " " + response.field("X-Frame-Options"))
                    + (response.field("X-Origin") == null ? "" : " " + response.field("X-Origin"));
        }
    }
}
