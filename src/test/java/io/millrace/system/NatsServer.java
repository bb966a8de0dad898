package io.millrace.system;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A NATS server with JetStream on the loopback address. The program is in PATH or in {@code ~/go/bin}. Confined to one
 * thread.
 */
public final class NatsServer implements AutoCloseable {
    private static final String PROGRAM = "nats-server";

    private final Path directory;
    private final int port = FreePorts.next();
    private final List<String> options;
    private @Nullable Process process;

    private NatsServer(Path directory, List<String> options) {
        this.directory = directory;
        this.options = List.copyOf(options);
    }

    /** Skips the test where the program is missing. */
    public static void assumeInstalled() {
        Assumptions.assumeTrue(
                !program().isEmpty(), "SKIPPED: nats-server is not installed; .ci/run installs it where Go is");
    }

    private static String program() {
        List<String> places = new ArrayList<>(List.of(System.getenv("PATH").split(":", -1)));
        places.add(System.getProperty("user.home") + "/go/bin");
        return places.stream()
                .map(place -> Path.of(place, PROGRAM))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse("");
    }

    /** Starts a server that keeps its streams in a directory. */
    public static NatsServer start(Path directory, String... options) throws IOException {
        NatsServer server = new NatsServer(directory, List.of(options));
        Files.createDirectories(directory);
        server.start();
        return server;
    }

    /** Starts the server again, on the same port. */
    public void start() throws IOException {
        List<String> line = new ArrayList<>(List.of(
                program(),
                "-js",
                "-sd",
                directory.resolve("data").toString(),
                "-a",
                "127.0.0.1",
                "-p",
                Integer.toString(port),
                "-l",
                directory.resolve("log").toString()));
        line.addAll(options);
        process = new ProcessBuilder(line).inheritIO().start();
        await("the NATS server listens").atMost(Duration.ofSeconds(20)).until(this::listens);
    }

    private boolean listens() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    /** Kills the server; its streams stay. */
    public void kill() throws InterruptedException {
        Process running = process;
        if (running != null) {
            running.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    /** Stops the execution of the server, which keeps its connections. */
    public void pause() {
        signal("-STOP");
    }

    /** Continues the execution of the server. */
    public void resume() {
        signal("-CONT");
    }

    /** Makes the server read its configuration again. */
    public void reload() {
        signal("-HUP");
    }

    /** Returns the log of the server. */
    public String log() throws IOException {
        return Files.readString(directory.resolve("log"));
    }

    private void signal(String name) {
        Process running = process;
        if (running != null && running.isAlive()) {
            Command.run(directory, List.of("sh", "-c", "kill \"$0\" \"$1\"", name, Long.toString(running.pid())))
                    .succeeds();
        }
    }

    /** Deletes the streams of a killed server. */
    public void loseData() throws IOException {
        Path data = directory.resolve("data");
        if (!Files.exists(data)) {
            return;
        }
        try (Stream<Path> files = Files.walk(data)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    /** Returns the port of the server. */
    public int port() {
        return port;
    }

    /** Returns the URL of the server. */
    public String url() {
        return "nats://127.0.0.1:" + port;
    }

    @Override
    public void close() {
        Process running = process;
        if (running != null) {
            running.destroyForcibly();
        }
    }
}
