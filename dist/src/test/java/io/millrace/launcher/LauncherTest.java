package io.millrace.launcher;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.CannedClient.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests launcher and workers as processes; only the proxy in the worker is canned. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LauncherTest {
    @TempDir
    Path directory;

    @Tag("nightly")
    @Test
    void refusesNoConnectionWhileAKilledWorkerIsReplaced() {
        try (CannedLauncher launcher = CannedLauncher.serving(directory);
                LoadLoop load = new LoadLoop(launcher.client(), 4)) {
            long killed = launcher.worker();
            ProcessHandle.of(killed).orElseThrow().destroyForcibly();
            long successor = launcher.worker();
            long answered = load.count(Outcome.ANSWERED);
            await().atMost(CannedLauncher.PATIENCE).until(() -> load.count(Outcome.ANSWERED) > answered + 20);

            assertNotEquals(killed, successor);
            assertEquals(0, load.count(Outcome.REFUSED), () -> load.counts() + launcher.describe());
            // Connections that the dead worker had accepted: at most one for each client.
            assertTrue(load.count(Outcome.CUT) <= 4, () -> load.counts() + launcher.describe());
        }
    }

    @Tag("nightly")
    @Test
    void replacesAWorkerThatHangs() {
        try (CannedLauncher launcher = CannedLauncher.serving(
                directory, "--set", "worker.heartbeat_interval=50ms", "--set", "worker.heartbeat_timeout=1s")) {
            long hung = launcher.worker();
            CannedLauncher.signal(hung, "STOP");

            // The worker may answer once more before all its threads have stopped.
            await().atMost(CannedLauncher.PATIENCE).until(() -> launcher.worker() != hung);
            assertFalse(ProcessHandle.of(hung).map(ProcessHandle::isAlive).orElse(false));
            assertTrue(launcher.err().contains("has sent no heartbeat for 1000 ms"), launcher::describe);
            assertTrue(
                    launcher.err().contains("the stacks of its threads are printed to standard output"),
                    launcher::describe);
        }
    }

    @Tag("nightly")
    @Test
    void keepsTryingWithGrowingDelaysWhenNoWorkerStarts() {
        try (CannedLauncher launcher =
                CannedLauncher.run(directory, "--origin", "http://broken.invalid", "--listen", "127.0.0.1:0")) {
            await().atMost(CannedLauncher.PATIENCE).until(() -> launcher.err().contains("in 1000 ms"));

            assertTrue(launcher.err().contains("failed: the canned worker was asked to break"), launcher::describe);
            assertTrue(launcher.err().contains("in 500 ms"), launcher::describe);
            assertTrue(launcher.process().isAlive());
        }
    }

    @Test
    void namesTheProcessThatHasThePort() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                CannedLauncher launcher = CannedLauncher.run(
                        directory,
                        "--origin",
                        "http://origin.example",
                        "--listen",
                        "127.0.0.1:" + taken.getLocalPort())) {
            assertEquals(1, launcher.exitCode());
            assertTrue(
                    launcher.err()
                            .contains("127.0.0.1:" + taken.getLocalPort() + " is in use by java (pid "
                                    + ProcessHandle.current().pid() + ")"),
                    launcher::describe);
        }
    }

    @Tag("nightly")
    @Test
    void refusesASecondInstanceAndNamesTheFirst() {
        try (CannedLauncher first = CannedLauncher.serving(directory);
                CannedLauncher second =
                        CannedLauncher.run(directory, "--origin", "http://origin.example", "--listen", "127.0.0.1:0")) {
            assertEquals(1, second.exitCode());
            assertTrue(
                    second.err()
                            .contains("another millrace (pid " + first.process().pid() + ")"),
                    second::describe);
            assertTrue(first.worker() > 0);
        }
    }

    @Tag("nightly")
    @Test
    void finishesCurrentRequestsOnSigterm() {
        try (CannedLauncher launcher = CannedLauncher.serving(directory)) {
            long worker = launcher.worker();
            CannedClient client = launcher.client();
            CompletableFuture<CannedClient.Answer> slow = CompletableFuture.supplyAsync(() -> client.get("/slow"));
            await().until(() -> client.get("/").waiting() == 1);
            launcher.signal("TERM");

            assertEquals(worker, slow.join().worker());
            assertEquals(0, launcher.exitCode(), launcher::describe);
            assertEquals(Outcome.REFUSED, client.attempt("/"));
            assertFalse(Files.exists(directory.resolve("state/run/control.sock")));
            assertFalse(Files.exists(directory.resolve("state/admin.sock")));
        }
    }

    @Test
    void reloadsLiveSettingsIntoTheSameWorker() throws IOException {
        Path file = config("http://one.example", "1s");
        try (CannedLauncher launcher = CannedLauncher.run(directory, "--config", file.toString())) {
            launcher.awaitListening();
            long worker = launcher.worker();
            config("http://two.example", "1s");
            launcher.signal("HUP");

            await().atMost(CannedLauncher.PATIENCE)
                    .until(() -> launcher.client().get("/").origin().contains("two.example"));
            assertEquals(worker, launcher.worker());
        }
    }

    @Test
    void rollsTheWorkerForSettingsThatNeedANewOne() throws IOException {
        Path file = config("http://one.example", "1s");
        try (CannedLauncher launcher = CannedLauncher.run(directory, "--config", file.toString())) {
            launcher.awaitListening();
            long worker = launcher.worker();
            try (LoadLoop load = new LoadLoop(launcher.client(), 2)) {
                config("http://two.example", "2s");
                launcher.signal("HUP");

                await().atMost(CannedLauncher.PATIENCE)
                        .until(() -> launcher.client().get("/").origin().contains("two.example"));
                assertNotEquals(worker, launcher.worker());
                assertEquals(0, load.count(Outcome.REFUSED), () -> load.counts() + launcher.describe());
                assertEquals(0, load.count(Outcome.CUT), () -> load.counts() + launcher.describe());
            }
        }
    }

    @Test
    void servesOnWithTheOldConfigurationWhenTheNewWorkerDoesNotComeUp() throws IOException {
        Path file = config("http://one.example", "1s");
        try (CannedLauncher launcher = CannedLauncher.run(directory, "--config", file.toString())) {
            launcher.awaitListening();
            try (LoadLoop load = new LoadLoop(launcher.client(), 2)) {
                config("http://broken.invalid", "2s");
                launcher.signal("HUP");

                await().atMost(CannedLauncher.PATIENCE)
                        .until(() -> launcher.err().contains("the changed configuration is rejected"));
                assertTrue(launcher.client().get("/").origin().contains("one.example"), launcher::describe);
                assertEquals(0, load.count(Outcome.REFUSED), () -> load.counts() + launcher.describe());
            }
        }
    }

    @Test
    void replacesAWorkerThatSomebodyElseStops() {
        try (CannedLauncher launcher = CannedLauncher.serving(directory);
                LoadLoop load = new LoadLoop(launcher.client(), 2)) {
            long stopped = launcher.worker();
            CannedLauncher.signal(stopped, "TERM");

            await().atMost(CannedLauncher.PATIENCE).until(() -> launcher.worker() != stopped);
            assertEquals(0, load.count(Outcome.REFUSED), () -> load.counts() + launcher.describe());
            assertEquals(0, load.count(Outcome.CUT), () -> load.counts() + launcher.describe());
        }
    }

    @Test
    void stopsAtOnceOnASecondSignal() {
        try (CannedLauncher launcher = CannedLauncher.serving(directory)) {
            CannedClient client = launcher.client();
            CompletableFuture<Outcome> slow = CompletableFuture.supplyAsync(() -> client.attempt("/endless"));
            await().until(() -> client.get("/").waiting() == 1);
            launcher.signal("TERM");
            await().atMost(CannedLauncher.PATIENCE).until(() -> launcher.err().contains("waiting for requests"));
            launcher.signal("TERM");

            assertEquals(143, launcher.exitCode(), launcher::describe);
            assertNotEquals(Outcome.ANSWERED, slow.join());
        }
    }

    @Test
    void keepsTheRunningConfigurationWhenTheChangedOneHasAProblem() throws IOException {
        Path file = config("http://one.example", "1s");
        try (CannedLauncher launcher = CannedLauncher.run(directory, "--config", file.toString())) {
            launcher.awaitListening();
            Files.writeString(file, Files.readString(file).replace("remap:", "remapp:"));
            launcher.signal("HUP");

            await().atMost(CannedLauncher.PATIENCE).until(() -> launcher.err().contains("did you mean remap?"));
            assertTrue(launcher.client().get("/").origin().contains("one.example"));
        }
    }

    @Test
    void saysEveryProblemOfTheFirstConfigurationAndExitsWithTwo() throws IOException {
        Path file = config("http://one.example", "1s");
        Files.writeString(
                file, Files.readString(file).replace("remap:", "remapp:").replace("listen:", "lissen:"));
        try (CannedLauncher launcher = CannedLauncher.run(directory, "--config", file.toString())) {
            assertEquals(2, launcher.exitCode());
            assertTrue(launcher.err().contains(file + ":1:1: lissen: unknown key"), launcher::describe);
            assertTrue(launcher.err().contains("did you mean remap?"), launcher::describe);
        }
    }

    @Test
    void talksToItsOwnWorkersOnly() throws IOException {
        try (CannedLauncher launcher = CannedLauncher.serving(directory);
                SocketChannel intruder = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            intruder.connect(UnixDomainSocketAddress.of(directory.resolve("state/run/descriptors.sock")));

            assertEquals(-1, intruder.read(ByteBuffer.allocate(1)));
            assertTrue(
                    launcher.err()
                            .contains("a connection of process "
                                    + ProcessHandle.current().pid()),
                    launcher::describe);
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
