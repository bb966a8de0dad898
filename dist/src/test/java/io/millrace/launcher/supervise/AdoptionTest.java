package io.millrace.launcher.supervise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.millrace.launcher.process.HeartbeatWatch;
import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdoptionTest {
    private static final ListenerSockets HELD = new ListenerSockets(":0", ":8080", 1);

    private final EmbeddedChannel control = new EmbeddedChannel();
    private final List<String> killed = new ArrayList<>();
    private final Adoption adoption = new Adoption(control.eventLoop(), (worker, why) -> killed.add(why));
    private final WorkerProcess worker =
            new WorkerProcess(1, ProcessHandle.current(), null, false, new HeartbeatWatch(1, 0), Long.MAX_VALUE);

    @BeforeAll
    static void loadNativeSockets() {
        Epoll.ensureAvailability();
    }

    @BeforeEach
    void greet() {
        control.freezeTime();
        worker.connected(control);
        adoption.onHello(worker, new ControlMessage.Hello(ControlMessage.PROTOCOL_VERSION, List.of(HELD)));
        adoption.onServing();
        assertEquals(new ControlMessage.ReturnSockets(), control.readOutbound());
    }

    private void passTheTimeout() {
        control.advanceTimeBy(Adoption.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        control.runScheduledPendingTasks();
    }

    @Test
    void aWorkerThatServesAndDoesNotGiveItsSocketsBackIsKilled() {
        assertFalse(adoption.result().isDone());
        passTheTimeout();

        assertEquals(List.of("did not return its listening sockets within 10 s"), killed);
        adoption.onExit();
        assertEquals(Adoption.Result.NOTHING, adoption.result().join());
    }

    @Test
    void aWorkerThatGivesThemBackIsLeftAlone() {
        FileDescriptor socket = Socket.newSocketStream();
        adoption.receivedDescriptors(worker, List.of(socket));
        passTheTimeout();

        assertEquals(List.of(), killed);
        assertEquals(
                new Adoption.Result(Adoption.Found.SERVING, Map.of(HELD, List.of(socket))),
                adoption.result().join());
        ListeningSockets.closeAll(List.of(socket));
    }
}
