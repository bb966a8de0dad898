package io.millrace.launcher;

import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.unix.FileDescriptor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Takes the listening sockets back from a worker whose launcher has died. Confined to the event loop. */
final class Adoption {
    private final CompletableFuture<Map<ListenerSockets, List<FileDescriptor>>> taken = new CompletableFuture<>();
    private List<ListenerSockets> held = List.of();

    /** Completes with the sockets, owned by whoever asks first; with none when the worker has none to give. */
    CompletableFuture<Map<ListenerSockets, List<FileDescriptor>>> taken() {
        return taken;
    }

    /** The worker has connected, and holds {@code listeners}. */
    void ask(WorkerProcess worker, List<ListenerSockets> listeners) {
        held = listeners;
        worker.send(new ControlMessage.GiveBack());
    }

    /** There is nothing to take any more. */
    void nothing() {
        taken.complete(Map.of());
    }

    /** The worker has sent {@code descriptors}; takes ownership. */
    void took(List<FileDescriptor> descriptors) {
        int expected = held.stream().mapToInt(ListenerSockets::count).sum();
        if (taken.isDone() || descriptors.size() != expected) {
            ListeningSockets.closeAll(descriptors);
            return;
        }
        Map<ListenerSockets, List<FileDescriptor>> byListener = new LinkedHashMap<>();
        int next = 0;
        for (ListenerSockets listener : held) {
            byListener.put(listener, List.copyOf(descriptors.subList(next, next + listener.count())));
            next += listener.count();
        }
        taken.complete(byListener);
    }
}
