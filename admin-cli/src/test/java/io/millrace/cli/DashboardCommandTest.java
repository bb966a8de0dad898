package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.command.CommandClock;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The time in which {@code millctl dashboard} holds its port, and the file that opens the browser. */
@SuppressWarnings("try") // the admin server only answers
final class DashboardCommandTest {
    private static final String OPENED = ScriptedAdmin.response(
            200,
            "{\"url\":\"http://127.0.0.1:41234/ui/#code=c0de\",\"code_seconds\":120,\"lease\":\"l1\","
                    + "\"lease_seconds\":30}");

    private static final String RENEWED = ScriptedAdmin.response(200, "{\"lease_seconds\":30}");
    private static final String BUSY =
            ScriptedAdmin.response(503, "{\"error\":{\"code\":\"busy\",\"message\":\"too many requests\"}}");

    @TempDir
    private Path directory;

    private final List<Duration> pauses = new ArrayList<>();

    /** Returns pauses that advance a clock without waiting. After the given number, a pause ends the command. */
    private CommandClock pause(int times) {
        return new CommandClock() {
            private long nanos;

            @Override
            public boolean sleep(Duration time) {
                pauses.add(time);
                nanos += time.toNanos();
                return pauses.size() <= times;
            }

            @Override
            public long nanoTime() {
                return nanos;
            }
        };
    }

    private Run run(int times, Map<String, String> variables) {
        ProcessEnvironment environment =
                new ProcessEnvironment(variables, directory, directory.resolve("run"), null, false);
        return Run.of(
                environment,
                pause(times),
                "dashboard",
                "--admin",
                directory.resolve("admin.sock").toString());
    }

    private ScriptedAdmin admin(String... answers) throws IOException {
        return ScriptedAdmin.inTurn(directory.resolve("admin.sock"), List.of(answers));
    }

    private static List<Duration> seconds(int... seconds) {
        List<Duration> durations = new ArrayList<>();
        for (int each : seconds) {
            durations.add(Duration.ofSeconds(each));
        }
        return durations;
    }

    @Test
    void failedRenewalIsRepeated() throws IOException {
        try (ScriptedAdmin admin = admin(OPENED, BUSY, BUSY, RENEWED, BUSY, RENEWED, RENEWED)) {
            Run run = run(5, Map.of());
            assertEquals(0, run.exitCode(), run.err());
            assertEquals(seconds(10, 2, 2, 10, 2, 10), pauses);
            assertEquals(
                    "Open the URL within 2 minutes. It is valid for one login. Ctrl-C ends the dashboard.\n"
                            + "millctl: too many requests (busy); retrying for 20 s\n"
                            + "millctl: too many requests (busy); retrying for 20 s\n",
                    run.err());
            assertEquals(7, admin.requests().size());
        }
    }

    @Test
    void failuresForTheTimeOfTheLeaseEndTheCommand() throws IOException {
        try (ScriptedAdmin admin = admin(OPENED, RENEWED, BUSY)) {
            Run run = run(100, Map.of());
            assertEquals(1, run.exitCode(), run.err());
            // The lease of the renewal after 10 s ends 30 s later.
            assertEquals(Duration.ofSeconds(40), pauses.stream().reduce(Duration.ZERO, Duration::plus));
            assertTrue(
                    run.err()
                            .contains("millctl: the dashboard has ended, since its lease was not renewed for 30 s; too"
                                    + " many requests (busy)\n"),
                    run.err());
        }
    }

    @Test
    void permanentRefusalEndsTheCommand() throws IOException {
        String refused =
                ScriptedAdmin.response(403, "{\"error\":{\"code\":\"role-refused\",\"message\":\"not allowed\"}}");
        try (ScriptedAdmin admin = admin(OPENED, refused)) {
            Run run = run(100, Map.of());
            assertEquals(1, run.exitCode(), run.err());
            assertEquals(seconds(10), pauses);
            assertTrue(run.err().endsWith("millctl: not allowed (role-refused)\n"), run.err());
        }
    }

    /** A program in place of a browser, which writes the name of its file into a pipe. */
    private Map<String, String> browser() throws IOException, InterruptedException {
        Path pipe = directory.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        Path script = Files.writeString(directory.resolve("browser"), "#!/bin/sh\nprintf '%s' \"$1\" > " + pipe + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return Map.of("DISPLAY", ":0", "BROWSER", script.toString());
    }

    /** Waits until the browser is started. Returns its file. */
    private Path page() throws IOException {
        // The method readAllBytes of later JDKs seeks, which a pipe cannot.
        try (BufferedReader pipe = Files.newBufferedReader(directory.resolve("pipe"))) {
            return Path.of(pipe.readLine());
        }
    }

    @Test
    void pageOfTheBrowserIsDeletedWithTheCommand() throws Exception {
        try (ScriptedAdmin admin = admin(OPENED, RENEWED)) {
            Run run = run(1, browser());
            assertEquals(0, run.exitCode(), run.err());
            assertFalse(Files.exists(page()));
        }
    }

    @Test
    void pageOfTheBrowserIsDeletedWhenItsCodeIsOver() throws Exception {
        List<Boolean> existed = new ArrayList<>();
        CommandClock clock = pause(13);
        CommandClock looking = new CommandClock() {
            private Path page;

            @Override
            public boolean sleep(Duration time) {
                try {
                    page = page == null ? page() : page;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                existed.add(Files.exists(page));
                return clock.sleep(time);
            }

            @Override
            public long nanoTime() {
                return clock.nanoTime();
            }
        };
        try (ScriptedAdmin admin = admin(OPENED, RENEWED)) {
            ProcessEnvironment environment =
                    new ProcessEnvironment(browser(), directory, directory.resolve("run"), null, false);
            Run run = Run.of(
                    environment,
                    looking,
                    "dashboard",
                    "--admin",
                    directory.resolve("admin.sock").toString());
            assertEquals(0, run.exitCode(), run.err());
        }
        // After 120 s, with 10 s between two looks.
        assertEquals(12, existed.indexOf(false));
        assertEquals(14, existed.size());
    }

    /** Ctrl-C and SIGTERM end the process without the end of the command. */
    @Test
    void pageOfTheBrowserIsDeletedWithTheProcess() throws Exception {
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        try (ScriptedAdmin admin = admin(OPENED, RENEWED)) {
            ProcessBuilder builder = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Djava.io.tmpdir=" + temporary,
                            "-cp",
                            System.getProperty("java.class.path"),
                            Main.class.getName(),
                            "dashboard",
                            "--admin",
                            directory.resolve("admin.sock").toString())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("output").toFile());
            builder.environment().putAll(browser());
            Process command = builder.start();
            try {
                Path page = page();
                assertEquals(temporary, page.getParent(), () -> output());
                command.destroy();
                assertTrue(command.waitFor(60, TimeUnit.SECONDS));
            } finally {
                command.destroyForcibly();
            }
            try (Stream<Path> left = Files.list(temporary)) {
                assertEquals(
                        List.of(),
                        left.filter(file -> file.toString().endsWith(".html")).toList());
            }
            assertTrue(admin.requests().get(1).startsWith("POST /v1/dashboard/close "), admin.requests()::toString);
        }
    }

    private String output() {
        try {
            return Files.readString(directory.resolve("output"));
        } catch (IOException e) {
            return e.toString();
        }
    }
}
