package io.millrace.system;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * A launcher that a test started, and its workers. Tests use it as a user would: its port, its admin socket,
 * {@code millctl}, signals. Thread-safe except for {@link #stop()}.
 */
final class MillraceProcess {

    /** The time of a worker's end: after {@code sentAtNanos} and before {@code goneAtNanos}. */
    record Death(long sentAtNanos, long goneAtNanos) {}

    private static final Duration READY_WITHIN = Duration.ofSeconds(45);
    private static final long STOP_SECONDS = 30;
    private static final int LOG_LENGTH_SHOWN = 20_000;

    private final PackedProduct product;
    private final List<String> line;
    private final Process process;
    private final int port;
    private final Path state;
    private final Path output;
    private final Set<ProcessHandle> seen = new LinkedHashSet<>();

    private MillraceProcess(
            PackedProduct product, List<String> line, Process process, int port, Path state, Path output) {
        this.product = product;
        this.line = line;
        this.process = process;
        this.port = port;
        this.state = state;
        this.output = output;
    }

    /** Returns the {@code XDG_STATE_HOME} of a launcher with this {@code --state}; it holds the launcher's pointer. */
    static Path stateHome(Path state) {
        return state.resolveSibling(state.getFileName() + "-home");
    }

    static MillraceProcess start(PackedProduct product, List<String> line, int port, Path state, Path output) {
        try {
            ProcessBuilder builder = new ProcessBuilder(line);
            builder.environment().put("XDG_STATE_HOME", stateHome(state).toString());
            Process process = builder.directory(output.toFile())
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(output.resolve("stdout").toFile())
                    .redirectError(output.resolve("stderr").toFile())
                    .start();
            MillraceProcess started = new MillraceProcess(product, line, process, port, state, output);
            Runtime.getRuntime().addShutdownHook(new Thread(started::killAll));
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until the admin API reports that a worker serves. */
    void awaitRunning() {
        try {
            await().atMost(READY_WITHIN)
                    .pollInterval(Duration.ofMillis(50))
                    .ignoreExceptionsMatching(e -> e instanceof IOException || e instanceof AssertionError)
                    .until(() -> {
                        if (!process.isAlive()) {
                            throw new IllegalStateException("the launcher ended with exit code " + process.exitValue());
                        }
                        Json status = status();
                        return status.at("state").text().equals("running")
                                && status.at("process.worker_pid").number() > 0;
                    });
            rememberProcesses();
        } catch (RuntimeException e) {
            throw new AssertionError("not running: " + describe(), e);
        }
    }

    int port() {
        return port;
    }

    Path state() {
        return state;
    }

    String url(String path) {
        return "http://127.0.0.1:" + port + path;
    }

    Path adminSocket() {
        return state.resolve("admin.sock");
    }

    AdminClient admin() {
        return new AdminClient(adminSocket());
    }

    Json status() throws IOException {
        return admin().get("/v1/status").json();
    }

    /** Runs {@code bin/millctl} with this launcher. */
    Command millctl(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--admin", adminSocket().toString()));
        return product.millctl(all.toArray(String[]::new));
    }

    /** Returns the worker's process, as reported by the admin API. */
    ProcessHandle worker() {
        try {
            Json status = status();
            ProcessHandle worker = ProcessHandle.of(
                            status.at("process.worker_pid").number())
                    .orElseThrow(() -> new AssertionError("no such worker: " + status));
            rememberProcesses();
            return worker;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends SIGKILL to the worker and waits for its end. */
    Death killWorker() {
        ProcessHandle worker = worker();
        try {
            long sentAtNanos = System.nanoTime();
            worker.destroyForcibly();
            worker.onExit().get(STOP_SECONDS, TimeUnit.SECONDS);
            return new Death(sentAtNanos, System.nanoTime());
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError("the worker " + worker.pid() + " did not die", e);
        }
    }

    /** Sends SIGKILL to the launcher, whose worker continues to serve. */
    void killLauncher() {
        rememberProcesses();
        process.destroyForcibly();
        awaitExit();
    }

    /** Sends SIGSTOP to the worker and waits until it has stopped; the launcher must detect that. */
    Death hangWorker() throws IOException {
        ProcessHandle worker = worker();
        long sentAtNanos = System.nanoTime();
        Command.run(output, List.of("sh", "-c", "kill -STOP \"$0\"", Long.toString(worker.pid())))
                .succeeds();
        Path stat = Path.of("/proc", Long.toString(worker.pid()), "stat");
        await("the worker stands still").until(() -> Files.readString(stat).contains(") T "));
        return new Death(sentAtNanos, System.nanoTime());
    }

    /** Waits until another worker than the given one serves. */
    void awaitWorkerAfter(long pid) {
        await().atMost(READY_WITHIN)
                .pollInterval(Duration.ofMillis(50))
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> {
                    Json status = status();
                    return status.at("state").text().equals("running")
                            && status.at("process.worker_pid").number() != pid
                            && status.at("process.worker_pid").number() > 0;
                });
        rememberProcesses();
    }

    /** Sends SIGTERM to the launcher. */
    void terminate() {
        rememberProcesses();
        process.destroy();
    }

    /** Waits for the launcher's end and returns its exit code. */
    int awaitExit() {
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the launcher still runs: " + describe());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the launcher's standard output so far. */
    String stdout() {
        return read(output.resolve("stdout"));
    }

    String stderr() {
        return read(output.resolve("stderr"));
    }

    private void rememberProcesses() {
        synchronized (seen) {
            process.descendants().forEach(seen::add);
        }
    }

    /** Ends launcher and workers, first with SIGTERM. No process remains. */
    void stop() {
        rememberProcesses();
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                System.err.println("the launcher " + process.pid() + " ignores SIGTERM: " + describe());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            killAll();
        }
    }

    private void killAll() {
        List<ProcessHandle> all;
        synchronized (seen) {
            process.descendants().forEach(seen::add);
            all = List.copyOf(seen);
        }
        process.destroyForcibly();
        all.forEach(ProcessHandle::destroyForcibly);
    }

    /** Fails if Netty reported a leaked buffer in any log. */
    void assertNoLeaks() {
        for (Path log : logs()) {
            String text = read(log);
            int leak = text.indexOf("LEAK:");
            if (leak >= 0) {
                throw new AssertionError("a buffer leaked: " + log + "\n"
                        + text.substring(leak, Math.min(text.length(), leak + LOG_LENGTH_SHOWN)));
            }
        }
    }

    private List<Path> logs() {
        List<Path> logs = new ArrayList<>(List.of(output.resolve("stdout"), output.resolve("stderr")));
        try (Stream<Path> files = Files.walk(state, 3)) {
            files.filter(file -> file.getFileName().toString().endsWith(".log")).forEach(logs::add);
        } catch (IOException | UncheckedIOException e) {
            System.err.println("cannot list " + state + ": " + e);
        }
        return logs;
    }

    /** Returns the command and the ends of all logs. */
    String describe() {
        StringBuilder text = new StringBuilder(String.join(" ", line));
        for (Path log : logs()) {
            String content = read(log);
            text.append("\n---- ").append(log).append('\n');
            text.append(content, Math.max(0, content.length() - LOG_LENGTH_SHOWN), content.length());
        }
        return text.toString();
    }

    private static String read(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "";
        } catch (IOException e) {
            return "cannot read " + file + ": " + e;
        }
    }
}
