package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.Millctl;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests each key of the sample configurations with a misspelling: one line has its place and a suggestion. */
@Tag("nightly")
class ConfigTypoTest {

    /** A sample with every key of the configuration. */
    private static final String SAMPLE = """
            # Everything that can be said.
            listen:
              - ":8080"
              - address: "127.0.0.1:8443"
                tls: {certificate: cert.pem, key: key.pem}
            remap:
              - map: http://sample.example/
                to: http://127.0.0.1:9000/
                pristine_host_hdr: true
                cache: {max_stale_age: 1h, heuristic_lm_factor: 0.2}
              - map: /
                to: http://127.0.0.1:9001/
            storage: [{path: cache, size: 64MiB}]
            store:
              sync_interval: 2s
              segment_size: 8MiB
              open_wait: 1s
            pristine_host_hdr: false
            cache:
              enabled: true
              ram_size: 32MiB
              max_object_size: 1GiB
              heuristic_lm_factor: 0.1
              heuristic_min_lifetime: 1h
              heuristic_max_lifetime: 1d
              max_stale_age: 7d
              required_headers: none
              ignore_client_no_cache: false
              ignore_client_max_age: false
              collapse_wait: 5s
              fill_window: 1MiB
            log:
              access:
                enabled: true
                path: access.log
                format: combined
                rotate_size: 100MiB
                rotate_interval: 1d
                rotate_keep: 3
            admin:
              socket: admin.sock
              listen: "127.0.0.1:8090"
              token_file: token
            timeouts:
              client_header: 30s
              client_keep_alive: 120s
              client_body: 30s
              origin_connect: 10s
              origin_first_byte: 30s
              origin_idle: 30s
              drain: 30s
            limits:
              request_line: 8KiB
              request_header: 32KiB
              response_header: 64KiB
              request_body: 1GiB
              connections: 10000
              requests_per_connection: 1000
            origin:
              connections_max: 256
              queue_max: 1024
              queue_wait: 10s
              keep_alive: 50s
              keep_alive_max: 64
            worker:
              event_loops: 2
              transport: auto
              heap_size: 256MiB
              heartbeat_interval: 1s
              heartbeat_timeout: 10s
            """;

    private static final Pattern KEY = Pattern.compile("(?<=^|[\\s{,])([a-z][a-z0-9_]*):(?=\\s|$)");

    /** One key of a file, 0-based line and column. */
    private record Key(String name, int line, int column) {}

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private static Path directory;
    private static MillraceProcess asked;

    @BeforeAll
    static void startAndWriteWhatTheSampleNames() throws IOException {
        // With a running launcher, millctl needs no second JVM for each check.
        asked = product.launch().origin(origin.url()).start();
        directory = product.newDirectory();
        for (String name : new String[] {"cert.pem", "key.pem", "token"}) {
            Path file = Files.writeString(directory.resolve(name), "longer than sixteen characters\n");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
    }

    @Test
    void sampleItselfHasNoProblem() throws Exception {
        Path file = Files.writeString(directory.resolve("millrace.yaml"), SAMPLE);
        Command check = asked.millctl("config", "check", file.toString());
        assertEquals(0, check.exitCode(), check::toString);
    }

    @Test
    void typoInAnyKeyOfTheSampleIsNamedWithPlaceAndSuggestion() throws Exception {
        assertEquals(List.of(), problemsWithTyposIn(SAMPLE));
    }

    @Test
    void typoInAnyKeyOfTheShippedFilesIsNamedWithPlaceAndSuggestion() throws Exception {
        try (Stream<Path> files = Files.walk(product.home().resolve("conf"))) {
            List<Path> shipped =
                    files.filter(file -> file.toString().endsWith(".yaml")).toList();
            assertFalse(shipped.isEmpty(), "the product should ship a sample configuration");
            for (Path file : shipped) {
                Command check = asked.millctl("config", "check", file.toString());
                assertEquals(0, check.exitCode(), check::toString);
                assertEquals(List.of(), problemsWithTyposIn(Files.readString(file)));
            }
        }
    }

    @Test
    void checkNeedsNoRunningProxy() throws Exception {
        Path file = Files.writeString(directory.resolve("offline.yaml"), SAMPLE.replace("  ram_size:", "  ram_szie:"));
        Command offline = product.millctl("config", "check", file.toString());
        Command online = asked.millctl("config", "check", file.toString());
        assertEquals(2, offline.exitCode(), offline::toString);
        assertEquals(1, problemLines(offline, file).size(), offline::toString);
        assertEquals(problemLines(online, file), problemLines(offline, file));
    }

    @Test
    void allProblemsAreToldAtOnce() throws Exception {
        Path file = Files.writeString(directory.resolve("three.yaml"), """
                lisen: [":8080"]
                remap: [{map: /, to: http://127.0.0.1:9000}]
                cache:
                  ram_szie: 1GiB
                  max_stale_age: forever
                """);
        Command check = asked.millctl("config", "check", file.toString());
        assertEquals(2, check.exitCode(), check::toString);
        List<String> lines = problemLines(check, file);
        assertEquals(3, lines.size(), check::toString);
        assertTrue(lines.get(0).startsWith(file + ":1:1: lisen: "), lines.get(0));
        assertTrue(lines.get(1).startsWith(file + ":4:3: cache.ram_szie: "), lines.get(1));
        assertTrue(lines.get(2).startsWith(file + ":5:18: cache.max_stale_age: "), lines.get(2));
    }

    @Test
    void brokenFileChangesNothingInARunningProxy() throws Exception {
        origin.on(
                "/",
                exchange -> exchange.answer(200, "for " + exchange.request().field("Host"), "Cache-Control: no-store"));
        origin.serves("/second/", "the second rule", "Cache-Control: no-store");
        String first = "remap:\n  - map: http://first.example/\n    to: " + origin.url() + "/\n";
        String second = "  - map: http://second.example/\n    to: " + origin.url() + "/second/\n";
        Path file = Files.writeString(directory.resolve("running.yaml"), first);
        MillraceProcess proxy = product.launch().config(file).start();
        long worker = proxy.worker().pid();
        assertEquals(200, ask(proxy, "first.example"));
        assertEquals(404, ask(proxy, "second.example"));

        Files.writeString(file, first + second + "cahce:\n  enabled: false\n");
        Command reload = proxy.millctl("config", "reload");
        assertEquals(2, reload.exitCode(), reload::toString);
        assertTrue((reload.out() + reload.err()).contains(file + ":6:1: cahce: "), reload::toString);
        assertTrue((reload.out() + reload.err()).contains("did you mean cache?"), reload::toString);
        Command json = proxy.millctl("config", "reload", "-o", "json");
        assertEquals(2, json.exitCode(), json::toString);
        assertFalse(json.json().at("ok").isTrue(), json::toString);
        assertEquals("cahce", json.json().at("problems.0.path").text(), json::toString);
        assertEquals(6, json.json().at("problems.0.line").number());

        assertEquals(200, ask(proxy, "first.example"));
        assertEquals(404, ask(proxy, "second.example"));
        Json status = proxy.millctl("status", "-o", "json").succeeds().json();
        assertEquals(worker, status.at("process.worker_pid").number());
        assertEquals("running", status.at("state").text());
        assertFalse(status.at("config.last_reload.ok").isTrue(), status::toString);

        Files.writeString(file, first + second);
        proxy.millctl("config", "reload").succeeds();
        assertEquals(200, ask(proxy, "first.example"));
        assertEquals(200, ask(proxy, "second.example"));
        assertTrue(proxy.status().at("config.last_reload.ok").isTrue());
    }

    private static int ask(MillraceProcess proxy, String host) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                    .response()
                    .status();
        }
    }

    private static List<String> problemsWithTyposIn(String text) throws IOException {
        List<Key> keys = keys(text);
        assertTrue(keys.size() > 3, "keys found: " + keys);
        List<String> problems = new ArrayList<>();
        for (Key key : keys) {
            String problem = checkTypo(text, key);
            if (!problem.isEmpty()) {
                problems.add(problem);
            }
        }
        return problems;
    }

    private static List<Key> keys(String text) {
        List<Key> keys = new ArrayList<>();
        String[] lines = text.split("\n", -1);
        for (int line = 0; line < lines.length; line++) {
            int comment = lines[line].indexOf('#');
            Matcher key = KEY.matcher(comment < 0 ? lines[line] : lines[line].substring(0, comment));
            while (key.find()) {
                keys.add(new Key(key.group(1), line, key.start(1)));
            }
        }
        return keys;
    }

    /** Returns an empty text if the report about one misspelt key is correct. */
    private static String checkTypo(String text, Key key) throws IOException {
        String typo = typo(key);
        String[] lines = text.split("\n", -1);
        String line = lines[key.line()];
        lines[key.line()] = line.substring(0, key.column())
                + typo
                + line.substring(key.column() + key.name().length());
        Path file = Files.writeString(
                directory.resolve("typo-" + key.line() + "-" + key.column() + ".yaml"), String.join("\n", lines));
        Command check = checkWithin(file);
        List<String> problems = problemLines(check, file);
        String place = file + ":" + (key.line() + 1) + ":" + (key.column() + 1) + ": ";
        boolean right = check.exitCode() == 2
                && problems.size() == 1
                && problems.get(0).startsWith(place)
                && problems.get(0).contains(typo)
                && problems.get(0).contains("did you mean " + key.name() + "?");
        return right ? "" : "for " + typo + " at " + place + " got " + check;
    }

    /** Like {@code bin/millctl}, which only starts a JVM. */
    private static Command checkWithin(Path file) {
        List<String> line = List.of(
                "config",
                "check",
                file.toString(),
                "--admin",
                asked.adminSocket().toString());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        ProcessEnvironment environment = new ProcessEnvironment(
                Map.of(), directory, directory, product.home(), false, InputStream.nullInputStream());
        int exitCode = Millctl.run(
                line.toArray(String[]::new),
                environment,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        return new Command(line, exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private static List<String> problemLines(Command check, Path file) {
        return (check.out() + check.err())
                .lines()
                .filter(line -> line.startsWith(file + ":"))
                .toList();
    }

    /** Returns one of three misspellings: a letter repeated, two letters swapped, or one omitted. */
    private static String typo(Key key) {
        String name = key.name();
        int middle = name.length() / 2;
        boolean swappable = name.charAt(middle - 1) != name.charAt(middle);
        int slip = (key.line() + key.column()) % 3;
        if (slip == 0 || !swappable || name.length() < 4) {
            return name.substring(0, middle) + name.charAt(middle) + name.substring(middle);
        }
        if (slip == 1) {
            return name.substring(0, middle - 1)
                    + name.charAt(middle)
                    + name.charAt(middle - 1)
                    + name.substring(middle + 1);
        }
        return name.substring(0, middle) + name.substring(middle + 1);
    }
}
