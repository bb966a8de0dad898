package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.FrameOutput;
import io.millrace.proxy.http2.frame.Frames;

/**
 * Sends the response content of a connection's streams, in the order of their priorities. Sends no more than
 * the client's flow-control windows and the channel accept.
 *
 * <p>Confined to one event loop.
 */
final class ContentSender {
    /**
     * Limit of consecutive send rounds, for fairness to other connections of the event loop. One round fills the
     * channel up to its high-water mark.
     */
    private static final int ROUNDS_MAX = 16;

    private final Http2Connection connection;
    private final FrameProcessor frames;
    private final FrameOutput output;
    private final SendScheduler<Http2Stream> scheduler = new SendScheduler<>();
    private boolean sending;
    private int window = Frames.WINDOW_DEFAULT;
    private long queuedBytes;

    ContentSender(Http2Connection connection, FrameProcessor frames, FrameOutput output) {
        this.connection = connection;
        this.frames = frames;
        this.output = output;
    }

    /** Sends queued content as far as the windows and the channel allow, then flushes. */
    void sendAndFlush() {
        if (sending) {
            return;
        }
        sending = true;
        try {
            int rounds = 0;
            do {
                sendContent();
                output.flushNow();
                rounds++;
            } while (!connection.isClosing() && canSend() && rounds < ROUNDS_MAX);
        } finally {
            sending = false;
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
            ResponseContent content = stream.content();
            // True if a window limited the length of the frame.
            boolean cut = !content.isEmpty() && (window == 0 || content.window() <= 0);
            frames.sentFrame(sent, cut);
            stream.wakeExchange();
            schedule(stream);
        }
    }

    /** Adds the stream to the scheduler if it has content that can be sent. */
    void schedule(Http2Stream stream) {
        if (stream.isSendable()) {
            scheduler.add(stream);
            output.flush();
        }
    }

    /** Changes the priority of a stream. */
    void prioritize(Http2Stream stream, StreamPriority priority) {
        scheduler.remove(stream);
        scheduler.prioritized();
        stream.priority.set(priority);
        schedule(stream);
    }

    /** Removes a stream from the scheduler. */
    void remove(Http2Stream stream) {
        scheduler.remove(stream);
    }

    /** Resumes sending: the channel is writable again. */
    void onWritable() {
        if (!sending) {
            wakeStreams();
            output.flush();
        }
    }

    private void wakeStreams() {
        for (Http2Stream stream : connection.streams().all()) {
            stream.wakeExchange();
        }
    }

    /** Returns true if no content of any stream can be sent now. */
    boolean isBlocked() {
        return window == 0 || !output.isWritable();
    }

    /** The send window of the connection, in bytes. The client accepts this much content from all streams together. */
    int window() {
        return window;
    }

    /** Subtracts content that {@link Http2FastStream} wrote without the scheduler from the send window. */
    void sentUnscheduled(int bytes) {
        window -= bytes;
    }

    /** Enlarges the send window of the connection. Returns false if it exceeds the limit. */
    boolean enlargeWindow(int increment) {
        long larger = (long) window + increment;
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

    /** Adds to the number of bytes that wait in streams. */
    void addQueuedBytes(int bytes) {
        queuedBytes += bytes;
    }

    /** Subtracts from the number of bytes that wait in streams. */
    void subtractQueuedBytes(int bytes) {
        queuedBytes -= bytes;
    }

    /** The number of content bytes that wait in streams. */
    long queuedBytes() {
        return queuedBytes;
    }
}
