package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.ats.AtsImport;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sends the same requests to Traffic Server and to the product with the configuration that {@code millctl import ats}
 * creates from its directory. Status, Location and the requests to the origin must be equal, except where
 * docs/guide/moving-from-traffic-server.md states a difference. Skipped if Traffic Server is not installed.
 */
abstract class SideBySideFixture {
    private static final String CLOSED = "403";

    final ScriptedOrigin origin = new ScriptedOrigin();
    final ScriptedOrigin other = new ScriptedOrigin();
    final Map<String, String> files = new LinkedHashMap<>();
    final List<Ask> asks = new ArrayList<>();

    @TempDir
    Path root;

    private int port;
    private int second;

    /**
     * @param differs why the responses may differ; empty if they must be equal
     */
    record Ask(String from, String method, String host, String target, List<String> fields, String differs) {
        @Override
        public String toString() {
            return method + " " + target + " of " + host + " from " + from + (fields.isEmpty() ? "" : " " + fields);
        }
    }

    @BeforeAll
    static void assumeInstalled() {
        TrafficServer.assumeInstalled();
    }

    @BeforeEach
    void newDirectory() {
        origin.start();
        other.start();
        port = PackedProduct.freePort();
        second = PackedProduct.freePort();
        file("records.config", "CONFIG proxy.config.http.server_ports STRING PORT SECOND");
        file("storage.config", "ROOT/cache 256M");
    }

    @AfterEach
    void stopOrigins() {
        origin.stop();
        other.stop();
    }

    /** Writes a file; ORIGIN and OTHER stand for the origins' authorities, PORT and SECOND for the ports. */
    void file(String name, String... lines) {
        files.put(name, String.join("\n", lines) + "\n");
    }

    private String filled(String text) {
        return text.replace("ORIGIN", "127.0.0.1:" + origin.port())
                .replace("OTHER", "127.0.0.1:" + other.port())
                .replace("PORT", Integer.toString(port))
                .replace("SECOND", Integer.toString(second))
                .replace("THERE", Integer.toString(origin.port()))
                .replace("ROOT", root.toString());
    }

    void ask(String method, String host, String target, String... fields) {
        asks.add(new Ask("127.0.0.1", method, host, target, List.of(fields), ""));
    }

    void get(String host, String... targets) {
        for (String target : targets) {
            ask("GET", host, target);
        }
    }

    /** States that the last request has another response, and why. */
    void differs(String why) {
        Ask last = asks.remove(asks.size() - 1);
        asks.add(new Ask(last.from, last.method, last.host, last.target, last.fields, why));
    }

    void compare() throws IOException {
        Files.createDirectories(root.resolve("etc"));
        for (Map.Entry<String, String> file : files.entrySet()) {
            String own = file.getKey().equals("records.config") ? TrafficServer.SMALL : "";
            Files.writeString(root.resolve("etc").resolve(file.getKey()), filled(file.getValue()) + own);
        }
        List<String> there;
        try (TrafficServer server = TrafficServer.start(root, port)) {
            if (files.containsKey("hosts")) {
                // Traffic Server reads the file after a delay.
                Ask first = asks.get(0);
                Ask other = new Ask(first.from, "HEAD", first.host, "/not-asked-for", List.of(), "");
                await("names of its own").atMost(Duration.ofSeconds(60)).until(() -> !answer(other, true)
                        .startsWith("50"));
            }
            there = answers(true);
            assertTrue(server.isAlive());
        }
        ImportResult result = AtsImport.read(root.resolve("etc"), root);
        List<String> here;
        try (ProxyServer proxy = ProxyServer.builder().config(config(result)).start()) {
            assertEquals(port, proxy.addresses().get(0).getPort());
            here = answers(false);
        }
        List<String> different = new ArrayList<>();
        for (int i = 0; i < asks.size(); i++) {
            if (!there.get(i).equals(here.get(i)) && asks.get(i).differs.isEmpty()) {
                different.add(asks.get(i) + "\n  there: " + there.get(i) + "\n  here:  " + here.get(i));
            }
        }
        assertEquals(
                List.of(),
                different,
                () -> String.join("\n", different) + "\n" + result.yaml() + String.join("\n", files.values()));
    }

    private ProxyConfig config(ImportResult result) {
        Map<String, String> own = Map.of(
                "worker.event_loops", "1", "cache.ram_size", "32MiB", "storage", "[]", "log.access.enabled", "false");
        ConfigResult config = ConfigLoader.parse(
                String.valueOf(result.yaml()),
                "millrace.yaml",
                root.resolve("etc").toAbsolutePath(),
                own);
        assertTrue(config.isOk(), () -> result.problems() + config.text());
        return config.config();
    }

    private List<String> answers(boolean mayClose) throws IOException {
        List<String> answers = new ArrayList<>();
        for (Ask ask : asks) {
            int before = origin.requests().size();
            int beforeOther = other.requests().size();
            String answer = answer(ask, mayClose);
            List<String> asked = new ArrayList<>();
            asked(origin, before, asked);
            asked(other, beforeOther, asked);
            answers.add(answer + " " + asked);
        }
        return answers;
    }

    private static void asked(ScriptedOrigin by, int before, List<String> asked) {
        List<OriginRequest> all = by.requests();
        for (OriginRequest request : all.subList(before, all.size())) {
            asked.add(request.method() + " " + request.target() + " " + request.field("Host") + " at " + by.port());
        }
    }

    private String answer(Ask ask, boolean mayClose) throws IOException {
        StringBuilder text = new StringBuilder(ask.method + " " + ask.target + " HTTP/1.1\r\n");
        text.append("Host: ").append(ask.host).append("\r\nConnection: close\r\n");
        ask.fields.forEach(field -> text.append(field).append("\r\n"));
        boolean content = List.of("POST", "PUT").contains(ask.method);
        text.append(content ? "Content-Length: 1\r\n\r\nx" : "\r\n");
        boolean secondPort = ask.fields.contains("X-Port: second");
        try (RawClient client = RawClient.connect(ask.from, secondPort ? second : port)) {
            client.send(text.toString());
            RawResponse response = ask.method.equals("HEAD") ? client.responseToHead() : client.response();
            return response.status() + (response.field("Location") == null ? "" : " to " + response.field("Location"));
        } catch (IOException e) {
            // Traffic Server closes connections of addresses without any rights.
            if (!mayClose) {
                throw e;
            }
            return CLOSED;
        }
    }

    void fresh(String path, String... fields) {
        origin.on(path, exchange -> exchange.answer(200, "body", fields));
        other.on(path, exchange -> exchange.answer(200, "body", fields));
    }
}
