package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.EventLoop;
import io.netty.channel.unix.FileDescriptor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * The adoption of a worker whose launcher has died. This launcher takes over the listening sockets of the worker, and
 * replaces the worker later. A serving worker that does not return its sockets is killed, so that this launcher can
 * bind them. Confined to the event loop, except the futures.
 */
public final class Adoption {
    /**
     * Limit of the wait for the sockets. A worker sends its descriptors at once, unless it is executing a reload.
     */
    static final long TIMEOUT_SECONDS = 10;

    /** The state in which the worker was found. */
    public enum Found {
        /** The worker has exited, or it hung and was killed. */
        GONE,
        /**
         * The worker was ordered to stop before this launcher started. It no longer accepts connections and has no
         * sockets.
         */
        FINISHING,
        /** The worker serves. */
        SERVING
    }

    /**
     * The result of an adoption. Immutable.
     *
     * @param sockets the returned sockets; the caller takes ownership. Empty if workers bind their own sockets
     */
    public record Result(Found found, Map<ListenerSockets, List<FileDescriptor>> sockets) {
        /** The result if there was no worker. */
        public static final Result NOTHING = new Result(Found.GONE, Map.of());

        /** Returns true if the worker serves with sockets that it has bound itself. */
        public boolean servesOnItsOwn() {
            return found == Found.SERVING && sockets.isEmpty();
        }
    }

    private final EventLoop loop;
    private final BiConsumer<WorkerProcess, String> kill;
    private final CompletableFuture<Result> result = new CompletableFuture<>();
    private final CompletableFuture<Void> acceptingEnded = new CompletableFuture<>();
    /** Sockets that the worker has to return. */
    private List<ListenerSockets> expectedSockets = List.of();

    /**
     * Creates an adoption.
     *
     * @param kill called with a worker that violates the protocol, and with the reason
     */
    Adoption(EventLoop loop, BiConsumer<WorkerProcess, String> kill) {
        this.loop = loop;
        this.kill = kill;
    }

    /** Completes with the result of the adoption. */
    CompletableFuture<Result> result() {
        return result;
    }

    /** Completes when the worker no longer accepts connections, because it drains or has exited. */
    CompletableFuture<Void> acceptingEnded() {
        return acceptingEnded;
    }

    /** Handles the worker's {@code Hello}: requests its sockets, if it holds any. */
    void onHello(WorkerProcess worker, ControlMessage.Hello hello) {
        expectedSockets = hello.listeners();
        if (expectedSockets.isEmpty()) {
            // The next message of the worker reports its state.
            return;
        }
        worker.send(new ControlMessage.ReturnSockets());
        var deadline = loop.schedule(
                () -> kill.accept(worker, "did not return its listening sockets within " + TIMEOUT_SECONDS + " s"),
                TIMEOUT_SECONDS,
                TimeUnit.SECONDS);
        result.whenComplete((ignored, failure) -> deadline.cancel(false));
    }

    /** Records that the worker serves. */
    void onServing() {
        if (expectedSockets.isEmpty()) {
            result.complete(new Result(Found.SERVING, Map.of()));
        }
    }

    /** Records that the worker no longer accepts connections. */
    void onStoppedAccepting() {
        result.complete(new Result(Found.FINISHING, Map.of()));
        acceptingEnded.complete(null);
    }

    /** Records that the worker has exited. */
    void onExit() {
        result.complete(Result.NOTHING);
        acceptingEnded.complete(null);
    }

    /** Handles the descriptors that the worker has sent, and takes ownership of them. */
    void receivedDescriptors(WorkerProcess worker, List<FileDescriptor> descriptors) {
        int expected = expectedSockets.stream().mapToInt(ListenerSockets::count).sum();
        if (result.isDone()) {
            ListeningSockets.closeAll(descriptors);
            return;
        }
        if (descriptors.size() != expected) {
            ListeningSockets.closeAll(descriptors);
            kill.accept(worker, "returned " + descriptors.size() + " of its " + expected + " listening sockets");
            return;
        }
        Map<ListenerSockets, List<FileDescriptor>> byListener = new LinkedHashMap<>();
        int next = 0;
        for (ListenerSockets listener : expectedSockets) {
            byListener.put(listener, List.copyOf(descriptors.subList(next, next + listener.count())));
            next += listener.count();
        }
        result.complete(new Result(Found.SERVING, byListener));
    }
}
