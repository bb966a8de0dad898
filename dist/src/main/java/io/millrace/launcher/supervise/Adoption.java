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
 * What the worker of a dead launcher leaves to the next one: its listening sockets, or its place. One that serves and does
 * not give its sockets back is killed, so that this launcher can bind them. Confined to the event loop, but for the futures.
 */
public final class Adoption {
    /** A worker sends its descriptors at once, save that a reload under way comes first. */
    static final long TIMEOUT_SECONDS = 10;

    /** What was found. */
    public enum Found {
        /** It has ended, or hung and was killed. */
        GONE,
        /** It was told to stop before this launcher came: it accepts no more and has no sockets. */
        FINISHING,
        /** It serves. */
        SERVING
    }

    /**
     * What a worker leaves. Immutable.
     *
     * @param sockets owned by whoever asks first; none where workers bind for themselves
     */
    public record Left(Found found, Map<ListenerSockets, List<FileDescriptor>> sockets) {
        /** Where there was no worker. */
        public static final Left NOTHING = new Left(Found.GONE, Map.of());

        /** Whether the worker serves and keeps its sockets. */
        public boolean servesOnItsOwn() {
            return found == Found.SERVING && sockets.isEmpty();
        }
    }

    private final EventLoop loop;
    private final BiConsumer<WorkerProcess, String> kill;
    private final CompletableFuture<Left> left = new CompletableFuture<>();
    private final CompletableFuture<Void> acceptsNoMore = new CompletableFuture<>();
    private List<ListenerSockets> held = List.of();

    /** @param kill told of a worker that does not do as it should, and why */
    Adoption(EventLoop loop, BiConsumer<WorkerProcess, String> kill) {
        this.loop = loop;
        this.kill = kill;
    }

    /** Completes with what there is to take over. */
    CompletableFuture<Left> left() {
        return left;
    }

    /** Completes when the worker accepts no connections any more, having been told to or having ended. */
    CompletableFuture<Void> acceptsNoMore() {
        return acceptsNoMore;
    }

    /** The worker has connected. */
    void greeted(WorkerProcess worker, ControlMessage.Hello hello) {
        held = hello.listeners();
        if (held.isEmpty()) {
            // What it does it says next.
            return;
        }
        worker.send(new ControlMessage.GiveBack());
        var deadline = loop.schedule(
                () -> kill.accept(worker, "has not given its sockets back within " + TIMEOUT_SECONDS + " s"),
                TIMEOUT_SECONDS,
                TimeUnit.SECONDS);
        left.whenComplete((what, failure) -> deadline.cancel(false));
    }

    /** The worker serves. */
    void serves() {
        if (held.isEmpty()) {
            left.complete(new Left(Found.SERVING, Map.of()));
        }
    }

    /** The worker accepts no more. */
    void finishes() {
        left.complete(new Left(Found.FINISHING, Map.of()));
        acceptsNoMore.complete(null);
    }

    /** The worker has ended. */
    void gone() {
        left.complete(Left.NOTHING);
        acceptsNoMore.complete(null);
    }

    /** The worker has sent {@code descriptors}; takes ownership. */
    void took(WorkerProcess worker, List<FileDescriptor> descriptors) {
        int expected = held.stream().mapToInt(ListenerSockets::count).sum();
        if (left.isDone()) {
            ListeningSockets.closeAll(descriptors);
            return;
        }
        if (descriptors.size() != expected) {
            ListeningSockets.closeAll(descriptors);
            kill.accept(worker, "has given back " + descriptors.size() + " of its " + expected + " sockets");
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
