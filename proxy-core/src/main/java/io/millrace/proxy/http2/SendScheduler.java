package io.millrace.proxy.http2;

import org.jspecify.annotations.Nullable;

/**
 * Chooses whose content is sent next (RFC 9218 s10): the most urgent first; of one urgency those that are of use as a whole
 * only, one after the other, and then the others in turn.
 *
 * <p>A client that has never told a priority gets all of them in turn. Confined to one event loop.
 */
final class SendScheduler {
    private final @Nullable Http2Stream[] heads = new Http2Stream[2 * StreamPriority.URGENCIES];
    private final @Nullable Http2Stream[] tails = new Http2Stream[2 * StreamPriority.URGENCIES];
    private boolean prioritized;

    /** The client has told a priority. */
    void prioritized() {
        prioritized = true;
    }

    private int queueOf(Http2Stream stream) {
        boolean inTurn = !prioritized || stream.priority.isIncremental();
        return 2 * stream.priority.urgency() + (inTurn ? 1 : 0);
    }

    /** Adds a stream that has content to send, unless it is there. */
    void add(Http2Stream stream) {
        if (stream.scheduled) {
            return;
        }
        stream.scheduled = true;
        int queue = queueOf(stream);
        Http2Stream last = tails[queue];
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

    private void insertById(Http2Stream stream, int queue) {
        Http2Stream before = null;
        Http2Stream at = heads[queue];
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

    /** Takes the stream out that is to send next; null for none. */
    @Nullable
    Http2Stream take() {
        for (int queue = 0; queue < heads.length; queue++) {
            Http2Stream first = heads[queue];
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

    /** Whether a stream waits. */
    boolean isEmpty() {
        for (Http2Stream head : heads) {
            if (head != null) {
                return false;
            }
        }
        return true;
    }

    /** Takes a stream out, if it is there: its priority changes, or it is over. */
    void remove(Http2Stream stream) {
        if (!stream.scheduled) {
            return;
        }
        for (int queue = 0; queue < heads.length; queue++) {
            Http2Stream before = null;
            for (Http2Stream at = heads[queue]; at != null; at = at.next) {
                if (at == stream) {
                    remove(queue, before, stream);
                    return;
                }
                before = at;
            }
        }
    }

    private void remove(int queue, @Nullable Http2Stream before, Http2Stream stream) {
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
