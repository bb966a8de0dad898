package io.millrace.proxy.http2;

import org.jspecify.annotations.Nullable;

/**
 * Selects the stream that sends content next, by priority (RFC 9218 s10). More urgent streams precede less urgent
 * streams. Within one urgency, non-incremental streams are sent one after the other, in the order of their ids. After
 * them, incremental streams send in turns (round robin).
 *
 * <p>All streams send in turns if the client has never sent a priority. Confined to one event loop.
 *
 * @param <S> the type of the streams
 */
final class SendScheduler<S extends SendScheduler.Entry<S>> {
    /**
     * A stream that can be scheduled. It is an element of at most one queue.
     *
     * @param <S> the type of the streams
     */
    abstract static class Entry<S> {
        final StreamPriority priority = new StreamPriority();

        /** The next stream of the queue. Used by the scheduler only. */
        @Nullable
        S next;

        /** True while the stream is in a queue. Used by the scheduler only. */
        boolean scheduled;

        abstract int id();

        /** Returns true if the stream has content that its own window accepts. */
        abstract boolean isSendable();
    }

    /** The first stream of each queue. {@link #queueOf} determines the index; lower indexes are sent first. */
    @SuppressWarnings("unchecked") // the private array contains streams only
    private final @Nullable S[] heads = (S[]) new Entry<?>[2 * StreamPriority.URGENCIES];

    @SuppressWarnings("unchecked") // the private array contains streams only
    private final @Nullable S[] tails = (S[]) new Entry<?>[2 * StreamPriority.URGENCIES];

    private boolean prioritized;

    /** Records that the client has sent a priority. */
    void prioritized() {
        prioritized = true;
    }

    private int queueOf(S stream) {
        boolean roundRobin = !prioritized || stream.priority.isIncremental();
        return 2 * stream.priority.urgency() + (roundRobin ? 1 : 0);
    }

    /** Adds a stream that has content to send. No effect if it was added before. */
    void add(S stream) {
        if (stream.scheduled) {
            return;
        }
        stream.scheduled = true;
        int queue = queueOf(stream);
        S last = tails[queue];
        if (last == null) {
            heads[queue] = stream;
            tails[queue] = stream;
        } else if ((queue & 1) == 1 || last.id() < stream.id()) {
            last.next = stream;
            tails[queue] = stream;
        } else {
            insertById(stream, queue);
        }
    }

    private void insertById(S stream, int queue) {
        S before = null;
        S at = heads[queue];
        while (at != null && at.id() < stream.id()) {
            before = at;
            at = at.next;
        }
        stream.next = at;
        if (before == null) {
            heads[queue] = stream;
        } else {
            before.next = stream;
        }
    }

    /** Removes and returns the stream that sends next; null for none. */
    @Nullable
    S take() {
        for (int queue = 0; queue < heads.length; queue++) {
            S first = heads[queue];
            while (first != null) {
                remove(queue, null, first);
                if (first.isSendable()) {
                    return first;
                }
                first = heads[queue];
            }
        }
        return null;
    }

    /** Returns true if no stream waits. */
    boolean isEmpty() {
        for (S head : heads) {
            if (head != null) {
                return false;
            }
        }
        return true;
    }

    /** Removes a stream if it is queued. Call before its priority changes, and when it has ended. */
    void remove(S stream) {
        if (!stream.scheduled) {
            return;
        }
        for (int queue = 0; queue < heads.length; queue++) {
            S before = null;
            for (S at = heads[queue]; at != null; at = at.next) {
                if (at == stream) {
                    remove(queue, before, stream);
                    return;
                }
                before = at;
            }
        }
    }

    private void remove(int queue, @Nullable S before, S stream) {
        if (before == null) {
            heads[queue] = stream.next;
        } else {
            before.next = stream.next;
        }
        if (tails[queue] == stream) {
            tails[queue] = before;
        }
        stream.next = null;
        stream.scheduled = false;
    }
}
