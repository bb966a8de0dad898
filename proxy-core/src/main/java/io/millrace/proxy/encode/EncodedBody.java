package io.millrace.proxy.encode;

import io.millrace.proxy.caching.settings.ContentCoding;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the content of one response, in order. A short content is encoded on the event loop, unless the level is
 * slow. All other content is encoded on the encoder threads, in pieces, one task at a time. The caller pauses the
 * origin while {@link #isFull} is true.
 *
 * <p>Confined to one event loop. A running task has exclusive use of the encoder and of its pieces.
 */
public final class EncodedBody {
    /** Content up to this length is encoded on the event loop, if the level is quick: in about a millisecond. */
    static final int INLINE_BYTES_MAX = 16 * 1024;

    /** Bytes that may wait for the encoder before the origin is paused. */
    static final int WAITING_BYTES_MAX = 256 * 1024;

    /** Receives the encoded content, on the event loop. */
    public interface Receiver {
        /**
         * A piece of encoded content, which may be empty. Takes ownership.
         *
         * @param originBytes number of unencoded bytes of which this piece is the encoding
         */
        void onEncoded(ByteBuf content, int originBytes);

        /** {@link #isFull} has become false: the caller may add content again. */
        void onDrained();

        /** The content is complete: everything was encoded, and {@link #finish} was called. */
        void onEnd();

        /** The encoder failed; no further method is called. */
        void onFault(Throwable fault);
    }

    private final EventExecutor loop;
    private final EncoderThreads threads;
    private final Executor executor;
    private final ContentEncoder encoder;
    private final boolean isQuick;
    private final int permits;
    /** Whether each piece is flushed, so that clients get it at once. */
    private final boolean flushes;

    private final Receiver receiver;
    private final ArrayDeque<ByteBuf> waiting = new ArrayDeque<>();

    /** Bytes of pieces that wait or are being encoded. */
    private int pendingBytes;

    private boolean running;
    private boolean finishing;
    private boolean closed;
    /** Whether the encoder was closed, or a thread will close it. */
    private boolean freed;

    /** Whether {@link Receiver#onDrained} must be called once the body is no longer full. */
    private boolean wasFull;

    private EncodedBody(
            EventExecutor loop,
            EncoderThreads threads,
            ContentEncoder encoder,
            boolean isQuick,
            int permits,
            long length,
            Receiver receiver) {
        this.loop = loop;
        this.threads = threads;
        this.encoder = encoder;
        this.isQuick = isQuick;
        this.permits = permits;
        this.flushes = length < 0;
        this.executor = isQuick && length >= 0 && length <= INLINE_BYTES_MAX ? Runnable::run : threads;
        this.receiver = receiver;
    }

    /**
     * Begins a body.
     *
     * @param length bytes of the content; -1 if it is not known: the content may then come slowly, and clients get each
     *     piece at once
     * @return null if there are too many encoders
     */
    public static @Nullable EncodedBody begin(
            EventExecutor loop,
            EncoderThreads threads,
            ContentCoding coding,
            int level,
            long length,
            Receiver receiver) {
        int permits = ContentEncoders.permits(coding, level);
        ContentEncoder encoder = ContentEncoders.create(coding, level);
        boolean isQuick = ContentEncoders.isQuick(coding, level);
        return threads.takePermits(permits)
                ? new EncodedBody(loop, threads, encoder, isQuick, permits, length, receiver)
                : null;
    }

    /**
     * Begins a body with a dictionary, which is encoded on the encoder threads.
     *
     * @param length bytes of the content; -1 if it is not known
     * @return null if there are too many encoders
     */
    public static @Nullable EncodedBody begin(
            EventExecutor loop,
            EncoderThreads threads,
            ContentCoding coding,
            int level,
            CompressionDictionary dictionary,
            long length,
            Receiver receiver) {
        int permits = ContentEncoders.permits(coding, level, dictionary.length(), length);
        ContentEncoder encoder = ContentEncoders.create(coding, level, dictionary, length);
        return threads.takePermits(permits)
                ? new EncodedBody(loop, threads, encoder, false, permits, length, receiver)
                : null;
    }

    /** Begins a body with an encoder of a slow level, for which the caller has taken one permit. */
    static EncodedBody slow(EventExecutor loop, EncoderThreads threads, ContentEncoder encoder, Receiver receiver) {
        return new EncodedBody(loop, threads, encoder, false, 1, -1, receiver);
    }

    /** Adds a piece of content. Takes ownership. */
    public void content(ByteBuf piece) {
        if (closed || finishing) {
            piece.release();
            return;
        }
        waiting.add(piece);
        pendingBytes += piece.readableBytes();
        wasFull |= isFull();
        run();
    }

    /** Returns true if no more content should be added for now. */
    public boolean isFull() {
        return pendingBytes > WAITING_BYTES_MAX;
    }

    /** Called when the content has ended. */
    public void finish() {
        finishing = true;
        run();
    }

    /** Drops the content: the receiver is not called any more. Idempotent. */
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        waiting.forEach(ByteBuf::release);
        waiting.clear();
        if (!running) {
            free();
        }
    }

    /**
     * Closes the encoder. Closing a slow encoder may first encode buffered input, so it runs on an encoder thread, not
     * on the event loop.
     */
    private void free() {
        if (freed) {
            return;
        }
        freed = true;
        if (isQuick || !encoder.keepsInput()) {
            freeNow();
            return;
        }
        try {
            threads.execute(this::freeNow);
        } catch (RejectedExecutionException e) {
            freeNow();
        }
    }

    private void freeNow() {
        try {
            encoder.close();
        } finally {
            threads.returnPermits(permits);
        }
    }

    /** Starts a task for all waiting pieces and the end, unless a task is running. */
    private void run() {
        if (running || closed || (waiting.isEmpty() && !finishing)) {
            return;
        }
        running = true;
        List<ByteBuf> pieces = new ArrayList<>(waiting);
        waiting.clear();
        Task task = new Task(pieces, finishing);
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            pieces.forEach(ByteBuf::release);
            task.failure = e;
            done(task);
        }
    }

    /** Ends a task on the event loop: passes its output on, and starts the next task. */
    private void done(Task task) {
        running = false;
        pendingBytes -= task.bytes;
        ByteBuf output = task.output;
        if (closed) {
            if (output != null) {
                output.release();
            }
            free();
            return;
        }
        Throwable failure = task.failure;
        if (failure != null || output == null) {
            if (output != null) {
                output.release();
            }
            close();
            receiver.onFault(failure == null ? new IllegalStateException("the encoder produced no output") : failure);
            return;
        }
        receiver.onEncoded(output, task.bytes);
        if (closed) {
            return;
        }
        if (task.last) {
            close();
            receiver.onEnd();
            return;
        }
        if (wasFull && !isFull()) {
            wasFull = false;
            receiver.onDrained();
        }
        run();
    }

    /** The encoding of some pieces. */
    private final class Task implements Runnable {
        private final List<ByteBuf> pieces;
        private final boolean last;
        private final int bytes;
        private @Nullable ByteBuf output;
        private @Nullable Throwable failure;

        Task(List<ByteBuf> pieces, boolean last) {
            this.pieces = pieces;
            this.last = last;
            int sum = 0;
            for (ByteBuf piece : pieces) {
                sum += piece.readableBytes();
            }
            this.bytes = sum;
        }

        @Override
        public void run() {
            long began = System.nanoTime();
            try {
                encode();
            } catch (IOException | RuntimeException | Error e) {
                failure = e;
            }
            threads.worked(System.nanoTime() - began);
            pieces.forEach(ByteBuf::release);
            if (loop.inEventLoop()) {
                done(this);
                return;
            }
            try {
                loop.execute(() -> done(this));
            } catch (RejectedExecutionException e) {
                // The event loop has already stopped, because the proxy is closing.
                if (output != null) {
                    output.release();
                }
                free();
            }
        }

        private void encode() throws IOException {
            ByteBuf to = allocate();
            output = to;
            for (ByteBuf piece : pieces) {
                encoder.write(piece, to);
            }
            if (last) {
                encoder.finish(to);
            } else if (flushes) {
                encoder.flush(to);
            }
        }

        private ByteBuf allocate() {
            int size = Math.max(256, bytes / 4);
            return threads.allocator().directBuffer(size);
        }
    }
}
