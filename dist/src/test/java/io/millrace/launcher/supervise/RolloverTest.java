package io.millrace.launcher.supervise;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a roll step by step, with arbitrary processes and canned messages. */
@Timeout(60)
class RolloverTest {
    private static final ControlMessage READY = new ControlMessage.Ready("epoll", "none", "17");
    private static final byte[] CHANGE = {1, 2, 3};

    @TempDir
    Path directory;

    private final EventLoop loop = new DefaultEventLoop();
    private final List<Canned> started = new ArrayList<>();
    private final ConcurrentLinkedQueue<Process> launched = new ConcurrentLinkedQueue<>();
    private Supervisor supervisor;
    private WorkerPlan plan;
    private Canned old;

    /** An idle process, and the messages that the launcher has sent to it. */
    private final class Canned {
        final Process process;
        final EmbeddedChannel control = new EmbeddedChannel();

        Canned(Process process) {
            this.process = process;
            started.add(this);
        }

        long pid() {
            return process.pid();
        }

        Canned connect() {
            onLoop(() -> supervisor.peers().connected(pid(), control));
            return says(new ControlMessage.Hello(ControlMessage.PROTOCOL_VERSION, List.of()));
        }

        Canned says(ControlMessage message) {
            onLoop(() -> supervisor.peers().received(pid(), message));
            return this;
        }

        ControlMessage told() {
            onLoop(() -> {});
            ControlMessage message;
            do {
                message = control.readOutbound();
            } while (message instanceof ControlMessage.TicketKeys);
            return message;
        }
    }

    private final Queue<Event> events = new ConcurrentLinkedQueue<>();

    private List<EventKind> kinds() {
        return events.stream().map(Event::kind).toList();
    }

    @BeforeAll
    static void loadNativeSockets() {
        Epoll.ensureAvailability();
    }

    @BeforeEach
    void serve() throws Exception {
        supervisor = new Supervisor(loop, new ControlPaths(directory), TimeUnit.SECONDS.toNanos(60), ready -> {});
        supervisor.events(events::add);
        ConfigSource source =
                new ConfigSource(new ConfigDocument("m.yaml", Path.of("/"), "", Map.of()), Map.of(), Map.of());
        plan = new WorkerPlan(source, this::launch, ListeningSockets.open(Map.of(), 1, Map.of()));
        supervisor.start(plan, 5);
        old = next();
        assertFalse(((ControlMessage.Assignment) old.connect().told()).warm(), "nobody serves meanwhile");
        old.says(READY);
    }

    private Process launch(long generation) throws IOException {
        Process process = new ProcessBuilder("sleep", "60").start();
        launched.add(process);
        return process;
    }

    private Canned next() {
        await().until(() -> !launched.isEmpty());
        onLoop(() -> {});
        return new Canned(launched.remove());
    }

    private void onLoop(Runnable task) {
        loop.submit(task).syncUninterruptibly();
    }

    @AfterEach
    void close() {
        onLoop(supervisor::stopAtOnce);
        started.forEach(worker -> worker.process.destroyForcibly());
        launched.forEach(Process::destroyForcibly);
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private CompletableFuture<Void> roll() {
        return supervisor.roll(plan, 5);
    }

    /** Returns the candidate of a roll, connected and ordered to warm up. */
    private Canned warming() {
        Canned candidate = next().connect();
        ControlMessage.Assignment assignment = (ControlMessage.Assignment) candidate.told();
        assertTrue(assignment.standby() && assignment.warm());
        return candidate.says(new ControlMessage.WarmingUp(TimeUnit.SECONDS.toNanos(20)));
    }

    /** Returns the candidate of a roll, ordered to serve while the old worker still answers. */
    private Canned opening() {
        Canned candidate = warming().says(new ControlMessage.Standby());
        assertEquals(new ControlMessage.ReleaseStore(), old.told());
        assertNull(candidate.told(), "the store is not free yet");
        old.says(new ControlMessage.StoreReleased());
        assertEquals(new ControlMessage.Serve(true), candidate.told());
        return candidate;
    }

    private List<Long> identified() throws IOException {
        return Files.readAllLines(directory.resolve("worker.pid")).stream()
                .map(line -> Long.parseLong(line.split(" ", -1)[0]))
                .toList();
    }

    @Test
    void theOldWorkerAcceptsUntilTheNewOneDoes() throws Exception {
        CompletableFuture<Void> done = roll();
        Canned candidate = warming();
        assertEquals(candidate.pid(), supervisor.status().warmUp().pid());
        assertEquals(old.pid(), supervisor.status().pid());
        candidate.says(new ControlMessage.Standby());
        assertNull(supervisor.status().warmUp());
        assertEquals(new ControlMessage.ReleaseStore(), old.told());
        old.says(new ControlMessage.StoreReleased());
        assertEquals(List.of(old.pid(), candidate.pid()), identified());
        assertEquals(old.pid(), supervisor.status().pid());
        assertTrue(supervisor.status().handsOver());
        assertNull(old.told());

        candidate.says(READY);
        assertEquals(new ControlMessage.Drain(5), old.told());
        assertEquals(List.of(candidate.pid()), identified());
        assertEquals(candidate.pid(), supervisor.status().pid());
        assertFalse(supervisor.status().handsOver());
        assertEquals(new ControlMessage.Serve(true), candidate.told());
        assertEquals(new ControlMessage.TakeoverDone(), candidate.told());
        assertNull(candidate.told());
        old.says(new ControlMessage.Draining());
        assertEquals(new ControlMessage.PredecessorClosed(), candidate.told());
        done.get();
        assertTrue(supervisor.lastRollNanos().isPresent());
        assertEquals(List.of(EventKind.ROLL_BEGUN, EventKind.ROLL_ENDED), kinds());
        assertEquals(
                "worker " + candidate.pid(), events.stream().toList().get(1).subject());
    }

    @Test
    void eventsOfWorkersAndTheirDeathsAreReported() throws Exception {
        Event purge = new Event(1, EventKind.PURGE, "a.example", "purge by host", 2);
        old.says(new ControlMessage.WorkerEvent(purge));
        assertEquals(List.of(purge), List.copyOf(events));
        CompletableFuture<Void> done = roll();
        warming();
        old.process.destroyForcibly();
        await().until(() -> kinds().contains(EventKind.WORKER_DIED));
        assertEquals(List.of(EventKind.PURGE, EventKind.ROLL_BEGUN, EventKind.WORKER_DIED), kinds());
        assertFalse(done.isDone());
    }

    @Test
    void aWorkerOfTheVersionBeforeDrainsFirst() throws Exception {
        onLoop(supervisor::stopAtOnce);
        old.process.waitFor();
        old = new Canned(launch(1));
        launched.clear();
        supervisor = new Supervisor(loop, new ControlPaths(directory), TimeUnit.SECONDS.toNanos(60), ready -> {});
        supervisor.adopt(new WorkerIdentity.Survivor(old.process.toHandle(), 1, 0));
        onLoop(() -> supervisor.peers().connected(old.pid(), old.control));
        old.says(new ControlMessage.Hello(4, List.of(new ListenerSockets(":0", ":8080", 1))))
                .says(READY);
        assertEquals(new ControlMessage.ReturnSockets(), old.told());
        supervisor.start(plan, 5);
        Canned candidate = warming().says(new ControlMessage.Standby());
        assertEquals(new ControlMessage.Drain(5), old.told());
        assertNull(candidate.told());
        old.says(new ControlMessage.Draining());
        assertEquals(new ControlMessage.Serve(false), candidate.told());
    }

    @Test
    void aWorkerThatDiesWhileItsSuccessorWarmsUpIsReplacedAtOnce() throws Exception {
        CompletableFuture<Void> done = roll();
        Canned candidate = warming();
        old.process.destroyForcibly();
        await().until(() -> supervisor.status().pid() == candidate.pid());
        assertEquals(new ControlMessage.Serve(false), candidate.told());
        candidate.says(new ControlMessage.Standby()).says(READY);
        done.get();
    }

    @Test
    void aWorkerThatDiesBeforeItsSuccessorHasConnectedIsReplacedByThatWithoutWarmUp() throws Exception {
        roll();
        Canned candidate = next();
        old.process.destroyForcibly();
        await().until(() -> supervisor.status().pid() == candidate.pid());
        ControlMessage.Assignment assignment =
                (ControlMessage.Assignment) candidate.connect().told();
        assertFalse(assignment.standby() || assignment.warm());
    }

    @Test
    void aCandidateThatDiesWhileItWarmsUpIsStartedOnceMoreWithoutWarmUp() throws Exception {
        CompletableFuture<Void> done = roll();
        warming().process.destroyForcibly();
        Canned second = next().connect();
        assertFalse(((ControlMessage.Assignment) second.told()).warm());
        assertNull(supervisor.status().warmUp());
        second.process.destroyForcibly();
        assertThrows(CompletionException.class, done::join);
        assertEquals(WorkerState.READY, supervisor.status().state());
        assertEquals(old.pid(), supervisor.status().pid());
    }

    @Test
    void aCandidateThatDiesWhileItOpensTheStoreLeavesItToTheOldWorker() throws Exception {
        CompletableFuture<Void> done = roll();
        opening().process.destroyForcibly();
        assertThrows(CompletionException.class, done::join);
        assertEquals(new ControlMessage.ReopenStore(), old.told());
        assertEquals(List.of(old.pid()), identified());
        assertFalse(supervisor.status().handsOver());
        old.says(new ControlMessage.StoreReopened());

        roll();
        opening().says(READY);
        assertEquals(new ControlMessage.Drain(5), old.told());
    }

    @Test
    void aWorkerThatDiesWhileItsSuccessorOpensTheStoreIsReplacedByThat() throws Exception {
        CompletableFuture<Void> done = roll();
        Canned candidate = opening();
        old.process.destroyForcibly();
        await().until(() -> supervisor.status().pid() == candidate.pid());
        assertEquals(new ControlMessage.PredecessorClosed(), candidate.told());
        assertEquals(new ControlMessage.TakeoverDone(), candidate.told());
        candidate.says(READY);
        done.get();
        assertEquals(List.of(candidate.pid()), identified());
    }

    @Test
    void changesAfterTheReleaseReachTheNewWorkerAndTheirAnswersTheOldOne() {
        roll();
        Canned candidate = opening();
        old.says(new ControlMessage.Change(7, CHANGE));
        assertNull(candidate.told(), "it has no store yet");
        candidate.says(READY);
        assertEquals(new ControlMessage.TakeoverDone(), candidate.told());
        ControlMessage.Change passed = (ControlMessage.Change) candidate.told();
        assertEquals(new ControlMessage.Change(passed.number(), CHANGE), passed);
        candidate.says(new ControlMessage.ChangeMade(passed.number(), ""));
        assertEquals(new ControlMessage.Drain(5), old.told());
        assertEquals(new ControlMessage.ChangeMade(7, ""), old.told());

        old.says(new ControlMessage.Draining()).says(new ControlMessage.Change(8, CHANGE));
        assertEquals(new ControlMessage.PredecessorClosed(), candidate.told());
        assertNotNull(candidate.told());
        candidate.process.destroyForcibly();
        await().until(() -> supervisor.status().pid() != candidate.pid());
        assertEquals(new ControlMessage.ChangeMade(8, "the other worker has exited"), old.told());
    }

    @Test
    void aSecondRollWhileOneWarmsUpIsRefused() {
        roll();
        warming();
        CompletableFuture<Void> second = roll();
        CompletionException failure = assertThrows(CompletionException.class, second::join);
        assertEquals(
                "another change is in progress; try again", failure.getCause().getMessage());
    }

    @Test
    void aStopWhileAWorkerWarmsUpEndsBoth() throws Exception {
        CompletableFuture<Void> done = roll();
        Canned candidate = warming();
        CompletableFuture<Void> stopped = supervisor.stop(5);
        assertTrue(candidate.process.waitFor(30, TimeUnit.SECONDS));
        assertThrows(CompletionException.class, done::join);
        assertEquals(new ControlMessage.Drain(5), old.told());
        assertTrue(launched.isEmpty(), "none is started in its place");
        old.process.destroyForcibly();
        stopped.get();
    }
}
