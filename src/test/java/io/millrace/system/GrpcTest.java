package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests gRPC calls of every kind through the proxy, between server and client of the grpcio package, which pip installs
 * in a directory of the test.
 */
@Tag("nightly")
class GrpcTest {
    /** Also the output of a direct connection; "yes" means that the server has noticed the cancellation. */
    private static final String EXPECTED = """
            unary (b'unary:a', 'b')
            large 3000006
            server (1000, b'item 999')
            client b'sum 500000'
            bidi ([b'echo:0', b'echo:1', b'echo:2', b'echo:3', b'echo:4'], [])
            trailers-only NOT_FOUND no such thing
            unknown UNIMPLEMENTED Method not found!
            cancelled (b'begun', b'yes')
            late DEADLINE_EXCEEDED
            deadline True
            many 200
            """;

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static Path directory = Path.of("");
    private static Process server;

    @BeforeAll
    static void startServer() throws IOException {
        Assumptions.assumeTrue(Command.isInstalled("python3"), "SKIPPED: python3 is not installed");
        directory = product.newDirectory();
        Command made = Command.run(directory, List.of("python3", "-m", "venv", "venv"));
        Assumptions.assumeTrue(made.exitCode() == 0, "SKIPPED: python3 -m venv: " + made.err());
        Command installed =
                Command.run(directory, Duration.ofMinutes(2), List.of("venv/bin/pip", "--quiet", "install", "grpcio"));
        Assumptions.assumeTrue(installed.exitCode() == 0, "SKIPPED: pip install grpcio: " + installed.err());
        copy("server.py");
        copy("client.py");
        server = new ProcessBuilder(python(), "server.py", "0")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("server.log").toFile())
                .start();
        await("the gRPC server listens").atMost(Duration.ofSeconds(30)).until(() -> serverPort() > 0);
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.destroy();
        }
    }

    private static String python() {
        return directory.resolve("venv/bin/python").toString();
    }

    private static int serverPort() throws IOException {
        String log = Files.readString(directory.resolve("server.log"));
        return log.startsWith("port ") && log.endsWith("\n")
                ? Integer.parseInt(log.substring(5).strip())
                : 0;
    }

    private static void copy(String name) throws IOException {
        try (InputStream in = GrpcTest.class.getResourceAsStream("grpc/" + name)) {
            Files.copy(in, directory.resolve(name));
        }
    }

    @Test
    void everyKindOfCallPasses() throws IOException {
        int port = PackedProduct.freePort();
        Path config = directory.resolve("millrace.yaml");
        Files.writeString(config, """
                listen: [{address: "127.0.0.1:%d", h2c: true}]
                remap: [{map: "http://grpc.example/", to: "http://127.0.0.1:%d/", origin: {http2: prior_knowledge}}]
                """.formatted(port, serverPort()));
        product.launch().config(config).listeningByFile(port).start();
        Command calls = Command.run(
                directory, Duration.ofMinutes(2), List.of(python(), "client.py", String.valueOf(port), "grpc.example"));
        assertEquals(EXPECTED, calls.out(), calls::err);
    }
}
