package io.millrace.launcher.supervise;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.process.HeartbeatWatch;
import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerProcess;
import io.millrace.worker.control.ControlMessage;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HandOverTest {
    private static final ControlMessage.Ready READY = new ControlMessage.Ready("epoll", "none", "17");
    private static final ControlMessage.Change CHANGE = new ControlMessage.Change(7, new byte[] {1});

    @TempDir
    Path directory;

    private final EmbeddedChannel oldControl = new EmbeddedChannel();
    private final EmbeddedChannel nextControl = new EmbeddedChannel();
    private final WorkerProcess old = worker(1, oldControl);
    private final WorkerProcess next = worker(2, nextControl);
    private final List<WorkerProcess> killed = new ArrayList<>();
    private HandOver handOver;

    private static WorkerProcess worker(long generation, EmbeddedChannel control) {
        WorkerProcess worker = new WorkerProcess(
                generation, ProcessHandle.current(), null, false, new HeartbeatWatch(1, 0), Long.MAX_VALUE);
        worker.connected(control);
        worker.setProtocolVersion(ControlMessage.PROTOCOL_VERSION);
        return worker;
    }

    @BeforeEach
    void begin() {
        oldControl.freezeTime();
        handOver = new HandOver(
                oldControl.eventLoop(), new WorkerIdentity(directory.resolve("worker.pid")), (worker, reason) -> {
                    assertEquals("did not take over from the old worker within 30 s", reason);
                    killed.add(worker);
                });
        old.becameReady(READY, 0);
        assertTrue(HandOver.isPossible(old));
        handOver.begin(old, next);
        assertTrue(handOver.isInProgress());
        assertEquals(new ControlMessage.ReleaseStore(), oldControl.readOutbound());
    }

    private void passTheTimeout() {
        oldControl.advanceTimeBy(HandOver.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        oldControl.runScheduledPendingTasks();
    }

    @Test
    void theSuccessorOpensTheStoreAfterItsRelease() {
        handOver.released(old, next);
        assertEquals(new ControlMessage.Serve(true), nextControl.readOutbound());
        handOver.complete(next);
        assertFalse(handOver.isInProgress());
        assertEquals(new ControlMessage.TakeoverDone(), nextControl.readOutbound());
        passTheTimeout();
        assertEquals(List.of(), killed);
        handOver.closed(next);
        assertNull(nextControl.readOutbound());
        handOver.closed(old);
        assertEquals(new ControlMessage.PredecessorClosed(), nextControl.readOutbound());
        handOver.exited(old);
        assertNull(nextControl.readOutbound(), "reported before");
    }

    @Test
    void aSuccessorThatDoesNotAcceptInTimeIsKilled() {
        handOver.released(old, next);
        passTheTimeout();
        assertEquals(List.of(next), killed);
        handOver.reopenStore(old);
        assertEquals(new ControlMessage.ReopenStore(), oldControl.readOutbound());
        assertFalse(handOver.isInProgress());
        handOver.released(old, next);
        handOver.reopenStore(old);
        assertNull(oldControl.readOutbound(), "no hand-over is in progress");
    }

    @Test
    void anOldWorkerThatHasExitedOpensNothing() {
        handOver.reopenStore(null);
        assertFalse(handOver.isInProgress());
        assertNull(oldControl.readOutbound());
    }

    @Test
    void aSuccessorServesWithoutItsPredecessor() {
        next.markAssigned();
        handOver.completeAlone(next);
        assertFalse(handOver.isInProgress());
        assertEquals(new ControlMessage.Serve(false), nextControl.readOutbound());
        handOver.completeAlone(next);
        assertEquals(new ControlMessage.TakeoverDone(), nextControl.readOutbound());
        assertNull(nextControl.readOutbound());
    }

    @Test
    void aChangeWaitsForTheSuccessor() {
        handOver.change(old, CHANGE, old);
        handOver.change(old, new ControlMessage.Change(8, new byte[] {2}), next);
        assertNull(nextControl.readOutbound());
        next.becameReady(READY, 0);
        handOver.ready(next);
        ControlMessage.Change first = nextControl.readOutbound();
        handOver.changeMade(new ControlMessage.ChangeMade(first.number(), ""));
        assertEquals(new ControlMessage.ChangeMade(7, ""), oldControl.readOutbound());
        handOver.exited(next);
        ControlMessage.ChangeMade failed = oldControl.readOutbound();
        assertEquals(8, failed.number());
        assertFalse(failed.failure().isEmpty());
    }

    @Test
    void aChangeOfTheServingWorkerGoesToItsPredecessorUntilThatIsClosed() {
        handOver.released(old, next);
        next.becameReady(READY, 0);
        handOver.complete(next);
        nextControl.releaseOutbound();
        ControlMessage.Change back = new ControlMessage.Change(-7, new byte[] {1});
        handOver.change(next, back, next);
        ControlMessage.Change passed = oldControl.readOutbound();
        assertArrayEquals(back.content(), passed.content());
        handOver.changeMade(new ControlMessage.ChangeMade(passed.number(), ""));
        assertEquals(new ControlMessage.ChangeMade(-7, ""), nextControl.readOutbound());
        handOver.closed(old);
        assertEquals(new ControlMessage.PredecessorClosed(), nextControl.readOutbound());
        handOver.change(next, back, next);
        assertEquals(new ControlMessage.ChangeMade(-7, ""), nextControl.readOutbound());
        assertNull(oldControl.readOutbound());
    }

    /** Otherwise a client would get the answer to a purge that no store has. */
    @Test
    void aChangeOfAnOldWorkerWithoutSuccessorIsNotAnswered() {
        handOver.released(old, next);
        nextControl.releaseOutbound();
        handOver.exited(next);
        handOver.reopenStore(null);
        handOver.change(old, CHANGE, old);
        assertNull(oldControl.readOutbound());
    }

    @Test
    void aChangeThatTheSuccessorAcceptsBeforeItIsReadyGoesToTheServingWorker() {
        handOver.released(old, next);
        handOver.change(next, new ControlMessage.Change(-1, new byte[] {1}), old);
        assertArrayEquals(new byte[] {1}, ((ControlMessage.Change) oldControl.readOutbound()).content());
    }

    @Test
    void afterASecondRollEachWorkerIsToldAboutItsOwnPredecessor() {
        EmbeddedChannel lastControl = new EmbeddedChannel();
        WorkerProcess last = worker(3, lastControl);
        handOver.released(old, next);
        next.becameReady(READY, 0);
        handOver.complete(next);
        handOver.begin(next, last);
        handOver.released(next, last);
        handOver.complete(last);
        nextControl.releaseOutbound();
        lastControl.releaseOutbound();
        handOver.closed(old);
        assertEquals(new ControlMessage.PredecessorClosed(), nextControl.readOutbound());
        assertNull(lastControl.readOutbound());
        handOver.exited(next);
        assertEquals(new ControlMessage.PredecessorClosed(), lastControl.readOutbound());
    }

    @Test
    void aWorkerOfAnEarlierVersionCannotReleaseItsStore() {
        old.setProtocolVersion(4);
        assertFalse(HandOver.isPossible(old));
        assertFalse(HandOver.isPossible(next), "not ready");
    }
}
