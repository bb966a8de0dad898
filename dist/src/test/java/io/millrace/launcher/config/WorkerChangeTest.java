package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.process.WorkerCommand;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.proxy.TestKeys;
import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import io.millrace.proxy.admin.config.ConfigControl.Setting;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.status.RestartResource.RestartReport;
import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.net.UnixAddress;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.SettingChange;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Tests which worker applies a change: the running worker, or a new one that replaces it and has the settings that this
 * launcher expects.
 */
class WorkerChangeTest extends ConfigChangesFixture {
    private static final int SOL_IP = 0;
    private static final int IP_TRANSPARENT = 19;

    @Test
    void rollsAWorkerForSettingsThatNeedANewOne() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("cache.ram_size", "64MiB", "limits.connections", "5"), false));

        assertEquals(Map.of("cache.ram_size", Result.ROLLED, "limits.connections", Result.APPLIED), results(report));
        assertEquals(5, read(worker.rolled.remove()).limits().connections());
    }

    @Test
    void aPlanContainsTheDurationOfARoll() throws Exception {
        run(FILE);
        Files.writeString(file, FILE.replace("1000", "2000"));
        assertEquals(List.of(), done(changes.plan(null)).notes(), "no roll");
        Files.writeString(file, FILE + "cache: {ram_size: 64MiB}\n");
        String before = "a new worker replaces the old one, which serves in the meantime: ";
        assertEquals(
                List.of(before + "its warm-up takes at most 60 s (worker.warm_up_limit)"),
                done(changes.plan(null)).notes());
        worker.lastRoll = OptionalLong.of(7_250_000_000L);
        assertEquals(
                List.of(before + "the last roll took 7.3 s"),
                done(changes.plan(null)).notes());
    }

    @Test
    void keepsTheRunningWorkerWhenTheNewOneDoesNotStart() throws Exception {
        run(FILE);
        worker.obstacle = "the worker is starting; try again";
        ReloadReport report = done(changes.set(Map.of("cache.ram_size", "64MiB"), false));

        assertEquals(
                List.of(new Setting("cache.ram_size", Result.REJECTED, "the worker is starting; try again")),
                report.settings());
        assertEquals(List.of(), inspection.diff().pending());
        assertEquals(1, inspection.history().size());
    }

    /** The sockets are those of the running worker, so that the option would change for its connections. */
    @Test
    void aFailedRollLeavesTheTransparencyOfTheListeningSockets() throws Exception {
        run(FILE);
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ListeningSockets sockets = ListeningSockets.open(Map.of("127.0.0.1:0", anyPort), 1, Map.of())) {
            assumeTrue(isPermitted(sockets), "IP_TRANSPARENT needs CAP_NET_ADMIN");
            ConfigReader.Reading reading = running.reader().read();
            running.begin(reading, new WorkerPlan(reading.source(), unused -> null, sockets));
            worker.rollObstacle = "the new worker did not start";
            Files.writeString(file, FILE.replace("[\"127.0.0.1:0\"]", "[{address: \"127.0.0.1:0\", transparent: in}]"));
            ReloadReport report = done(changes.reload());
            assertFalse(report.ok(), report::toString);
            assertEquals(0, transparency(sockets));
            worker.rollObstacle = null;
            report = done(changes.reload());
            assertTrue(report.ok(), report::toString);
            assertEquals(1, transparency(sockets));
        }
    }

    private static boolean isPermitted(ListeningSockets sockets) throws LaunchException {
        try {
            sockets.applyTransparency(Map.of("127.0.0.1:0", Transparency.IN));
        } catch (LaunchException e) {
            return false;
        }
        sockets.applyTransparency(Map.of());
        return true;
    }

    private static int transparency(ListeningSockets sockets) throws IOException {
        int descriptor = sockets.descriptors().get(0).intValue();
        return new Socket(descriptor).getIntOpt(SOL_IP, IP_TRANSPARENT);
    }

    @Test
    void aRestartFollowsAnEarlierChangeAndUsesItsResult() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        CompletionStage<ReloadReport> change = changes.set(Map.of("limits.connections", "2000"), false);
        CompletionStage<RestartReport> restart = new WorkerRestart(changes, running, () -> WorkerStatus.NONE).restart();
        worker.gate.complete(null);

        assertTrue(done(change).ok());
        restart.toCompletableFuture().join();
        assertEquals(2000, read(worker.rolled.remove()).limits().connections());
    }

    @Test
    void aRestartBindsADeletedUnixSocketAgain() throws Exception {
        Path socket = directory.resolve("http.sock");
        String address = "unix:" + socket;
        run(FILE.replace("127.0.0.1:0", address));
        try (ListeningSockets sockets =
                ListeningSockets.open(Map.of(address, new UnixAddress(socket, 0600, null)), 1, Map.of())) {
            ConfigReader.Reading reading = running.reader().read();
            running.begin(reading, new WorkerPlan(reading.source(), unused -> null, sockets));
            Files.delete(socket);
            for (int restarts = 0; restarts < 2; restarts++) {
                new WorkerRestart(changes, running, () -> WorkerStatus.NONE)
                        .restart()
                        .toCompletableFuture()
                        .join();
                SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
            }
            ListeningSockets bound = running.current().plan().sockets();
            assertNotSame(sockets, bound);
            bound.close();
        }
    }

    @Test
    void aFailedRestartReportsTheReason() throws Exception {
        run(FILE);
        worker.obstacle = "the worker is starting; try again";
        Throwable failure = new WorkerRestart(changes, running, () -> WorkerStatus.NONE)
                .restart()
                .handle((report, why) -> why)
                .toCompletableFuture()
                .join();

        AdminException refused = (AdminException) failure.getCause();
        assertEquals("restart-failed", refused.code());
        assertEquals("the worker was not replaced: the worker is starting; try again", refused.getMessage());
    }

    @Test
    void aRolledWorkerBeatsAsOftenAsThisLauncherExpects() throws Exception {
        run(FILE);
        Files.writeString(
                file, FILE + "worker: {heartbeat_interval: 30s, heartbeat_timeout: 60s}\ncache: {ram_size: 64MiB}\n");
        assertEquals(Result.RELAUNCH, results(done(changes.reload())).get("worker.heartbeat_interval"));
        WorkerCommand command = (WorkerCommand) worker.starters.remove();

        assertEquals(64 << 20, command.config().cache().ramBytes());
        assertEquals(1000, command.config().worker().heartbeatIntervalMillis(), "its patience is 10 s");
    }

    /**
     * These settings do not give access to the admin address. It stays until the launcher is restarted, and so does the
     * worker's knowledge of it.
     */
    @Test
    void workersKnowWhereThisLauncherListens() throws Exception {
        Path token = Files.writeString(directory.resolve("token"), "0123456789abcdef");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        String admin = "admin: {listen: '127.0.0.1:%d', token_file: " + token + "}\n";
        run(FILE + admin.formatted(8011));
        Files.writeString(file, FILE + admin.formatted(8012));
        assertEquals(Result.RELAUNCH, results(done(changes.reload())).get("admin.listen"));
        assertEquals(8011, adminPort(worker.reloaded.remove()));
        Files.writeString(file, FILE + "cache: {ram_size: 64MiB}\n");
        assertEquals(Result.RELAUNCH, results(done(changes.reload())).get("admin.listen"));
        assertEquals(8011, adminPort(worker.rolled.remove()));
    }

    /** The worker has the address of this launcher, and neither its tokens nor its TLS any more. */
    @Test
    void anAdminSectionThatIsRemovedIsPending() throws Exception {
        TestKeys keys = TestKeys.ofLocalhost(Files.createDirectory(directory.resolve("keys")));
        Path token = Files.writeString(directory.resolve("token"), "0123456789abcdef");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        run(FILE + "admin: {listen: ':8011', token_file: " + token + ", tls: {certificate: " + keys.certificate()
                + ", key: " + keys.key() + "}}\n");
        Files.writeString(file, FILE + "cache: {ram_size: 64MiB}\n");
        assertEquals(Result.RELAUNCH, results(done(changes.reload())).get("admin.listen"));
        assertEquals(8011, adminPort(worker.rolled.remove()));
    }

    private static int adminPort(ConfigSource source) {
        return Objects.requireNonNull(read(source).admin().listen()).port();
    }

    @Test
    void aWorkerThatHadAnotherConfigurationIsReplaced() throws Exception {
        run(FILE);
        worker.answers = List.of(
                new SettingChange("cache.ram_size", "rejected", "needs a new worker"),
                new SettingChange("limits.connections", "applied", ""));
        assertEquals(
                Map.of("limits.connections", Result.APPLIED),
                results(done(changes.set(Map.of("limits.connections", "2000"), false))));

        assertEquals(2000, read(worker.rolled.remove()).limits().connections());
        assertEquals(2000, connections());
    }

    @Test
    void anUnresponsiveWorkerIsReplacedByOneWithTheChange() throws Exception {
        run(FILE);
        worker.late.set(1);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000"), false));

        String detail = "was 1000, is 2000; the worker did not answer in time, so a new worker started with the change";
        assertEquals(List.of(new Setting("limits.connections", Result.ROLLED, detail)), report.settings());
        assertEquals(2000, read(worker.rolled.remove()).limits().connections());
        assertEquals(2000, connections());
    }

    @Test
    void anUnresponsiveWorkerReturnsWhenNoOtherStarts() throws Exception {
        run(FILE);
        worker.late.set(1);
        worker.rollObstacle = "exited with status 1";
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000"), false));

        String detail = "the worker did not answer in time, and no new worker could be started: exited with status 1";
        assertEquals(List.of(new Setting("limits.connections", Result.REJECTED, detail)), report.settings());
        assertEquals(2000, read(worker.reloaded.remove()).limits().connections());
        assertEquals(1000, read(worker.reloaded.remove()).limits().connections(), "it goes back");
        assertEquals(1000, connections());
    }

    @Test
    void anUnknownResultOfAWorkerIsReported() throws Exception {
        run(FILE);
        worker.late.set(2);
        worker.rollObstacle = "exited with status 1";
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000"), false));

        String detail = report.settings().get(0).detail();
        assertTrue(
                detail.endsWith(
                        "the worker may have applied the change, or may still apply it: replace the worker with millctl server restart"),
                detail);
    }

    @Test
    void theNextWorkerWarmsUpAsLongAsTheLimitThatHoldsThen() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("worker.warm_up_limit", "3s"), false));
        assertEquals(Map.of("worker.warm_up_limit", Result.APPLIED), results(report));
        assertEquals(List.of(), List.copyOf(worker.rolled), "a limit is no reason for a roll");
        done(changes.set(Map.of("cache.ram_size", "64MiB"), false));
        assertEquals(
                Duration.ofSeconds(3), read(worker.rolled.remove()).worker().warmUpLimit());
    }

    /** A drain uses the timeout that is in force when it begins, not the one at the start. */
    @Test
    void aWorkerDrainsInTheTimeThatHoldsThen() throws Exception {
        run(FILE);
        done(changes.set(Map.of("timeouts.drain", "7s"), false));
        assertEquals(TimeUnit.SECONDS.toNanos(7), running.drainNanos());
        done(changes.set(Map.of("cache.ram_size", "64MiB"), false));
        done(changes.set(Map.of("timeouts.drain", "9s", "cache.ram_size", "65MiB"), false));
        assertEquals(List.of(TimeUnit.SECONDS.toNanos(7), TimeUnit.SECONDS.toNanos(9)), List.copyOf(worker.drainNanos));
    }
}
