package io.millrace.system;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** An origin that is another program on loopback. Tests are skipped if it is not installed. Thread-safe. */
final class OriginProcess implements AutoCloseable {
    private final Process process;
    private final int port;

    private OriginProcess(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts a server and waits until it listens; its output goes to {@code origin-PORT.log} of the directory. */
    static OriginProcess start(Path directory, List<String> line, int port) throws IOException {
        Process process = new ProcessBuilder(line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("origin-" + port + ".log").toFile())
                .start();
        await("the origin listens").atMost(Duration.ofSeconds(20)).until(() -> {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return socket.isConnected();
            } catch (IOException e) {
                return false;
            }
        });
        return new OriginProcess(process, port);
    }

    /**
     * Starts an HTTP/2 server for the files in {@code www} of the directory; with TLS it uses {@code key.pem} and
     * {@code cert.pem}.
     */
    static OriginProcess startNghttpd(Path directory, boolean secure) throws IOException {
        int port = PackedProduct.freePort();
        List<String> line = new ArrayList<>(List.of(executable("nghttpd"), "-a", "127.0.0.1", "-d", "www"));
        line.addAll(
                secure
                        ? List.of(String.valueOf(port), "key.pem", "cert.pem")
                        : List.of("--no-tls", String.valueOf(port)));
        return start(directory, line, port);
    }

    /** Returns the path of a server program, which may not be in a user's PATH. */
    static String executable(String name) {
        Path system = Path.of("/usr/sbin", name);
        Assumptions.assumeTrue(
                Files.isExecutable(system) || Command.isInstalled(name), "SKIPPED: " + name + " is not installed");
        return Files.isExecutable(system) ? system.toString() : name;
    }

    int port() {
        return port;
    }

    @Override
    public void close() {
        process.destroy();
    }
}
