package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests a Unix socket for clients on the packed product: over a roll, and from one launcher to the next. */
@Tag("nightly")
class UnixListenersTest {
    private static final int REQUESTS = 20;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private final Path directory = shortDirectory();
    private final Path socket = directory.resolve("http.sock");
    private final Path config = directory.resolve("millrace.yaml");
    private final int port = PackedProduct.freePort();

    /** The path of a socket is limited to 107 bytes, so it is not below the product's directory. */
    private static Path shortDirectory() {
        try {
            return Files.createTempDirectory("unix");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void write(String mode) throws IOException {
        Files.writeString(config, """
                listen:
                  - 127.0.0.1:%d
                  - {address: "unix:%s", socket_mode: "%s"}
                worker: {event_loops: 2}
                remap: [{map: /, to: "%s/"}]
                """.formatted(port, socket, mode, origin.url()));
    }

    private String get() throws IOException {
        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            client.write(ByteBuffer.wrap(
                    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
            return new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    private void assertServes() throws IOException {
        for (int i = 0; i < REQUESTS; i++) {
            String response = get();
            assertTrue(response.endsWith("the origin"), response);
        }
    }

    private String mode() throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(socket));
    }

    @Test
    void theSocketOutlivesRollAndLauncherAndIsDeletedAtTheEnd() throws Exception {
        origin.serves("/", "the origin", "Cache-Control: max-age=3600");
        write("0660");
        MillraceProcess first = product.launch()
                .config(config)
                .listeningByFile(port)
                .shortWarmUp()
                .start();
        assertServes();
        assertEquals("rw-rw----", mode());
        assertTrue(first.millctl("status").succeeds().out().contains("unix:" + socket));

        write("0666");
        String plan = first.millctl("config", "plan").out();
        assertTrue(plan.contains("rolled    listen"), plan);
        long before = first.worker().pid();
        first.millctl("config", "reload").succeeds();
        first.awaitWorkerAfter(before);
        assertServes();
        assertEquals("rw-rw-rw-", mode());

        long second = first.worker().pid();
        first.killLauncher();
        assertServes();
        MillraceProcess next = product.launch()
                .config(config)
                .listeningByFile(port)
                .shortWarmUp()
                .state(first.state())
                .start();
        next.awaitWorkerAfter(second);
        assertServes();

        next.terminate();
        assertEquals(0, next.awaitExit());
        assertFalse(Files.exists(socket), "deleted by the launcher");
    }
}
