package io.millrace.launcher;

import static org.awaitility.Awaitility.await;

import io.millrace.launcher.process.WorkerIdentity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A launcher in its own process, with canned workers. Closing it ends all processes that it started. Confined to the
 * test's thread.
 */
final class CannedLauncher implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Pattern BOUND = Pattern.compile("listens on \\S*:(\\d+)");
    private static final String WORKER_OPTIONS = """
            -XX:+UseSerialGC
            -XX:TieredStopAtLevel=1
            -Dio.netty.leakDetection.level=paranoid
            -Dio.netty.leakDetection.acquireAndReleaseOnly=true
            """;

    private final Path directory;
    private final Process process;
    private final Path out;
    private final Path err;

    private CannedLauncher(Path directory, Process process, Path out, Path err) {
        this.directory = directory;
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** Starts {@code millrace run} with small workers and a state directory below {@code directory}. */
    static CannedLauncher run(Path directory, String... arguments) {
        try {
            Path options =
                    Files.createDirectories(directory.resolve("home/conf")).resolve("jvm.options");
            Files.writeString(options, WORKER_OPTIONS);
            List<String> line = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin/java").toString(),
                    "-Xmx32m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-ea",
                    "-Dio.netty.leakDetection.level=paranoid",
                    "-Dio.netty.leakDetection.acquireAndReleaseOnly=true",
                    "-Dmillrace.home=" + directory.resolve("home"),
                    "-cp",
                    System.getProperty("java.class.path"),
                    CannedLauncherMain.class.getName(),
                    "run",
                    "--state",
                    directory.resolve("state").toString(),
                    "--set",
                    "worker.heap_size=64MiB",
                    "--set",
                    "worker.event_loops=2",
                    "--set",
                    "cache.ram_size=16MiB"));
            line.addAll(List.of(arguments));
            Path out = Files.createTempFile(directory, "launcher", ".out");
            Path err = Files.createTempFile(directory, "launcher", ".err");
            Process process = new ProcessBuilder(line)
                    .redirectOutput(Redirect.to(out.toFile()))
                    .redirectError(Redirect.to(err.toFile()))
                    .start();
            return new CannedLauncher(directory, process, out, err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts it for one origin, on a port that the system chooses. */
    static CannedLauncher serving(Path directory, String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("--origin", "http://origin.example", "--listen", "127.0.0.1:0"));
        arguments.addAll(List.of(more));
        CannedLauncher launcher = run(directory, arguments.toArray(String[]::new));
        launcher.awaitListening();
        return launcher;
    }

    /** Waits for the start message. */
    void awaitListening() {
        await().atMost(PATIENCE)
                .failFast(() -> {
                    if (!process.isAlive()) {
                        throw new AssertionError(describe());
                    }
                })
                .until(() -> out().contains("listens on"));
    }

    int port() {
        Matcher matcher = BOUND.matcher(out());
        if (!matcher.find()) {
            throw new AssertionError(describe());
        }
        return Integer.parseInt(matcher.group(1));
    }

    CannedClient client() {
        return new CannedClient(port());
    }

    /** Returns the process id of the worker that answers. */
    long worker() {
        return client().get("/").worker();
    }

    ProcessHandle process() {
        return process.toHandle();
    }

    String out() {
        return read(out);
    }

    String err() {
        return read(err);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String describe() {
        return "launcher " + process + "\n" + out() + err();
    }

    void signal(String name) {
        signal(process.pid(), name);
    }

    /** Sends a signal that {@link ProcessHandle} cannot send. */
    static void signal(long pid, String name) {
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -\"$0\" \"$1\"", name, Long.toString(pid))
                    .inheritIO()
                    .start();
            if (kill.waitFor() != 0) {
                throw new AssertionError("kill -" + name + " " + pid);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    int exitCode() {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("still running: " + describe());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
        new WorkerIdentity(directory.resolve("state/run/worker.pid"))
                .find()
                .ifPresent(survivor -> all.add(survivor.process()));
        process.destroyForcibly();
        all.forEach(ProcessHandle::destroyForcibly);
        await().atMost(PATIENCE).until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
        if (err().contains("LEAK")) {
            throw new AssertionError("a buffer leaked: " + describe());
        }
    }
}
