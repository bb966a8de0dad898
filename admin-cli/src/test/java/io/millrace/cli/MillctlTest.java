package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.client.ScriptedAdmin.End;
import io.millrace.cli.command.DataStream;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class MillctlTest {
    private static final String STATUS = ScriptedAdmin.response(
            200, "{\"product\":\"Millrace\",\"version\":\"1\",\"state\":\"running\",\"uptime_seconds\":1}");

    @TempDir
    private Path directory;

    private final Map<String, String> variables = new HashMap<>();

    private ProcessEnvironment environment(boolean isTerminal) {
        return new ProcessEnvironment(
                variables, directory, directory.resolve("run"), directory.resolve("product"), isTerminal);
    }

    private Run millctl(String... arguments) {
        return Run.of(environment(false), arguments);
    }

    private Path state(String port) throws IOException {
        return Files.createDirectories(
                        directory.resolve(".local/state/millrace").resolve(port))
                .resolve("admin.sock");
    }

    private Path install(String script) throws IOException {
        Path millrace =
                Files.createDirectories(directory.resolve("product/bin")).resolve("millrace");
        Files.writeString(millrace, "#!/bin/sh\n" + script);
        Files.setPosixFilePermissions(millrace, PosixFilePermissions.fromString("rwxr-xr-x"));
        return millrace;
    }

    @Test
    void asksTheOnlyRunningInstance() throws IOException {
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, STATUS)) {
            Run run = millctl("status");
            assertEquals(0, run.exitCode(), run.err());
            assertTrue(run.out().startsWith("Millrace 1 is running, up 1s\n"), run.out());
            assertEquals("", run.err());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void findsTheStateDirectoryThatTheDesktopMoved() throws IOException {
        variables.put("XDG_STATE_HOME", directory.resolve("xdg").toString());
        Path socket =
                Files.createDirectories(directory.resolve("xdg/millrace/8080")).resolve("admin.sock");
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket, End.CLOSE, STATUS)) {
            assertEquals(0, millctl("status").exitCode());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void listsSeveralInstancesAndAsksNone() throws IOException {
        try (ScriptedAdmin one = ScriptedAdmin.on(state("8080"), End.CLOSE, STATUS);
                ScriptedAdmin other = ScriptedAdmin.on(state("9090"), End.CLOSE, STATUS)) {
            Run run = millctl("purge", "http://www.example.com/");
            assertEquals(2, run.exitCode());
            assertEquals("", run.out());
            assertEquals(
                    "millctl: 2 instances of millrace are running; say which\n  millctl --admin " + state("8080")
                            + "\n  millctl --admin " + state("9090") + "\n",
                    run.err());
            assertEquals(0, one.requests().size() + other.requests().size());
        }
    }

    @Test
    void saysWhereItLookedAndHowToStartOne() throws IOException {
        ScriptedAdmin.on(state("8080"), End.CLOSE).close();
        Run run = millctl("status");
        assertEquals(3, run.exitCode());
        assertEquals("", run.out());
        assertEquals("""
                millctl: found no running millrace; checked
                  %s/run/admin.sock: missing
                  %s: no process listens; the process that created the socket has exited
                  start one:    millrace run --config FILE (or run --demo)
                  name another: millctl --admin PATH ... (or set MILLRACE_ADMIN)
                """.formatted(directory, state("8080")), run.err());
    }

    @Test
    void prefersTheOptionOverTheVariableOverTheUsualPlaces() throws IOException {
        Path named = directory.resolve("named.sock");
        variables.put("MILLRACE_ADMIN", directory.resolve("absent.sock").toString());
        try (ScriptedAdmin usual = ScriptedAdmin.on(state("8080"), End.CLOSE, STATUS);
                ScriptedAdmin admin = ScriptedAdmin.on(named, End.CLOSE, STATUS)) {
            assertEquals(0, millctl("--admin", named.toString(), "status").exitCode());
            assertEquals(0, millctl("status", "--admin=" + named).exitCode());
            assertEquals(2, admin.requests().size());
            Run run = millctl("status");
            assertEquals(3, run.exitCode());
            assertTrue(run.err().startsWith("millctl: " + directory + "/absent.sock: missing\n"), run.err());
            variables.put("MILLRACE_ADMIN", named.toString());
            assertEquals(0, millctl("status").exitCode());
            assertEquals(0, usual.requests().size());
        }
    }

    @Test
    void takesTheTokenFromAFileOrTheEnvironment() throws IOException {
        Path file = Files.writeString(directory.resolve("token"), "fromfile\n");
        variables.put("MILLRACE_ADMIN_TOKEN", "fromenvironment");
        try (ScriptedAdmin admin = ScriptedAdmin.onLoopback(End.CLOSE, STATUS)) {
            assertEquals(
                    0,
                    millctl("status", "--admin", admin.url(), "--token-file", file.toString())
                            .exitCode());
            assertEquals(0, millctl("status", "--admin", admin.url()).exitCode());
            assertTrue(admin.requests().get(0).contains("\r\nAuthorization: Bearer fromfile\r\n"));
            assertTrue(admin.requests().get(1).contains("\r\nAuthorization: Bearer fromenvironment\r\n"));
            Files.writeString(file, "two words\r\nInjected: yes");
            Run run = millctl("status", "--admin", admin.url(), "--token-file", file.toString());
            assertEquals(2, run.exitCode());
            assertEquals(2, admin.requests().size());
        }
    }

    @Test
    void reportsAnUnfinishedChangeAsInProgress() throws IOException {
        Path socket = state("8080");
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket, End.STAY_OPEN)) {
            Run run = millctl("config", "reload", "--timeout", "300ms");
            assertEquals(75, run.exitCode());
            assertEquals(
                    "millctl: " + socket
                            + " did not answer POST /v1/config/reload within 300 ms; it may still be carried"
                            + " out\n  check later: millctl status\n",
                    run.err());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void reportsALauncherThatDoesNotAnswerAsNotReachable() throws IOException {
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.STAY_OPEN)) {
            assertEquals(3, millctl("status", "--timeout=300ms").exitCode());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void reportsABrokenAnswerWithoutAStackTrace() throws IOException {
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, "SSH-2.0-OpenSSH_9.2\r\n")) {
            Run run = millctl("status");
            assertEquals(1, run.exitCode());
            assertEquals("", run.out());
            assertFalse(run.err().contains("\tat "), run.err());
            assertFalse(run.err().contains("Exception"), run.err());
            assertEquals(1, admin.requests().size());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "config",
                "stats",
                "status extra",
                "status -o yaml",
                "status --timeout 3",
                "status --timeout 0s",
                "status --timeout 2h",
                "status --admin https://localhost",
                "status --admin https://localhost:1 --client-key k.pem",
                "purge",
                "purge www.example.com/",
                "purge http://",
                "purge ftp://www.example.com/",
                "cache lookup http://a/ -H nocolon",
                "metric get",
                "config check",
                "help nothing"
            })
    void refusesWrongUsageWithCode2(String line) {
        Run run = millctl(line.isEmpty() ? new String[0] : line.split(" "));
        assertEquals(2, run.exitCode(), run.err());
        assertEquals("", run.out());
        assertTrue(run.err().startsWith("millctl: "), run.err());
        assertFalse(run.err().contains("Exception"), run.err());
    }

    /** A long help is not read: each command fits on a screen, and all of them together on one and a half. */
    @Test
    void fitsEveryHelpOnATerminal() {
        assertHelp(CommandTree.root(), List.of());
    }

    private void assertHelp(CommandLine command, List<String> words) {
        List<String> line = new ArrayList<>(words);
        line.add("--help");
        Run run = millctl(line.toArray(String[]::new));
        assertEquals(0, run.exitCode());
        assertEquals("", run.err());
        assertTrue(run.out().startsWith("Usage: millctl"), run.out());
        assertTrue(run.out().lines().count() <= (words.isEmpty() ? 40 : 28), run.out());
        run.out().lines().forEach(printed -> assertTrue(printed.length() <= 80, printed));
        for (Map.Entry<String, CommandLine> below : command.getSubcommands().entrySet()) {
            List<String> more = new ArrayList<>(words);
            more.add(below.getKey());
            assertHelp(below.getValue(), more);
        }
    }

    @Test
    void saysItsVersion() {
        Run run = millctl("--version");
        assertEquals(0, run.exitCode());
        assertTrue(run.out().matches("millctl \\d+\\.\\d+\\.\\d+\\S*\nJava \\S+\n"), run.out());
    }

    @Test
    void noWordOfOthersSteersTheTerminal() throws IOException {
        String error = ScriptedAdmin.response(
                409, "{\"error\":{\"code\":\"no\",\"message\":\"not \\u001b[2J\\u009b\\u202e now\"}}");
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, error)) {
            assertEquals(
                    "millctl: not \\u001b[2J\\u009b\\u202e now (no)\n",
                    millctl("config", "reload").err());
            assertEquals(1, admin.requests().size());
        }
        install("printf 'a.yaml:1:1: \\033[2J\\n' >&2; exit 1");
        assertEquals("a.yaml:1:1: \\u001b[2J\n", millctl("store", "check", "/a").err());
    }

    @Test
    void saysNothingOfAWorkerThatDoesNotAnswer() throws IOException {
        String starting = ScriptedAdmin.response(
                200,
                "{\"product\":\"Millrace\",\"version\":\"1\",\"state\":\"starting\",\"java\":\"17\",\"transport\":\"\",\"tls\":\"\"}");
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, starting)) {
            String out = millctl("status").out();
            assertTrue(out.contains("\n  runs on      JDK 17\n"), out);
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void coloursOnlyATerminalThatWantsIt() throws IOException {
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, STATUS)) {
            assertTrue(Run.of(environment(true), "status").out().contains("\u001b[32mrunning\u001b[0m"));
            assertFalse(Run.of(environment(false), "status").out().contains("\u001b"));
            variables.put("NO_COLOR", "1");
            assertFalse(Run.of(environment(true), "status").out().contains("\u001b"));
            assertEquals(3, admin.requests().size());
        }
    }

    @Test
    void failsWhenItsOutputIsLost() throws IOException {
        OutputStream full = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException("No space left on device");
            }
        };
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, STATUS);
                PrintStream lost = new PrintStream(full)) {
            assertEquals(1, Millctl.run(new String[] {"status"}, environment(false), lost, lost));
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void aReaderThatHasEnoughIsNotTalkedTo() throws IOException {
        Pipe pipe = Pipe.open();
        pipe.source().close();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, STATUS);
                PrintStream gone = new DataStream(Channels.newOutputStream(pipe.sink()))) {
            assertEquals(
                    1,
                    Millctl.run(new String[] {"status"}, environment(false), gone, new PrintStream(err, true, UTF_8)));
            assertEquals("", err.toString(UTF_8));
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void checksWithTheLaunchersScriptWhenNoneRuns() throws IOException {
        install("echo \"$2:12:7: cache.ram_szie: unknown key (did you mean ram_size?)\" >&2; exit 2");
        Run run = millctl("config", "check", "conf/millrace.yaml");
        assertEquals(2, run.exitCode());
        assertEquals("conf/millrace.yaml:12:7: cache.ram_szie: unknown key (did you mean ram_size?)\n", run.out());
        assertEquals("", run.err());
        Run json = millctl("config", "check", "conf/millrace.yaml", "-o", "json");
        assertEquals(2, json.exitCode());
        assertEquals(
                "{\"ok\":false,\"problems\":[{\"file\":\"conf/millrace.yaml\",\"line\":12,\"column\":7,"
                        + "\"path\":\"cache.ram_szie\",\"message\":\"unknown key\",\"suggestion\":\"ram_size\","
                        + "\"text\":\"conf/millrace.yaml:12:7: cache.ram_szie: unknown key (did you mean ram_size?)\"}]}\n",
                json.out());
    }

    @Test
    void checksWithTheLaunchersScriptWhenTheLauncherCannot() throws IOException {
        Path millrace = install("[ \"$1\" = check ] || exit 9; echo \"$2: ok\"");
        String error = ScriptedAdmin.response(500, "{\"error\":{\"code\":\"internal-error\",\"message\":\"no luck\"}}");
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, error)) {
            Run run = millctl("config", "check", "a.yaml");
            assertEquals(0, run.exitCode());
            assertEquals("a.yaml: ok\n", run.out());
            assertEquals("millctl: no luck; checking with " + millrace + "\n", run.err());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void printsTheSchemaWithTheLaunchersScriptWhenNoneRunsOrSeveralDo() throws IOException {
        Path millrace = install("[ \"$*\" = schema ] || exit 9; echo '{\"title\":\"here\"}'");
        String running = ScriptedAdmin.response(200, "{\"title\":\"running\"}");
        assertEquals("{\"title\":\"here\"}\n", millctl("config", "schema").out());
        try (ScriptedAdmin one = ScriptedAdmin.on(state("8080"), End.CLOSE, running)) {
            assertEquals(
                    "{\"title\":\"running\"}\n", millctl("config", "schema").out());
            try (ScriptedAdmin other = ScriptedAdmin.on(state("9090"), End.CLOSE, running)) {
                assertEquals(
                        "{\"title\":\"here\"}\n", millctl("config", "schema").out());
                assertEquals(1, one.requests().size() + other.requests().size());
            }
        }
        Run named = millctl("config", "schema", "--admin", state("8080").toString());
        assertEquals(0, named.exitCode());
        assertEquals("{\"title\":\"here\"}\n", named.out());
        assertTrue(named.err().endsWith("; this is the schema of millctl's own version\n"), named.err());
        assertEquals(
                3, millctl("config", "schema", "--admin", "http://127.0.0.1:1").exitCode());
        Files.delete(millrace);
        Run none = millctl("config", "schema");
        assertEquals(1, none.exitCode());
        assertTrue(none.err().contains("no bin/millrace beside this millctl"), none.err());
    }

    @Test
    void passesTheExitCodeOfTheScriptOn() throws IOException {
        install("echo 'millrace: no Java found' >&2; exit 1");
        Run run = millctl("config", "check", "a.yaml");
        assertEquals(1, run.exitCode());
        assertEquals("millrace: no Java found\n", run.err());
    }

    @Test
    void importsWithTheLaunchersScriptAndPassesItsWordsAndExitCodeOn() throws IOException {
        install("echo \"$@\"; echo '3 lines: 2 mapped' >&2; exit 1");
        Run run = millctl("import", "ats", "/etc/trafficserver", "--out", "a.yaml", "--force", "--prefix", "/opt/ats");
        assertEquals(1, run.exitCode());
        assertEquals("import ats --out=a.yaml --force --prefix=/opt/ats -- /etc/trafficserver\n", run.out());
        assertEquals("3 lines: 2 mapped\n", run.err());
        assertEquals(
                "import ats --json -- conf\n",
                millctl("import", "ats", "conf", "-o", "json").out());
        assertEquals(
                "import nginx --out=b.yaml --prefix=/opt/nginx -- /etc/nginx\n",
                millctl("import", "nginx", "/etc/nginx", "--out", "b.yaml", "--prefix", "/opt/nginx")
                        .out());
        assertEquals(
                "import varnish --force -- default.vcl\n",
                millctl("import", "varnish", "default.vcl", "--force").out());
        assertEquals(
                "import squid --json -- squid.conf\n",
                millctl("import", "squid", "squid.conf", "-o", "json").out());
    }

    @Test
    void saysThatNothingCanImport() {
        Run run = millctl("import", "ats", "/etc/trafficserver");
        assertEquals(1, run.exitCode());
        assertTrue(run.err().contains("no bin/millrace beside this millctl"), run.err());
    }

    @Test
    void saysThatNothingCanCheck() {
        Run run = millctl("config", "check", "a.yaml");
        assertEquals(3, run.exitCode());
        assertTrue(run.err().contains("no bin/millrace beside this millctl"), run.err());
    }

    @Test
    void asksTheLauncherAboutTheAbsolutePathAndShowsTheGivenOne() throws IOException {
        String absolute = Path.of("conf/a.yaml").toAbsolutePath().toString();
        String answer = ScriptedAdmin.response(
                200, "{\"ok\":false,\"problems\":[{\"text\":\"" + absolute + ":1:2: listen: not a list\"}]}");
        try (ScriptedAdmin admin = ScriptedAdmin.on(state("8080"), End.CLOSE, answer)) {
            Run run = millctl("config", "check", "conf/a.yaml");
            assertEquals(2, run.exitCode());
            assertEquals("conf/a.yaml:1:2: listen: not a list\n", run.out());
            assertTrue(admin.requests().get(0).endsWith("{\"file\":\"" + absolute + "\"}"));
        }
    }
}
