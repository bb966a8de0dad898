package io.millrace.launcher.supervise;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerStarter;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.ListenerSockets;
import io.millrace.worker.control.SettingChange;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A worker of another version, left by the launcher before an upgrade: its process is any, its words are canned. */
@Timeout(60)
class SupervisorTest {
    private static final int EARLIER = ControlMessage.PROTOCOL_VERSION - 1;

    private static final ListenerSockets HELD = new ListenerSockets(":0", ":8080", 2);

    private static final ControlMessage READY = new ControlMessage.Ready("epoll", "none", "17");

    @TempDir
    Path directory;

    private final EventLoop loop = new DefaultEventLoop();
    private final EmbeddedChannel control = new EmbeddedChannel();
    private final Queue<WorkerStatus> ready = new ConcurrentLinkedQueue<>();
    private Process worker;
    private Supervisor supervisor;
    private long heartbeatTimeoutNanos = TimeUnit.SECONDS.toNanos(60);
    private CompletableFuture<Adoption.Result> left;

    @BeforeAll
    static void loadNativeSockets() {
        Epoll.ensureAvailability();
    }

    private void adopt(int version, ControlMessage... words) throws IOException {
        worker = new ProcessBuilder("sleep", "60").start();
        supervisor = new Supervisor(loop, new ControlPaths(directory), heartbeatTimeoutNanos, ready::add);
        left = supervisor.adopt(new WorkerIdentity.Survivor(worker.toHandle(), 1, 0));
        onLoop(() -> supervisor.peers().connected(worker.pid(), control));
        says(new ControlMessage.Hello(version, words.length == 0 ? List.of(HELD) : List.of()));
        for (ControlMessage word : words.length == 0 ? new ControlMessage[] {READY} : words) {
            says(word);
        }
    }

    private void says(ControlMessage message) {
        onLoop(() -> supervisor.peers().received(worker.pid(), message));
    }

    private void onLoop(Runnable task) {
        loop.submit(task).syncUninterruptibly();
    }

    @AfterEach
    void close() {
        worker.destroyForcibly();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private static ConfigSource source() {
        return new ConfigSource(new ConfigDocument("m.yaml", Path.of("/"), "", Map.of()), Map.of(), Map.of());
    }

    @Test
    void takesTheSocketsOfAWorkerOfAnEarlierVersionAndLetsItFinish() throws Exception {
        adopt(EARLIER);
        assertEquals(WorkerState.READY, supervisor.status().state());
        assertEquals(new ControlMessage.ReturnSockets(), control.readOutbound());

        supervisor.start(new WorkerPlan(source(), generation -> worker, null), 5);
        onLoop(() -> {});
        assertEquals(new ControlMessage.Drain(5), control.readOutbound());
        assertEquals(WorkerState.DRAINING, supervisor.status().state());
    }

    @Test
    void aStopBeforeTheStartHasTheWorkerThatWasTakenOverFinishAndStartsNone() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION);
        assertEquals(new ControlMessage.ReturnSockets(), control.readOutbound());
        Shells successors = new Shells("exec sleep 60");
        ListeningSockets sockets = ListeningSockets.open(
                Map.of("a", new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)), 1, Map.of());
        CompletableFuture<Void> stopped = supervisor.stop(5);
        supervisor.start(new WorkerPlan(source(), successors, sockets), 5);
        onLoop(() -> {});

        assertEquals(new ControlMessage.Drain(5), control.readOutbound());
        assertTrue(successors.started.isEmpty());
        assertTrue(sockets.descriptors().get(0).isOpen(), "until it accepts no more");
        says(new ControlMessage.Draining());
        assertFalse(sockets.descriptors().get(0).isOpen());
        assertFalse(stopped.isDone(), "it finishes what it is doing");
        worker.destroyForcibly();
        stopped.get();
    }

    @Test
    void aWorkerThatWasTakenOverAndHasNotSaidYetThatItServesIsNotKilledByAStop() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION, new ControlMessage.Beat());
        supervisor.stop(TimeUnit.HOURS.toNanos(1));
        onLoop(() -> {});

        assertEquals(new ControlMessage.Drain(TimeUnit.HOURS.toNanos(1)), control.readOutbound());
        assertTrue(worker.isAlive());
    }

    @Test
    void saysWhoServesWhenTheSuccessorOfAWorkerThatWasTakenOverDoesNotComeUp() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION);
        WorkerStarter broken = generation -> {
            throw new IOException("no such JDK");
        };
        supervisor.start(new WorkerPlan(source(), broken, ListeningSockets.open(Map.of(), 1, Map.of())), 5);
        onLoop(() -> {});

        assertEquals(worker.pid(), ready.remove().pid());
        assertEquals(WorkerState.READY, supervisor.status().state());
    }

    @Test
    void aWorkerThatGivesBackTooFewSocketsIsKilled() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION);
        FileDescriptor one = Socket.newSocketStream();
        onLoop(() -> supervisor.peers().receivedDescriptors(worker.pid(), List.of(one)));

        assertEquals(Adoption.Result.NOTHING, left.get());
        assertFalse(worker.isAlive());
        assertFalse(one.isOpen());
    }

    @Test
    void aWorkerWithoutSocketsThatServesHasBoundThemItself() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION, READY);
        assertTrue(left.get().servesOnItsOwn());
        assertEquals(WorkerState.READY, supervisor.status().state());

        CompletableFuture<Void> hasStoppedAccepting = supervisor.drainAdopted(5);
        onLoop(() -> {});
        assertEquals(new ControlMessage.Drain(5), control.readOutbound());
        assertFalse(hasStoppedAccepting.isDone());
        says(new ControlMessage.Draining());
        hasStoppedAccepting.get();
        assertEquals(-1, supervisor.status().pid());
    }

    @Test
    void aWorkerThatWasToldToStopLeavesNothing() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION, new ControlMessage.Draining());

        assertEquals(Adoption.Found.FINISHING, left.get().found());
        assertEquals(-1, supervisor.status().pid());
        assertTrue(worker.isAlive(), "it finishes what it is doing");
    }

    @Test
    void aWorkerThatIsToldToStopBeforeItGivesItsSocketsBackLeavesNothing() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION);
        says(new ControlMessage.Draining());

        assertEquals(Adoption.Found.FINISHING, left.get().found());
    }

    @Test
    void givesNoConfigurationToAWorkerThatWouldReadItWrongly() throws Exception {
        adopt(EARLIER);
        control.readOutbound();
        List<SettingChange> answers = supervisor.reload(source()).join();

        assertEquals("*", answers.get(0).key());
        assertEquals("rejected", answers.get(0).result());
        assertNull(control.readOutbound());
        assertEquals(WorkerState.READY, supervisor.status().state());
    }

    /** Starts one shell after the other, each in the place of a worker. */
    private static final class Shells implements WorkerStarter {
        private final Queue<Process> started = new ConcurrentLinkedQueue<>();
        private final String command;
        private boolean distrusted;

        Shells(String command) {
            this.command = command;
        }

        @Override
        public Process start(long generation) throws IOException {
            Process shell = new ProcessBuilder("sh", "-c", distrusted ? "exec sleep 60" : command).start();
            started.add(shell);
            return shell;
        }

        @Override
        public boolean discardArchive() {
            boolean before = distrusted;
            distrusted = true;
            return !before;
        }
    }

    @Test
    void aRollIsTriedOnceMoreWithoutWhatItsWorkerMayHaveCrashedWith() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION);
        Shells crashing = new Shells("kill -SEGV $$");
        supervisor.start(new WorkerPlan(source(), crashing, ListeningSockets.open(Map.of(), 1, Map.of())), 5);

        await().until(() -> crashing.started.size() == 2);
        assertTrue(ready.isEmpty(), "the roll is under way");
        crashing.started.forEach(Process::destroyForcibly);
        await().until(() -> !ready.isEmpty());
        assertEquals(2, crashing.started.size());
    }

    @Test
    void aWorkerThatMayHaveCrashedWithWhatMakesStartsFasterIsReplacedAtOnce() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION, new ControlMessage.Draining());
        Shells crashing = new Shells("kill -SEGV $$");
        supervisor.start(new WorkerPlan(source(), crashing, null), 5);

        await().until(() -> crashing.started.size() == 2);
        onLoop(() -> {});
        assertEquals(WorkerState.STARTING, supervisor.status().state());
        crashing.started.forEach(Process::destroyForcibly);
    }

    @Test
    void aStartThatBreaksIsAStartThatFails() throws Exception {
        adopt(ControlMessage.PROTOCOL_VERSION);
        WorkerStarter broken = generation -> {
            throw new IllegalStateException("broken");
        };
        supervisor.start(new WorkerPlan(source(), broken, ListeningSockets.open(Map.of(), 1, Map.of())), 5);
        onLoop(() -> {});

        assertEquals(worker.pid(), ready.remove().pid());
    }

    @Test
    void aWorkerThatHangsWhenItIsToldToDrainDoesNotKeepClientsWaitingForTheDrain() throws Exception {
        heartbeatTimeoutNanos = TimeUnit.SECONDS.toNanos(2);
        adopt(ControlMessage.PROTOCOL_VERSION, READY);
        supervisor.start(new WorkerPlan(source(), new Shells("exec sleep 60"), null), TimeUnit.HOURS.toNanos(1));

        assertTrue(worker.waitFor(30, TimeUnit.SECONDS));
    }
}
