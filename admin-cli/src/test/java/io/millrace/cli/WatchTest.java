package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.client.ScriptedAdmin.End;
import io.millrace.cli.command.Console;
import io.millrace.cli.command.GlobalOptions;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.ProcessEnvironment;
import io.millrace.cli.command.traffic.Screen;
import io.millrace.cli.command.traffic.TopCommand;
import io.millrace.cli.render.Paint;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests commands with --watch; the test sets the time between two repetitions. */
final class WatchTest {
    private static final String REPORT = "{\"previous_pid\":1}";

    @TempDir
    private Path directory;

    private final List<Duration> pauses = new ArrayList<>();

    private ProcessEnvironment environment() {
        return new ProcessEnvironment(Map.of(), directory, directory.resolve("run"), null, false);
    }

    /** Runs a command with this many repetitions. */
    private Run run(int more, String... arguments) {
        return Run.of(
                environment(),
                time -> {
                    pauses.add(time);
                    return pauses.size() <= more;
                },
                arguments);
    }

    private ScriptedAdmin admin(String answer) throws IOException {
        return ScriptedAdmin.on(directory.resolve("admin.sock"), End.CLOSE, ScriptedAdmin.response(200, answer));
    }

    @ParameterizedTest
    @CsvSource({"--watch, 2000", "-w, 2000", "--watch=0.5, 500", "-w 3, 3000", "--watch 10s, 10000"})
    void looksAgainAfterTheTimeGiven(String option, long millis) throws IOException {
        try (ScriptedAdmin admin = admin(REPORT)) {
            List<String> arguments = new ArrayList<>(List.of("--admin", directory.toString(), "server", "threads"));
            arguments.addAll(List.of(option.split(" ", -1)));
            Run run = run(2, arguments.toArray(String[]::new));
            assertEquals(0, run.exitCode(), run.err());
            assertEquals(3, admin.requests().size());
            assertEquals(Duration.ofMillis(millis), pauses.get(0));
        }
    }

    @Test
    void theWordAfterItIsNotTakenForTheTime() throws IOException {
        try (ScriptedAdmin admin = admin("{\"url\":\"u\",\"stored\":false,\"reason\":\"r\"}")) {
            Run run = run(0, "cache", "lookup", "--watch", "http://a/", "--admin", directory.toString(), "-o", "json");
            assertEquals(0, run.exitCode(), run.err());
            assertTrue(admin.requests().get(0).startsWith("GET /v1/cache/lookup?url=http://a/ "));
        }
    }

    @Test
    void eventsFollowAsksOnlyForNewerOnes() throws IOException {
        String event = "{\"events\":[{\"number\":NUMBER,\"at\":\"2026-11-28T10:00:00Z\",\"kind\":\"start\","
                + "\"severity\":\"info\",\"subject\":\"s\",\"text\":\"t\",\"more\":0}]}";
        List<String> answers = new ArrayList<>();
        for (String answer : List.of(event.replace("NUMBER", "7"), event.replace("NUMBER", "9"), "{\"events\":[]}")) {
            answers.add(ScriptedAdmin.response(200, answer));
        }
        Path socket = directory.resolve("admin.sock");
        try (ScriptedAdmin admin = ScriptedAdmin.inTurn(socket, answers)) {
            Run run = run(2, "events", "--follow", "--kind", "start", "--admin", socket.toString());
            assertEquals("2026-11-28 10:00:00  start                 s: t\n".repeat(2), run.out(), run.err());
            assertTrue(admin.requests().get(1).startsWith("GET /v1/events?limit=2000&after=7&kind=start "));
            assertTrue(admin.requests().get(2).startsWith("GET /v1/events?limit=2000&after=9&kind=start "));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"server restart", "tls renew www.example.com", "origin down a", "config reload"})
    void commandsThatChangeSomethingRefuseWatch(String command) {
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        words.addAll(List.of("--watch", "--admin", directory.toString()));
        Run run = run(5, words.toArray(String[]::new));
        assertEquals(2, run.exitCode());
        assertEquals("millctl: --watch is only for commands that change nothing\n", run.err());
    }

    @Test
    void continuesAfterOneMissingAnswer() throws IOException {
        ScriptedAdmin admin = admin(REPORT);
        Run run = Run.of(
                environment(),
                time -> {
                    pauses.add(time);
                    close(admin);
                    return pauses.size() < 3;
                },
                "server",
                "threads",
                "-w",
                "-o",
                "json",
                "--admin",
                directory.toString());
        assertEquals(REPORT + "\n", run.out());
        assertEquals(3, pauses.size());
        assertEquals(2, run.err().split("no process listens", -1).length - 1, run.err());
    }

    private static void close(ScriptedAdmin admin) {
        try {
            admin.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void theFirstLookMustSucceed() {
        Run run = run(5, "server", "threads", "--watch", "--admin", directory.toString());
        assertEquals(3, run.exitCode());
        assertEquals(List.of(), pauses);
    }

    @ParameterizedTest
    @CsvSource({"0", "0.01", "100000", "-1"})
    void aTimeThatIsNoneIsRefused(String seconds) {
        Run run = run(5, "server", "threads", "--watch=" + seconds, "--admin", directory.toString());
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("is not a number of seconds from 0.1 to 86400"), run.err());
    }

    @Test
    void topPrintsOneFrameWhereThereIsNoTerminal() throws IOException {
        try (ScriptedAdmin admin = admin("millrace_requests_active 2\n")) {
            Run run = run(9, "top", "--admin", directory.toString());
            assertEquals(0, run.exitCode(), run.err());
            assertTrue(
                    run.out().contains("requests  0.0/s           2 active      hits - now, - since the start\n"),
                    run.out());
            assertEquals(2, admin.requests().size());
            assertEquals(List.of(Duration.ofSeconds(1)), pauses);
            assertEquals(
                    2, run(9, "top", "--watch", "--admin", directory.toString()).exitCode());
        }
    }

    @Test
    void monitorShowsChangesAndStopsAfterTheCount() throws IOException {
        String metrics = "# TYPE millrace_requests_total counter\nmillrace_requests_total 5.0\n"
                + "# TYPE millrace_requests_active gauge\nmillrace_requests_active 2.0\n";
        try (ScriptedAdmin admin = admin(metrics)) {
            Run run = run(
                    9,
                    "metric",
                    "monitor",
                    "requests",
                    "requests_active",
                    "-i",
                    "1",
                    "-c",
                    "2",
                    "--admin",
                    directory.toString());
            assertEquals(0, run.exitCode(), run.err());
            String look = "   0.0/s  millrace_requests_total\n2 (+0.0)  millrace_requests_active\n";
            assertEquals(look + "\n" + look, run.out());
            assertEquals(3, admin.requests().size());
            assertEquals(List.of(Duration.ofSeconds(1), Duration.ofSeconds(1)), pauses);
        }
    }

    private static final String AWAY =
            "{\"error\":{\"code\":\"worker-down\",\"message\":\"the worker does not answer\"}}";

    /** An admin API that answers each repetition with the next response, and later ones with the last. */
    private final class Answers implements AutoCloseable {
        private final List<String> answers;
        private ScriptedAdmin admin;
        private int given;

        Answers(String... responses) throws IOException {
            answers = List.of(responses);
            admin = started();
        }

        private ScriptedAdmin started() throws IOException {
            Path socket = directory.resolve("admin.sock");
            Files.deleteIfExists(socket);
            return ScriptedAdmin.on(socket, End.CLOSE, answers.get(given));
        }

        void next() {
            try {
                admin.close();
                given = Math.min(given + 1, answers.size() - 1);
                admin = started();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() throws IOException {
            admin.close();
        }
    }

    private static String metrics(int requests) {
        return ScriptedAdmin.response(
                200, "# TYPE millrace_requests_total counter\nmillrace_requests_total " + requests + ".0\n");
    }

    @Test
    void watchingContinuesWithoutAWorker() throws IOException {
        String report = ScriptedAdmin.response(200, REPORT);
        try (Answers answers = new Answers(report, ScriptedAdmin.response(503, AWAY), report)) {
            Run run = Run.of(
                    environment(),
                    time -> {
                        pauses.add(time);
                        answers.next();
                        return pauses.size() < 3;
                    },
                    "server",
                    "threads",
                    "-w",
                    "-o",
                    "json",
                    "--admin",
                    directory.toString());
            assertEquals(REPORT + "\n" + AWAY + "\n" + REPORT + "\n", run.out());
            assertEquals("millctl: the worker does not answer (worker-down); retrying\n", run.err());
            assertEquals(0, run.exitCode());
        }
    }

    @Test
    void aPermanentRefusalEndsTheWatch() throws IOException {
        String refused =
                ScriptedAdmin.response(401, "{\"error\":{\"code\":\"no-token\",\"message\":\"a token is needed\"}}");
        try (Answers answers = new Answers(ScriptedAdmin.response(200, REPORT), refused)) {
            Run run = Run.of(
                    environment(),
                    time -> {
                        pauses.add(time);
                        answers.next();
                        return true;
                    },
                    "server",
                    "threads",
                    "-w",
                    "--admin",
                    directory.toString());
            assertEquals(1, run.exitCode());
            assertEquals(1, pauses.size());
        }
    }

    @Test
    void monitoringContinuesWithoutAWorkerAndCountsResults() throws IOException {
        String none = ScriptedAdmin.response(200, "# TYPE millrace_up gauge\nmillrace_up 1\n");
        try (Answers answers =
                new Answers(metrics(5), ScriptedAdmin.response(503, AWAY), none, metrics(5), metrics(5))) {
            Run run = Run.of(
                    environment(),
                    time -> {
                        pauses.add(time);
                        answers.next();
                        return pauses.size() < 9;
                    },
                    "metric",
                    "monitor",
                    "requests",
                    "-c",
                    "3",
                    "--admin",
                    directory.toString());
            assertEquals("millctl: the worker does not answer (worker-down); retrying\n", run.err());
            assertEquals(0, run.exitCode());
            assertEquals(4, pauses.size());
            assertTrue(run.out().endsWith("\n0.0/s  millrace_requests_total\n"), run.out());
        }
    }

    /** Records each frame, and makes the API use the next response afterwards. */
    private static final class KeptFrames implements Screen {
        private final List<String> titles = new ArrayList<>();
        private final Answers answers;

        KeptFrames(Answers answers) {
            this.answers = answers;
        }

        @Override
        public Size size() {
            return new Size(200, 50);
        }

        @Override
        public void draw(List<String> lines) {
            titles.add(lines.get(0));
            answers.next();
        }
    }

    @Test
    void topContinuesWithoutAWorker() throws Exception {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        ProcessEnvironment keys = new ProcessEnvironment(
                Map.of(), directory, directory, null, true, new ByteArrayInputStream("xxxq".getBytes(UTF_8)));
        Invocation invocation = new Invocation(
                new GlobalOptions(), keys, new Console(nowhere, nowhere, new Paint(false)), time -> true);
        try (Answers answers = new Answers(metrics(5), ScriptedAdmin.response(503, AWAY), metrics(5))) {
            AdminClient client =
                    new AdminClient(AdminAddress.parse(directory.toString()), null, Duration.ofSeconds(10));
            TopCommand top = new TopCommand(invocation);
            KeptFrames frames = new KeptFrames(answers);
            top.draw(client, top.query(client), frames);
            assertEquals(4, frames.titles.size());
            assertTrue(frames.titles.get(1).contains("NO WORKER ANSWERS"), frames.titles.toString());
            assertFalse(frames.titles.get(2).contains("NO WORKER ANSWERS"), frames.titles.toString());
        }
    }
}
