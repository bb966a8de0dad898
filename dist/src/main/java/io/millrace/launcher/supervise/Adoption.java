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
 * The adoption of a worker whose launcher has died: takes its listening sockets, or its place. A serving worker that
 * does not return its sockets is killed, so that this launcher can bind them. Confined to the event loop, except the
 * futures.
 */
public final class Adoption {
    /**
     * Time limit for the return of the sockets. A worker sends its descriptors at once, unless a reload in progress
     * delays it.
     */
    static final long TIMEOUT_SECONDS = 10;

    /** The state in which the worker was found. */
    public enum Found {
        /** The worker has exited, or it hung and was killed. */
        GONE,
        /** The worker was ordered to stop before this launcher started: it no longer accepts and has no sockets. */
        FINISHING,
        /** The worker serves. */
        SERVING
    }

    /**
     * The result of an adoption. Immutable.
     *
     * @param sockets the returned sockets; the caller takes ownership. Empty if workers bind their own sockets
     */
    public record Left(Found found, Map<ListenerSockets, List<FileDescriptor>> sockets) {
        /** The result if there was no worker. */
        public static final Left NOTHING = new Left(Found.GONE, Map.of());

        /** Returns true if the worker serves and keeps its sockets. */
        public boolean servesOnItsOwn() {
            return found == Found.SERVING && sockets.isEmpty();
        }
    }

    private final EventLoop loop;
    private final BiConsumer<WorkerProcess, String> kill;
    private final CompletableFuture<Left> left = new CompletableFuture<>();
    private final CompletableFuture<Void> acceptsNoMore = new CompletableFuture<>();
    private List<ListenerSockets> held = List.of();

    /** @param kill called with a worker that breaks the protocol, and the reason */
    Adoption(EventLoop loop, BiConsumer<WorkerProcess, String> kill) {
        this.loop = loop;
        this.kill = kill;
    }

    /** Completes with the result of the adoption. */
    CompletableFuture<Left> left() {
        return left;
    }

    /** Completes when the worker no longer accepts connections, because it drains or has exited. */
    CompletableFuture<Void> acceptsNoMore() {
        return acceptsNoMore;
    }

    /** Handles the worker's {@code Hello}: requests its sockets, if it holds any. */
    void greeted(WorkerProcess worker, ControlMessage.Hello hello) {
        held = hello.listeners();
        if (held.isEmpty()) {
            // The next message of the worker reports its state.
            return;
        }
        worker.send(new ControlMessage.GiveBack());
        var deadline = loop.schedule(
                () -> kill.accept(worker, "did not return its listening sockets within " + TIMEOUT_SECONDS + " s"),
                TIMEOUT_SECONDS,
                TimeUnit.SECONDS);
        left.whenComplete((what, failure) -> deadline.cancel(false));
    }

    /** Records that the worker serves. */
    void serves() {
        if (held.isEmpty()) {
            left.complete(new Left(Found.SERVING, Map.of()));
        }
    }

    /** Records that the worker no longer accepts connections. */
    void finishes() {
        left.complete(new Left(Found.FINISHING, Map.of()));
        acceptsNoMore.complete(null);
    }

    /** Records that the worker has exited. */
    void gone() {
        left.complete(Left.NOTHING);
        acceptsNoMore.complete(null);
    }

    /** Takes the descriptors that the worker has sent. Takes ownership of them. */
    void took(WorkerProcess worker, List<FileDescriptor> descriptors) {
        int expected = held.stream().mapToInt(ListenerSockets::count).sum();
        if (left.isDone()) {
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
        for (ListenerSockets listener : held) {
            byListener.put(listener, List.copyOf(descriptors.subList(next, next + listener.count())));
            next += listener.count();
        }
        left.complete(new Left(Found.SERVING, byListener));
    }
}
