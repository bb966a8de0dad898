package io.millrace.worker;

import io.millrace.store.Successor;
import io.millrace.worker.control.ControlMessage;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Changes of the store that are sent to the successor through the launcher. Thread-safe. */
final class PassedChanges implements Successor {
    /** The connection to the launcher. Thread-safe. */
    @FunctionalInterface
    interface Link {
        /** Sends a message. Without a launcher, sends nothing and returns false. */
        boolean send(ControlMessage message);
    }

    /** Limit of changes without a reply; the same as the launcher's limit of queued changes. */
    static final int WAITING_MAX = 1 << 16;

    private final Link link;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, Consumer<@Nullable IOException>> waiting = new ConcurrentHashMap<>();

    PassedChanges(Link link) {
        this.link = link;
    }

    @Override
    public void apply(byte[] change, Consumer<@Nullable IOException> reply) {
        if (waiting.size() >= WAITING_MAX) {
            reply.accept(new IOException(
                    "too many changes of the store wait for an answer of the new worker: limit=" + WAITING_MAX));
            return;
        }
        long number = numbers.incrementAndGet();
        waiting.put(number, reply);
        if (!link.send(new ControlMessage.Change(number, change))) {
            answer(number, new IOException("the launcher has exited, so the change cannot be sent to the new worker"));
        }
    }

    void made(ControlMessage.ChangeMade message) {
        answer(message.number(), message.failure().isEmpty() ? null : new IOException(message.failure()));
    }

    /** Completes all changes without a reply. Null reports success: the changes are durable in this worker's store. */
    void answerAll(@Nullable IOException failure) {
        for (Long number : waiting.keySet()) {
            answer(number, failure);
        }
    }

    private void answer(long number, @Nullable IOException failure) {
        Consumer<@Nullable IOException> reply = waiting.remove(number);
        if (reply != null) {
            reply.accept(failure);
        }
    }
}
