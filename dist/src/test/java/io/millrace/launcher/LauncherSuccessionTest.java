package io.millrace.launcher;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.CannedClient.Outcome;
import io.millrace.system.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a launcher that starts on the state directory of a launcher that has exited, with real processes. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LauncherSuccessionTest {
    @TempDir
    Path directory;

    @Test
    void goesOnServingWithoutALauncherUntilTheNextOneTakesOver() throws IOException {
        try (CannedLauncher first = CannedLauncher.serving(directory)) {
            long orphan = first.worker();
            Path drained = Files.createFile(drainMark());
            first.process().destroyForcibly();
            await().until(() -> !first.process().isAlive());
            assertEquals(orphan, first.worker());

            try (LoadLoop load = new LoadLoop(first.client(), 2);
                    CannedLauncher second = CannedLauncher.serving(directory)) {
                assertEquals(first.port(), second.port());
                assertNotEquals(orphan, second.worker());
                await().atMost(CannedLauncher.PATIENCE)
                        .until(() -> ProcessHandle.of(orphan).isEmpty());
                assertEquals(0, load.count(Outcome.REFUSED), () -> load.counts() + second.describe());
                assertEquals(0, load.count(Outcome.CUT), () -> load.counts() + second.describe());
                assertTrue(Files.exists(drained), "what an operator drains stays drained when the launcher dies");
            }
        }
    }

    /** Otherwise the old worker would miss the purges of other nodes during the warm-up of its successor. */
    @Tag("nightly")
    @Test
    void joinsTheFleetWhileTheSuccessorOfTheAdoptedWorkerWarmsUp() throws IOException {
        try (ServerSocket nats = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
                CannedLauncher first = CannedLauncher.serving(directory)) {
            nats.setSoTimeout(30_000);
            long orphan = first.worker();
            first.process().destroyForcibly();
            await().until(() -> !first.process().isAlive());
            String[] next = {
                "--origin", "http://warm-hangs.example",
                "--listen", "127.0.0.1:0",
                "--set", "fleet.name=cdn",
                "--set", "fleet.node=n1",
                "--set", "fleet.servers=[\"nats://127.0.0.1:" + nats.getLocalPort() + "\"]"
            };
            try (CannedLauncher second = CannedLauncher.run(directory, next);
                    Socket connected = nats.accept()) {
                assertTrue(connected.isConnected());
                assertEquals(orphan, first.worker(), second::describe);
            }
        }
    }

    @Tag("nightly")
    @Test
    void aStopInTheMiddleOfATakeoverStopsTheWorkerThatWasToBeTakenOver() {
        try (CannedLauncher first = CannedLauncher.serving(directory)) {
            long orphan = first.worker();
            first.process().destroyForcibly();
            await().until(() -> !first.process().isAlive());
            assertEquals(orphan, first.worker());
            CannedLauncher.signal(orphan, "STOP");

            try (CannedLauncher second =
                    CannedLauncher.run(directory, "--origin", "http://origin.example", "--listen", "127.0.0.1:0")) {
                await().atMost(CannedLauncher.PATIENCE)
                        .until(() -> second.err().contains("worker " + orphan + " of an earlier launcher is running"));
                second.signal("TERM");
                await().atMost(CannedLauncher.PATIENCE).until(() -> second.err().contains("stopping: waiting"));
                CannedLauncher.signal(orphan, "CONT");

                assertEquals(0, second.exitCode(), second::describe);
                assertFalse(ProcessHandle.of(orphan).map(ProcessHandle::isAlive).orElse(false), second::describe);
                assertEquals(Outcome.REFUSED, first.client().attempt("/"));
            }
        }
    }

    private Path drainMark() {
        return directory.resolve("state/run/server.draining");
    }

    @Tag("nightly")
    @Test
    void aStartAfterAStopDrainsNothing() throws IOException {
        try (CannedLauncher first = CannedLauncher.serving(directory)) {
            Files.createFile(drainMark());
            first.signal("TERM");
            assertEquals(0, first.exitCode(), first::describe);
        }
        try (CannedLauncher second = CannedLauncher.serving(directory)) {
            assertFalse(Files.exists(drainMark()), second::describe);
        }
    }

    @Tag("nightly")
    @Test
    void aStartAfterTheWorkerOfADeadLauncherWasStoppedDrainsNothing() throws IOException {
        try (CannedLauncher first = CannedLauncher.serving(directory)) {
            Files.createFile(drainMark());
            CannedClient client = first.client();
            CompletableFuture<Outcome> endless = CompletableFuture.supplyAsync(() -> client.attempt("/endless"));
            await().until(() -> client.get("/").waiting() == 1);
            long stopped = first.worker();
            first.process().destroyForcibly();
            await().until(() -> !first.process().isAlive());
            CannedLauncher.signal(stopped, "TERM");
            await().atMost(CannedLauncher.PATIENCE).until(() -> client.attempt("/") == Outcome.REFUSED);

            try (CannedLauncher second = CannedLauncher.serving(directory)) {
                assertFalse(Files.exists(drainMark()), second::describe);
                assertNotEquals(stopped, second.worker());
            } finally {
                ProcessHandle.of(stopped).ifPresent(ProcessHandle::destroyForcibly);
            }
            assertNotEquals(Outcome.ANSWERED, endless.join());
        }
    }

    @Tag("nightly")
    @ParameterizedTest(name = "{0}, then {1}")
    @CsvSource({"nio, nio", "nio, epoll", "epoll, nio"})
    void takesOverWhereWorkersBindForThemselves(String before, String after) {
        String listen = "127.0.0.1:" + FreePorts.next();
        String[] first = {"--origin", "http://one.example", "--listen", listen, "--set", "worker.transport=" + before};
        String[] second = {"--origin", "http://two.example", "--listen", listen, "--set", "worker.transport=" + after};
        try (CannedLauncher dead = CannedLauncher.run(directory, first)) {
            dead.awaitListening();
            long orphan = dead.worker();
            dead.process().destroyForcibly();
            await().until(() -> !dead.process().isAlive());
            assertEquals(orphan, dead.worker());

            try (CannedLauncher next = CannedLauncher.run(directory, second)) {
                next.awaitListening();
                assertTrue(next.client().get("/").origin().contains("two.example"), next::describe);
                await().atMost(CannedLauncher.PATIENCE)
                        .until(() -> ProcessHandle.of(orphan).isEmpty());
                assertFalse(next.err().contains("killing the worker"), next::describe);
            }
        }
    }

    @Tag("nightly")
    @Test
    void setValuesOutliveTheWorkerAndNotTheLauncher() throws IOException {
        Path file = config("http://one.example", "1s");
        try (CannedLauncher first = CannedLauncher.run(directory, "--config", file.toString())) {
            first.awaitListening();
            String answer =
                    admin("/v1/config/set", "{\"settings\":{\"remap\":\"[{map: /, to: http://set.example}]\"}}");
            assertTrue(answer.contains("\"result\":\"applied\""), answer);
            assertTrue(first.client().get("/").origin().contains("set.example"));
            long killed = first.worker();
            ProcessHandle.of(killed).orElseThrow().destroyForcibly();
            assertNotEquals(killed, first.worker());
            assertTrue(first.client().get("/").origin().contains("set.example"), first::describe);
            answer = admin("/v1/config/set", "{\"settings\":{\"store.sync_interval\":\"2s\"}}");
            assertTrue(answer.contains("\"result\":\"rolled\""), answer);
            assertTrue(first.client().get("/").origin().contains("set.example"), "in the worker that was rolled, too");

            first.process().destroyForcibly();
            await().until(() -> !first.process().isAlive());
            assertTrue(first.client().get("/").origin().contains("set.example"), "the worker serves on as it is");
            try (CannedLauncher second = CannedLauncher.run(directory, "--config", file.toString())) {
                second.awaitListening();
                await().atMost(CannedLauncher.PATIENCE)
                        .until(() -> second.client().get("/").origin().contains("one.example"));
            }
        }
    }

    /** Sends a request to the launcher's admin socket, and returns the whole response. */
    private String admin(String path, String body) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(directory.resolve("state/admin.sock")));
            String request = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
                    + body.length() + "\r\n\r\n" + body;
            channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
            ByteBuffer answer = ByteBuffer.allocate(1 << 16);
            while (channel.read(answer) >= 0) {
                // Reads until the launcher closes the connection.
            }
            return new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
        }
    }

    private Path config(String origin, String syncInterval) throws IOException {
        Path file = directory.resolve("millrace.yaml");
        Files.writeString(file, """
                listen: ["127.0.0.1:0"]
                remap:
                  - map: /
                    to: %s
                store:
                  sync_interval: %s
                """.formatted(origin, syncInterval));
        return file;
    }
}
