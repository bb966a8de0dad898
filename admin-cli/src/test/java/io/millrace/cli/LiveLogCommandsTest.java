package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands for requests of a running proxy, with the answers of its admin API. */
final class LiveLogCommandsTest {
    private static final String OPENED = "{\"viewer\":\"v1\",\"lost\":0,\"records\":[]}";

    @TempDir
    private Path directory;

    private int pauses;

    private Path socket() {
        return directory.resolve("admin.sock");
    }

    private Run run(int repetitions, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--admin");
        all.add(socket().toString());
        return Run.of(
                new ProcessEnvironment(Map.of(), directory, directory.resolve("run"), null, false),
                time -> pauses++ < repetitions,
                all.toArray(String[]::new));
    }

    private ScriptedAdmin admin(String... responses) throws IOException {
        Files.deleteIfExists(socket());
        List<String> all = new ArrayList<>();
        for (String response : responses) {
            all.add(
                    response.startsWith("{\"error\"")
                            ? ScriptedAdmin.response(404, response)
                            : ScriptedAdmin.response(200, response));
        }
        return ScriptedAdmin.inTurn(socket(), all);
    }

    private static String record(int number, String path) {
        return "{\"time\":\"2026-11-28T10:00:00.123Z\",\"duration_ms\":12,\"client\":\"192.0.2.7\","
                + "\"result\":\"TCP_MISS\",\"cache\":\"uri-miss\",\"status\":200,\"method\":\"GET\","
                + "\"url\":\"http://a.example" + path + "\",\"duration_us\":12345,\"first_byte_us\":2500000,"
                + "\"number\":" + number + "}";
    }

    private static String batch(int lost, String... records) {
        return "{\"viewer\":\"v1\",\"lost\":" + lost + ",\"records\":[" + String.join(",", records) + "]}";
    }

    private static String line(String time, String path) {
        return "2026-11-28T10:00:00.123Z 200 TCP_MISS        " + " ".repeat(Math.max(0, 9 - time.length())) + time
                + " 192.0.2.7 GET http://a.example" + path + "\n";
    }

    @Test
    void followPrintsEachRequestOnceAndConfirmsIt() throws IOException {
        try (ScriptedAdmin admin =
                admin(OPENED, batch(0, record(1, "/a"), record(2, "/b")), batch(3, record(6, "/c")), batch(3))) {
            Run run = run(3, "log", "follow", "--where", "status == 200");
            assertEquals(line("12.3 ms", "/a") + line("12.3 ms", "/b") + line("12.3 ms", "/c"), run.out(), run.err());
            assertEquals(0, run.exitCode());
            assertTrue(run.err().contains("3 requests were lost"), run.err());
            assertTrue(admin.requests().get(0).startsWith("GET /v1/log/live?wait=0&where=status"));
            assertTrue(admin.requests().get(1).startsWith("GET /v1/log/live?wait=5&viewer=v1&after=0 "));
            assertTrue(admin.requests().get(2).startsWith("GET /v1/log/live?wait=5&viewer=v1&after=2 "));
            assertTrue(admin.requests().get(3).startsWith("GET /v1/log/live?wait=5&viewer=v1&after=6 "));
        }
    }

    @Test
    void followBeginsAgainWhenAnotherWorkerServes() throws IOException {
        String unknown = "{\"error\":{\"code\":\"unknown-viewer\",\"message\":\"m\"}}";
        try (ScriptedAdmin admin = admin(OPENED, unknown, OPENED.replace("v1", "v2"), batch(0, record(1, "/a")))) {
            Run run = run(2, "log", "follow");
            assertEquals(line("12.3 ms", "/a"), run.out(), run.err());
            assertTrue(run.err().contains("another worker serves"), run.err());
            assertTrue(admin.requests().get(3).startsWith("GET /v1/log/live?wait=5&viewer=v2&after=0 "));
        }
    }

    @Test
    void followEndsAfterTheCountAndPrintsObjects() throws IOException {
        try (ScriptedAdmin admin = admin(OPENED, batch(0, record(1, "/a"), record(2, "/b")))) {
            Run run = run(9, "log", "follow", "--count", "1", "-o", "json");
            assertEquals(record(1, "/a") + "\n", run.out(), run.err());
            assertEquals(2, admin.requests().size());
        }
        assertEquals(2, run(1, "log", "follow", "--count", "0").exitCode());
    }

    @Test
    void aWrongConditionIsMarked() throws IOException {
        String error = "{\"error\":{\"code\":\"bad-expression\",\"message\":\"where:1:8: no field 'x'\"}}";
        try (ScriptedAdmin admin = ScriptedAdmin.inTurn(socket(), List.of(ScriptedAdmin.response(400, error)))) {
            Run run = run(1, "log", "follow", "--where", "status x 5");
            assertEquals(2, run.exitCode());
            assertTrue(run.err().contains("status x 5\n"), run.err());
            assertTrue(run.err().contains("       ^"), run.err());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void keptRequestsAreListedOldestFirst() throws IOException {
        String kept = "{\"kind\":\"slow\",\"slow_threshold_ms\":1000,\"kept_requests\":200,\"records\":["
                + record(2, "/b") + "," + record(1, "/a") + "]}";
        try (ScriptedAdmin admin = admin(kept)) {
            assertEquals(
                    line("2.50 s", "/a") + line("2.50 s", "/b"),
                    run(0, "log", "slow").out());
            assertTrue(admin.requests().get(0).startsWith("GET /v1/log/kept?kind=slow&limit=200 "));
            assertEquals(kept + "\n", run(0, "log", "slow", "-o", "json").out());
        }
        assertEquals(2, run(0, "log", "failed", "--limit", "1001").exitCode());
    }

    @Test
    void anEmptyListSaysWhy() throws IOException {
        String none = "{\"kind\":\"failed\",\"slow_threshold_ms\":0,\"kept_requests\":200,\"records\":[]}";
        try (ScriptedAdmin admin = admin(none)) {
            assertEquals("no failed requests\n", run(0, "log", "failed").out());
            assertEquals(1, admin.requests().size());
        }
        try (ScriptedAdmin admin = admin(none.replace("failed", "slow"))) {
            assertEquals(
                    "no slow requests are kept: log.slow_threshold is 0\n",
                    run(0, "log", "slow").out());
            assertEquals(1, admin.requests().size());
        }
        try (ScriptedAdmin admin = admin(none.replace("200", "0").replace("failed", "refused"))) {
            assertEquals(
                    "no requests are kept: log.kept_requests is 0\n",
                    run(0, "log", "refused").out());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void controlCharactersDoNotReachTheTerminal() throws IOException {
        try (ScriptedAdmin admin = admin(OPENED, batch(0, record(1, "/\\u001b[2J\\u009b")))) {
            assertEquals(
                    line("12.3 ms", "/\\u001b[2J\\u009b"),
                    run(1, "log", "follow").out());
            assertEquals(2, admin.requests().size());
        }
    }
}
