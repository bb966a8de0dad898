package io.millrace.proxy.fill;

import io.millrace.proxy.fill.ContentWindow.Chunk;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.ContentSource;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.net.AfterIoTasks;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Distributes one origin body to any number of clients and to the store.
 *
 * <p>A window contains the most recently received bytes. Each client reads at its own pace: from the window, or, if it
 * lags behind the window, from the store. Reading from the origin is paused while the window is full of bytes that a
 * reader still needs and the store does not have. It is also paused while the store's write queue is full. So the
 * window limits the memory, and a slow client delays the origin only if the body is not stored.
 *
 * <pre>
 *   0 ............. window.start ....................... received
 *   |  in the store |  chunks, newest last               |  origin
 *        ^ lagging reader        ^ reader   ^ reader waits at the end
 * </pre>
 *
 * <p>Confined to the event loop of the fetch. Readers may belong to other loops; calls between loops use
 * {@code execute}.
 */
public final class ResponseTee {
    /** Bytes per read from the store for a lagging reader. */
    private static final int LAGGING_READ_BYTES = 256 * 1024;
    /**
     * Limit of bytes passed to readers before the loop polls its sockets again. Sending 1 MiB takes about a quarter of
     * a millisecond.
     */
    private static final int BYTES_BETWEEN_POLLS = 1 << 20;
    /**
     * Limit of a piece when the body has several readers. A slow client keeps one piece allocated, so the limit is the
     * same as for a piece read from the store.
     */
    private static final int PIECE_BYTES_MAX = StoredObject.READ_LENGTH_MAX;
    /**
     * Higher limit of a piece that many readers share. All slow clients then keep the same bytes allocated, unless
     * their connections copy the bytes.
     */
    private static final int SHARED_PIECE_BYTES_MAX = 1 << 20;
    /** Minimum number of readers for shared pieces. */
    private static final int SHARING_READERS_MIN = SHARED_PIECE_BYTES_MAX / PIECE_BYTES_MAX;
    /** Initial window of a body that is not stored, until its readers have consumed {@link #BUFFERED_BYTES_MAX}. */
    private static final int FIRST_WINDOW_BYTES = 16 * 1024;
    /**
     * Bytes that a connection accepts for a client that never reads: the connection's write queue and the kernel's
     * buffers.
     */
    private static final int BUFFERED_BYTES_MAX = 512 * 1024;

    /** Callbacks to the fetch that feeds the tee. */
    public interface Feed {
        /** Resumes reading from the origin if {@code open} is true; pauses it otherwise. */
        void setReading(boolean open);

        /** Called when the last reader has left. */
        void onNoReaders();

        /**
         * Called once, when the body exceeds the length that may be stored. Readers still receive it.
         *
         * @param received bytes of the body up to and including the piece that exceeded the limit
         */
        void onTooLarge(long received);
    }

    private final EventExecutor loop;
    private final IntSupplier windowBytesMax;
    private final boolean joinable;
    private final Feed feed;
    private final List<Reader> readers = new ArrayList<>(2);
    /** Readers that wait for more content, in order of arrival. */
    private final ArrayDeque<Reader> waiting = new ArrayDeque<>(2);

    /** True if {@link #serveDue} is queued. */
    private boolean servingDue;
    /** Position of the first byte that {@link #serveDue} has to deliver to waiting readers. */
    private long dueFrom = Long.MAX_VALUE;
    /** Total bytes that readers received from the window. */
    private long deliveredBytes;

    private final ContentWindow window = new ContentWindow();
    /** True while reading from the origin is enabled. */
    private boolean open = true;

    private boolean ended;
    /** True once the writer was completed, aborted, or told to keep the received part. */
    private boolean storingEnded;
    /** True if the store keeps the received part when the origin fails. */
    private boolean partKept;

    /** True if the body is not stored, although its storing has begun. */
    private boolean discarded;

    private long storedLengthMax = Long.MAX_VALUE;
    /** Evaluated at the end: true if the object must not be completed. */
    private BooleanSupplier unwanted = () -> false;

    private long announcedLength = -1;

    @Nullable
    private FieldSection trailers;

    @Nullable
    private ContentFailure failure;

    @Nullable
    private ObjectWriter<?> writer;

    @Nullable
    private StoredObject<?> written;

    /**
     * @param windowBytesMax limit of bytes kept for readers
     * @param joinable whether later readers may start at the first byte: consumed chunks are then kept while they fit
     *     into the window
     */
    public ResponseTee(EventExecutor loop, int windowBytesMax, boolean joinable, Feed feed) {
        this(loop, () -> windowBytesMax, joinable, feed);
    }

    /**
     * Creates a tee with a window of variable size.
     *
     * @param windowBytesMax current limit of bytes kept for readers; more than 0
     * @param joinable whether later readers may start at the first byte
     */
    public ResponseTee(EventExecutor loop, IntSupplier windowBytesMax, boolean joinable, Feed feed) {
        this.loop = loop;
        this.windowBytesMax = windowBytesMax;
        this.joinable = joinable;
        this.feed = feed;
    }

    /**
     * Also writes the content to the store. Call before the first {@link #content}. The tee takes ownership of the
     * writer.
     *
     * @param length length of the body as announced by the origin, -1 if unknown. If known, the object is completed in
     *     the store before any reader gets the last byte. So a client that repeats the request finds the object.
     * @param keepsPart whether the store keeps the received part if the origin fails
     * @param lengthMax limit of a stored body in bytes, 0 for none; a longer body is not stored, but still delivered to
     *     the readers
     */
    public void storeTo(ObjectWriter<?> objectWriter, long length, boolean keepsPart, long lengthMax) {
        assert received() == 0 && writer == null;
        partKept = keepsPart;
        storedLengthMax = lengthMax == 0 ? Long.MAX_VALUE : lengthMax;
        writer = objectWriter;
        announcedLength = length;
        if (length < 0 || length > ObjectWriter.SHORT_BODY_BYTES_MAX) {
            requestWritten();
        }
    }

    /**
     * Sets a condition that is evaluated at the end. If true, the object is not completed, so that it does not replace
     * the stored response.
     */
    public void notStoredIf(BooleanSupplier isUnwanted) {
        unwanted = isUnwanted;
    }

    /** Receives a piece from the origin. Takes ownership. */
    public void content(ByteBuf content) {
        int length = content.readableBytes();
        if (ended || length == 0) {
            content.release();
            return;
        }
        if (writer != null && !discarded) {
            store(writer, content);
        }
        long position = received();
        window.add(content);
        if (received() == announcedLength) {
            completeStored();
        }
        if (waiting.size() > 1) {
            serveSoon(position);
        } else {
            serveWaiting();
        }
        regulate();
        if (readers.isEmpty() && !ended && !isStoring()) {
            feed.onNoReaders();
        }
    }

    private void store(ObjectWriter<?> to, ByteBuf content) {
        long length = received() + content.readableBytes();
        if (length <= storedLengthMax) {
            to.write(received(), content.retainedDuplicate());
            return;
        }
        discarded = true;
        partKept = false;
        feed.onTooLarge(length);
    }

    /** Stops storing the body. Its readers still receive it, and the store keeps no part of it. */
    public void discardStored() {
        discarded = true;
        partKept = false;
        dropDiscarded();
    }

    /** Aborts the storing of a discarded body, once no reader needs its stored bytes. */
    private void dropDiscarded() {
        if (discarded && !storingEnded && everyReaderPast(window.start())) {
            stopStoring();
        }
    }

    /** Called when all content of the origin was delivered: the body is complete. */
    public void end() {
        end(null);
    }

    /**
     * Called instead of {@link #end()} with a trailer section for each reader of the whole body. The store keeps no
     * trailers.
     *
     * @param fields the trailers; null for none
     */
    public void end(@Nullable FieldSection fields) {
        if (ended) {
            return;
        }
        ended = true;
        trailers = fields;
        completeStored();
        serveWaiting();
        disposeIfIdle();
    }

    /**
     * Called when the origin failed. Readers get the failure after the preceding bytes. Nothing is stored, unless the
     * received part is kept.
     */
    public void fail(ContentFailure reason) {
        if (ended) {
            return;
        }
        ended = true;
        failure = reason;
        stopStoring();
        serveWaiting();
        disposeIfIdle();
    }

    private void completeStored() {
        // A purge can abort the writer. The writer then stays open, because lagging readers still read its bytes.
        if (writer != null && !storingEnded && !discarded && !writer.isFailed()) {
            if (unwanted.getAsBoolean()) {
                partKept = false;
                return;
            }
            if (window.length() > bytesMax(true)) {
                requestWritten();
            }
            storingEnded = true;
            writer.complete(received());
        }
    }

    private void stopStoring() {
        if (writer != null && !storingEnded) {
            storingEnded = true;
            if (partKept) {
                writer.keep();
            } else {
                writer.abort();
            }
        }
    }

    /** Bytes received so far. */
    public long received() {
        return window.end();
    }

    /** Returns true if the content is being stored, and storing has not failed. */
    public boolean isStoring() {
        return writer != null && !discarded && !writer.isFailed();
    }

    /** Returns true if there are readers. */
    public boolean hasReaders() {
        return !readers.isEmpty();
    }

    /** Returns true if a reader may start at this position: the byte is in the window, beyond it, or in the store. */
    public boolean canRead(long position) {
        return position >= window.start()
                || (isStoring() && failure == null && requestStored(position, window.start() - position));
    }

    /**
     * Adds a reader at the first byte. Call on this tee's loop; the methods of the reader belong to the sink's loop.
     */
    public Reader read(EventExecutor sinkLoop, ContentSink sink) {
        Reader reader = new Reader(sinkLoop, sink);
        readers.add(reader);
        return reader;
    }

    /** Requests the written object. Returns true if it contains the range. */
    private boolean requestStored(long position, long length) {
        requestWritten();
        return written != null && written.hasRange(position, length);
    }

    /**
     * Requests the object that is being written, for readers that lag behind the window. For a short body this is done
     * only when it is needed, because the store writes such a body at less cost without readers.
     */
    private void requestWritten() {
        if (written == null && writer != null && !storingEnded) {
            written = writer.object();
        }
    }

    /**
     * Serves the waiting readers after the loop has read all available bytes of the origin. So each reader gets many
     * pieces in a row, and the first readers finish early. If each reader got only one piece at a time, all readers
     * would finish late.
     */
    private void serveSoon(long position) {
        dueFrom = Math.min(dueFrom, position);
        if (!servingDue) {
            servingDue = true;
            AfterIoTasks.next(loop, this::serveDue);
        }
    }

    private void serveDue() {
        servingDue = false;
        serveWaiting();
        regulate();
        disposeIfIdle();
    }

    private void serveWaiting() {
        int readersLeft = waiting.size();
        try {
            long deliveredMax = deliveredBytes + BYTES_BETWEEN_POLLS;
            for (; readersLeft > 0 && deliveredBytes < deliveredMax; readersLeft--) {
                Reader reader = waiting.poll();
                // The queue may be empty: serving one reader may resume the origin, whose content is then served
                // recursively.
                if (reader != null) {
                    serve(reader);
                }
            }
        } finally {
            if (readersLeft > 0 && !waiting.isEmpty()) {
                // The limit was reached or a reader threw an exception: the remaining readers are served later.
                serveSoon(dueFrom);
            } else if (!servingDue) {
                dueFrom = Long.MAX_VALUE;
            }
        }
    }

    private void serve(Reader reader) {
        if (reader.end >= 0 && reader.position >= reader.end) {
            reader.deliverEnd();
        } else if (reader.position < window.start()) {
            serveFromStore(reader);
        } else if (reader.position < received()) {
            serveFromWindow(reader);
        } else if (!ended) {
            waiting.add(reader);
        } else if (failure != null) {
            reader.deliverFailure(failure);
        } else {
            reader.deliverEnd();
        }
        regulate();
    }

    private void serveFromWindow(Reader reader) {
        Chunk chunk = window.at(reader.position, reader.lastChunk);
        reader.lastChunk = chunk;
        long until = reader.end >= 0 ? Math.min(reader.end, received()) : received();
        until = readers.size() == 1 ? Math.min(until, chunk.end()) : Math.min(until, reader.pieceEndMax());
        ByteBuf piece = ContentWindow.piece(chunk, reader.position, until);
        int length = piece.readableBytes();
        reader.position += length;
        deliveredBytes += length;
        reader.deliver(piece);
    }

    private void serveFromStore(Reader reader) {
        StoredObject<?> source = written;
        reader.lastChunk = null;
        if (source == null || !source.hasRange(reader.position, 1)) {
            reader.deliverFailure(failure == null ? ContentFailure.STORE_READ : failure);
            return;
        }
        long until = reader.end >= 0 ? Math.min(reader.end, window.start()) : window.start();
        int length = (int) Math.min(LAGGING_READ_BYTES, until - reader.position);
        source.retain();
        source.read(reader.position, length, loop, (content, error) -> {
            source.release();
            if (content == null) {
                reader.deliverFailure(ContentFailure.STORE_READ);
            } else {
                reader.position += content.readableBytes();
                reader.deliver(content);
            }
            disposeIfIdle();
        });
    }

    /**
     * Drops chunks that no reader needs, and pauses or resumes reading from the origin. If the window is too large,
     * also drops chunks that lagging readers can read from the store.
     */
    private void regulate() {
        boolean storing = isStoring();
        int bytesMax = bytesMax(storing);
        for (Chunk chunk = window.oldest(); chunk != null; chunk = window.oldest()) {
            boolean overfull = window.length() > bytesMax;
            if (!overfull && joinable && !ended) {
                break;
            }
            if (!everyReaderPast(chunk.end())
                    && !(overfull
                            && storing
                            && chunk.end() <= dueFrom
                            && requestStored(chunk.start(), chunk.end() - chunk.start()))) {
                break;
            }
            window.drop();
        }
        dropDiscarded();
        boolean shouldRead = window.length() <= bytesMax && (!storing || writableWriter());
        if (shouldRead != open && !ended) {
            open = shouldRead;
            feed.setReading(shouldRead);
        }
    }

    /**
     * The current size of the window. It starts small and grows with the bytes that all readers have consumed, so that
     * a client that never reads occupies little memory. A stored body has the full window from the start: its bytes
     * leave the window as soon as the store has them.
     */
    private int bytesMax(boolean storing) {
        int windowMax = windowBytesMax.getAsInt();
        return storing
                ? windowMax
                : (int) Math.min(windowMax, Math.max(FIRST_WINDOW_BYTES, window.start() - BUFFERED_BYTES_MAX));
    }

    private boolean writableWriter() {
        ObjectWriter<?> current = writer;
        if (current == null || current.isWritable()) {
            return true;
        }
        current.onWritable(loop, this::regulate);
        return false;
    }

    private boolean everyReaderPast(long position) {
        for (int i = 0; i < readers.size(); i++) {
            if (readers.get(i).position < position) {
                return false;
            }
        }
        return true;
    }

    private void remove(Reader reader) {
        if (!readers.remove(reader)) {
            return;
        }
        waiting.remove(reader);
        if (readers.isEmpty() && !ended) {
            feed.onNoReaders();
        }
        regulate();
        disposeIfIdle();
    }

    /** Releases the window and the written object after the end, when there is no reader. */
    private void disposeIfIdle() {
        if (!ended || !readers.isEmpty()) {
            return;
        }
        while (window.length() > 0) {
            window.drop();
        }
        stopStoring();
        if (written != null) {
            written.release();
            written = null;
        }
    }

    /**
     * A reader with its position in the body.
     *
     * <p>Its methods are confined to the sink's loop; they run their work on the tee's loop.
     */
    public final class Reader implements ContentSource {
        private final EventExecutor sinkLoop;
        private final ContentSink sink;
        private final boolean sameLoop;
        /** Position in the body up to which this reader may get the larger shared pieces; 0 for none. */
        private final int sharedEndMax;

        // confined to the tee's loop
        private long position;
        /** The position after the last byte wanted; -1 for the end of the body. */
        private long end = -1;

        @Nullable
        private Chunk lastChunk;

        // confined to the sink's loop
        private boolean closed;

        private Reader(EventExecutor sinkLoop, ContentSink sink) {
            this.sinkLoop = sinkLoop;
            this.sink = sink;
            this.sameLoop = sinkLoop == loop;
            this.sharedEndMax = sink.keepsCopies() ? 0 : SHARED_PIECE_BYTES_MAX;
        }

        /**
         * Returns the limit of the end position of the next piece, for a body with several readers. Only pieces within
         * the first {@link #SHARED_PIECE_BYTES_MAX} bytes of the body get the higher limit of shared pieces.
         */
        private long pieceEndMax() {
            long unsharedEndMax = position + PIECE_BYTES_MAX;
            return readers.size() < SHARING_READERS_MIN ? unsharedEndMax : Math.max(unsharedEndMax, sharedEndMax);
        }

        /**
         * Limits the reader to a byte range of the body. Call before the first pull.
         *
         * @param firstPosition position of the first byte wanted
         * @param endPosition the position after the last byte wanted
         */
        public void narrow(long firstPosition, long endPosition) {
            if (sameLoop) {
                seek(firstPosition, endPosition);
            } else {
                loop.execute(() -> seek(firstPosition, endPosition));
            }
        }

        private void seek(long firstPosition, long endPosition) {
            position = firstPosition;
            end = endPosition;
            regulate();
        }

        @Override
        public void pull() {
            if (sameLoop) {
                serve(this);
            } else {
                loop.execute(() -> serve(this));
            }
        }

        @Override
        public void close() {
            if (closed) {
                return;
            }
            closed = true;
            if (sameLoop) {
                remove(this);
            } else {
                loop.execute(() -> remove(this));
            }
        }

        void deliver(ByteBuf content) {
            if (sameLoop) {
                passToSink(content);
            } else {
                sinkLoop.execute(() -> passToSink(content));
            }
        }

        private void passToSink(ByteBuf content) {
            if (closed) {
                content.release();
            } else {
                sink.onContent(content);
            }
        }

        void deliverEnd() {
            FieldSection fields = end < 0 ? trailers : null;
            if (sameLoop) {
                sink.onEnd(fields);
            } else {
                sinkLoop.execute(() -> {
                    if (!closed) {
                        sink.onEnd(fields);
                    }
                });
            }
        }

        void deliverFailure(ContentFailure reason) {
            if (sameLoop) {
                sink.onFailure(reason);
            } else {
                sinkLoop.execute(() -> {
                    if (!closed) {
                        sink.onFailure(reason);
                    }
                });
            }
        }
    }
}
