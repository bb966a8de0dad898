package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.FrameOutput;
import io.millrace.proxy.http2.frame.Frames;

/**
 * Sends the content of a connection's streams as far as the client's windows and the channel take it, and decides the order.
 *
 * <p>Confined to one event loop.
 */
final class ContentSender {
    /** Turns of sending, each up to the channel's high-water mark, before other connections have theirs. */
    private static final int TURNS_MAX = 16;

    private final Http2Connection connection;
    private final FrameProcessor frames;
    private final FrameOutput output;
    private final SendScheduler<Http2Stream> scheduler = new SendScheduler<>();
    private boolean inTurn;
    private int window = Frames.WINDOW_DEFAULT;
    private long queuedBytes;

    ContentSender(Http2Connection connection, FrameProcessor frames, FrameOutput output) {
        this.connection = connection;
        this.frames = frames;
        this.output = output;
    }

    /** Sends what streams have and windows and channel take, then all that was written. */
    void turn() {
        if (inTurn) {
            return;
        }
        inTurn = true;
        try {
            int turns = 0;
            do {
                sendContent();
                output.flushNow();
                turns++;
            } while (!connection.isClosing() && canSend() && turns < TURNS_MAX);
        } finally {
            inTurn = false;
        }
        if (canSend()) {
            output.flush();
        }
    }

    private boolean canSend() {
        return window > 0 && !scheduler.isEmpty() && output.isWritable();
    }

    private void sendContent() {
        while (window > 0 && output.isWritable()) {
            Http2Stream stream = scheduler.take();
            if (stream == null) {
                break;
            }
            int sent = stream.send(window);
            window -= sent;
            ResponseContent left = stream.content();
            boolean cut = !left.isEmpty() && (window == 0 || left.window() <= 0);
            frames.sentFrame(sent, cut);
            stream.wakeExchange();
            schedule(stream);
        }
    }

    /** Has the stream's content sent in its turn. */
    void schedule(Http2Stream stream) {
        if (stream.isSendable()) {
            scheduler.add(stream);
            output.flush();
        }
    }

    /** Takes over another priority. */
    void prioritize(Http2Stream stream, StreamPriority priority) {
        scheduler.remove(stream);
        scheduler.prioritized();
        stream.priority.set(priority);
        schedule(stream);
    }

    /** Forgets a stream. */
    void remove(Http2Stream stream) {
        scheduler.remove(stream);
    }

    /** The channel takes bytes again. */
    void onWritable() {
        if (!inTurn) {
            wakeStreams();
            output.flush();
        }
    }

    private void wakeStreams() {
        for (Http2Stream stream : connection.streams().all()) {
            stream.wakeExchange();
        }
    }

    /** Whether no content can be sent now, whatever stream it is of. */
    boolean isBlocked() {
        return window == 0 || !output.isWritable();
    }

    /** Bytes of content that the client takes now, of all streams together. */
    int window() {
        return window;
    }

    /** Content was sent past the scheduler. */
    void sentDirectly(int bytes) {
        window -= bytes;
    }

    /** Enlarges the client's window of the connection; false when it becomes larger than it may. */
    boolean enlargeWindow(int by) {
        long larger = (long) window + by;
        if (larger > Frames.WINDOW_MAX) {
            return false;
        }
        boolean wasBlocked = window == 0;
        window = (int) larger;
        if (wasBlocked) {
            wakeStreams();
        }
        output.flush();
        return true;
    }

    /** Content waits in a stream. */
    void queued(int bytes) {
        queuedBytes += bytes;
    }

    /** Content of a stream waits no longer. */
    void unqueued(int bytes) {
        queuedBytes -= bytes;
    }

    /** Bytes of content that wait in streams. */
    long queuedBytes() {
        return queuedBytes;
    }
}
