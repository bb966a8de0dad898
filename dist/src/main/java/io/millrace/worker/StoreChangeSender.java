package io.millrace.worker;

import io.millrace.store.Successor;
import io.millrace.worker.control.ControlMessage;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The sender of changes to the store, such as purges, to the successor or predecessor through the launcher.
 *
 * <p>Thread-safe.
 */
final class StoreChangeSender implements Successor {
    /** The connection to the launcher. Thread-safe. */
    @FunctionalInterface
    interface Link {
        /** Sends a message. If no launcher is connected, drops the message and returns false. */
        boolean send(ControlMessage message);
    }

    /** Limit of changes without a reply. The launcher has the same limit of queued changes. */
    static final int UNANSWERED_MAX = 1 << 16;

    private final Link link;
    private final AtomicLong lastNumber = new AtomicLong();
    /** Difference between the numbers of consecutive changes: 1 for the successor, -1 for the predecessor. */
    private final int step;

    private final Map<Long, Consumer<@Nullable IOException>> waiting = new ConcurrentHashMap<>();

    private StoreChangeSender(Link link, int step) {
        this.link = link;
        this.step = step;
    }

    static StoreChangeSender toSuccessor(Link link) {
        return new StoreChangeSender(link, 1);
    }

    /** Returns a sender that gives its changes negative numbers: see {@link ControlMessage.Change}. */
    static StoreChangeSender toPredecessor(Link link) {
        return new StoreChangeSender(link, -1);
    }

    @Override
    public void apply(byte[] change, Consumer<@Nullable IOException> reply) {
        if (waiting.size() >= UNANSWERED_MAX) {
            reply.accept(new IOException(
                    "too many changes of the store wait for an answer of the other worker: limit=" + UNANSWERED_MAX));
            return;
        }
        long number = lastNumber.addAndGet(step);
        waiting.put(number, reply);
        if (!link.send(new ControlMessage.Change(number, change))) {
            answer(
                    number,
                    new IOException("the launcher has exited, so the change cannot be sent to the other worker"));
        }
    }

    void onReply(ControlMessage.ChangeMade message) {
        answer(message.number(), message.failure().isEmpty() ? null : new IOException(message.failure()));
    }

    /**
     * Completes all changes that have no reply.
     *
     * @param failure reason of the failure. Null if no reply is needed: this worker has opened its store again and the
     *     store contains the changes, or the predecessor answers no further request
     */
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
