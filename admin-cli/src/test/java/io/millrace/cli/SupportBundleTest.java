package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the archive of {@code millctl support bundle}, with and without a running proxy. */
final class SupportBundleTest {
    private static final String SECRET = "hunter2";

    @TempDir
    private Path directory;

    private Path state;
    private Path archive;
    private Path config;
    private String lines = "--log-lines=2";

    @BeforeEach
    void makeFiles() throws IOException {
        state = Files.createDirectories(directory.resolve("state"));
        archive = directory.resolve("bundle.tar.gz");
        config = Files.writeString(
                directory.resolve("millrace.yaml"),
                "listen: [':8080']\nremap:\n  - map: /\n    to: http://a/\nx_password: " + SECRET + "\n");
        Files.writeString(
                Files.createDirectories(state.resolve("log")).resolve("access.log"),
                "203.0.113.1 first\n203.0.113.2 second\n203.0.113.3 - - \"GET /a?key=" + SECRET + " HTTP/1.1\" 200\n");
        Files.writeString(state.resolve("log/hs_err_pid7.log"), "# A crash\nMY_TOKEN=" + SECRET + "\n");
        Files.writeString(
                Files.createDirectories(state.resolve("run")).resolve("worker.pid"),
                ProcessHandle.current().pid() + " 1\n");
    }

    private Run bundle(String... more) {
        List<String> words = new ArrayList<>(
                List.of("support", "bundle", "--admin", state.toString(), "--out", archive.toString(), lines));
        words.addAll(List.of(more));
        ProcessEnvironment environment =
                new ProcessEnvironment(Map.of(), directory.resolve("home"), directory.resolve("run"), null, false);
        return Run.of(environment, words.toArray(String[]::new));
    }

    /** Unpacks with tar(1), which also checks the format. */
    private Path unpacked() throws IOException, InterruptedException {
        assumeTrue(Tool.isInstalled("tar"), "SKIPPED: tar is not installed");
        Path into = Files.createDirectories(directory.resolve("unpacked"));
        Process tar = new ProcessBuilder(
                        "tar", "-xzf", archive.toString(), "-C", into.toString(), "--strip-components=1")
                .redirectErrorStream(true)
                .start();
        String said = new String(tar.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, tar.waitFor(), said);
        return into;
    }

    private static String all(Path folder) throws IOException {
        StringBuilder all = new StringBuilder();
        try (var files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                all.append(file).append('\n').append(Files.readString(file)).append('\n');
            }
        }
        return all.toString();
    }

    @Test
    void withoutALauncherItHasTheFilesAndSaysWhatIsMissing() throws Exception {
        Run run = bundle("--config", config.toString(), "--log", config.toString());
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)));
        Path into = unpacked();
        String whole = all(into);
        assertFalse(whole.contains(SECRET), whole);
        assertFalse(whole.contains("203.0.113"), whole);
        assertTrue(Files.readString(into.resolve("config/millrace.yaml")).contains("x_password: [redacted]"), whole);
        String log = Files.readString(into.resolve("log/access.log"));
        assertEquals(2, log.lines().count(), log);
        assertTrue(log.contains("second") && log.contains("GET /a?[redacted] HTTP/1.1"), log);
        assertTrue(Files.readString(into.resolve("log/hs_err_pid7.log")).contains("MY_TOKEN=[redacted]"), whole);
        assertTrue(Files.exists(into.resolve("log/1-millrace.yaml")), whole);
        assertTrue(Files.readString(into.resolve("state/files.txt")).contains("worker.pid"), whole);
        assertTrue(Files.readString(into.resolve("os/limits.txt")).contains("somaxconn: "), whole);
        Path process = into.resolve("process/" + ProcessHandle.current().pid());
        assertTrue(Files.readString(process.resolve("limits.txt")).contains("Max open files"), whole);
        assertTrue(Files.exists(process.resolve("command.txt")), whole);
        String readme = Files.readString(into.resolve("README.txt"));
        assertTrue(readme.contains("  api/status.json: " + state.resolve("admin.sock") + ": missing"), readme);
        assertTrue(readme.contains("addresses in logs, as salted hashes: "), readme);
        assertTrue(run.err().contains("missing the rest of api/ and config/: not reachable\n"), run.err());
        assertTrue(run.out().startsWith("wrote " + archive + ": "), run.out());
    }

    @Test
    void aRunningProxyAddsItsState() throws Exception {
        String down = "{\"error\":{\"code\":\"worker-down\",\"message\":\"the worker does not answer\"}}";
        String settings =
                "{\"settings\":[{\"key\":\"listen\",\"value\":\"[':8080']\",\"source\":\"file\",\"variables\":[]},"
                        + "{\"key\":\"x\",\"value\":\"" + SECRET + "\",\"source\":\"file\",\"variables\":[\"X\"]}]}";
        List<String> answers = new ArrayList<>();
        // jcmd waits for ten seconds for a process that is no JVM.
        long launcher = ProcessHandle.current().pid();
        answers.add(ScriptedAdmin.response(
                200,
                "{\"state\":\"running\",\"process\":{\"launcher_pid\":" + launcher + "},\"config\":{\"file\":\""
                        + config + "\"}}"));
        answers.add(ScriptedAdmin.response(503, "not ready"));
        for (int i = 0; i < 7; i++) {
            answers.add(ScriptedAdmin.response(503, down));
        }
        answers.add(ScriptedAdmin.response(404, "{\"error\":{\"code\":\"unknown\",\"message\":\"none\"}}"));
        answers.add(ScriptedAdmin.response(200, "millrace_up 1\n"));
        answers.add(ScriptedAdmin.response(200, "{\"history\":[]}"));
        answers.add(ScriptedAdmin.response(200, settings));
        Run run;
        try (ScriptedAdmin admin = ScriptedAdmin.inTurn(state.resolve("admin.sock"), answers)) {
            run = bundle("--with-addresses", "-o", "json");
            assertEquals(answers.size(), admin.requests().size(), () -> String.join("\n", admin.requests()));
        }
        assertEquals(0, run.exitCode(), run.err());
        Path into = unpacked();
        String whole = all(into);
        assertFalse(whole.contains(SECRET), whole);
        assertTrue(whole.contains("203.0.113.3"), whole);
        assertEquals("millrace_up 1\n", Files.readString(into.resolve("api/metrics.txt")));
        assertEquals(
                "listen: [':8080']  (file)\nx: [redacted]  (file ${X})\n",
                Files.readString(into.resolve("config/settings.txt")));
        JsonObject json = JsonObject.parse(run.out().getBytes(StandardCharsets.UTF_8));
        assertEquals(archive.toString(), json.text("file"));
        assertTrue(json.texts("parts").contains("api/ready.txt"), run.out());
        assertTrue(
                json.objects("missing").stream()
                        .anyMatch(one -> one.text("part", "").equals("api/threads.json")
                                && one.text("reason", "").equals("the worker does not answer")),
                run.out());
        assertTrue(
                json.objects("missing").stream()
                        .anyMatch(one -> one.text("reason", "").equals("this version has no /v1/events")),
                run.out());
        assertTrue(json.texts("redactions").contains("addresses in logs: kept (--with-addresses)"), run.out());
    }

    @Test
    void anExistingFileIsNotOverwritten() throws Exception {
        Files.writeString(archive, "mine");
        Run run = bundle();
        assertEquals(2, run.exitCode());
        assertEquals("millctl: " + archive + " exists; name another file: --out FILE\n", run.err());
        assertEquals("mine", Files.readString(archive));
    }

    @Test
    void aFileThatCannotBeWrittenIsNamed() {
        archive = directory.resolve("none/bundle.tar.gz");
        Run run = bundle();
        assertEquals(1, run.exitCode());
        assertTrue(run.err().startsWith("millctl: " + archive + ": cannot be written"), run.err());
    }

    @Test
    void aWrongNumberOfLinesIsRefused() {
        lines = "--log-lines=100001";
        Run run = bundle();
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("--log-lines is a number from 0 to 100000, not 100001"), run.err());
    }
}
