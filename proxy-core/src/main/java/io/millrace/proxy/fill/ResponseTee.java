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
 * One origin body on its way to any number of clients and into the store.
 *
 * <p>Content is kept in a window of the bytes received last. Each client reads at its own pace: from the window, or, once it
 * lags behind it, from what the store already has. The origin is paused while the window is full of bytes that somebody still
 * needs and the store cannot give back, and while the store's queue is full; so memory is bounded by the window, and a slow
 * client holds up the origin only when nothing is stored.
 *
 * <pre>
 *   0 ............. window.start ....................... received
 *   |  in the store |  chunks, newest last               |  origin
 *        ^ lagging reader        ^ reader   ^ reader waits at the end
 * </pre>
 *
 * <p>Confined to one event loop, the one that fetches; readers may live on others and hand over by {@code execute}.
 */
public final class ResponseTee {
    /** Bytes read from the store at a time for a reader that lags. */
    private static final int LAGGING_READ_BYTES = 256 * 1024;
    /** Handed to readers before the loop reads again, from the origin too: a quarter of a millisecond of sending. */
    private static final int IN_A_ROW_BYTES = 1 << 20;
    /** The longest piece for one of several readers, as of what is stored: a client that is slow keeps one. */
    private static final int AT_ONCE_BYTES_MAX = StoredObject.READ_LENGTH_MAX;
    /** Where a piece for one of many may end, though it is longer: all who are slow keep the same bytes of it, unless each keeps a copy. */
    private static final int SHARED_BYTES_MAX = 1 << 20;
    /** From this many on, each gets no more than one piece of its own. */
    private static final int SHARING_READERS_MIN = SHARED_BYTES_MAX / AT_ONCE_BYTES_MAX;
    /** The window of a body that is not stored, until its readers have taken {@link #BUFFERED_BYTES_MAX}. */
    private static final int FIRST_WINDOW_BYTES = 16 * 1024;
    /** What a connection takes for a client that never reads: its write queue, and the bytes that kernels buffer. */
    private static final int BUFFERED_BYTES_MAX = 512 * 1024;

    /** What the tee tells of its state to the fetch that feeds it. */
    public interface Feed {
        /** Stop or go on reading the origin. */
        void onFlow(boolean open);

        /** The last reader left. */
        void onNoReaders();

        /**
         * The body became longer than what may be stored; it goes on to its readers. Once.
         *
         * @param received bytes of the body up to the piece that passed the limit, with that piece
         */
        void onTooLarge(long received);
    }

    private final EventExecutor loop;
    private final IntSupplier windowBytesMax;
    private final boolean joinable;
    private final Feed feed;
    private final List<Reader> readers = new ArrayList<>(2);
    /** Those at the end of what has come, the longest waiting first. */
    private final ArrayDeque<Reader> waiting = new ArrayDeque<>(2);

    private boolean servingDue;
    /** What those who wait for their turn have not had begins here. */
    private long dueFrom = Long.MAX_VALUE;
    /** Bytes handed out of the window. */
    private long handed;

    private final ContentWindow window = new ContentWindow();
    private boolean open = true;
    private boolean ended;
    private boolean completed;
    private boolean partKept;
    private boolean tooLarge;
    private long storedLengthMax = Long.MAX_VALUE;
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
     * @param windowBytesMax bytes kept for readers
     * @param joinable whether readers may come later and want the first byte: consumed chunks stay while the window has room
     */
    public ResponseTee(EventExecutor loop, int windowBytesMax, boolean joinable, Feed feed) {
        this(loop, () -> windowBytesMax, joinable, feed);
    }

    /**
     * As the other, with a window whose size changes.
     *
     * @param windowBytesMax bytes kept for readers now; more than 0
     * @param joinable as of the other
     */
    public ResponseTee(EventExecutor loop, IntSupplier windowBytesMax, boolean joinable, Feed feed) {
        this.loop = loop;
        this.windowBytesMax = windowBytesMax;
        this.joinable = joinable;
        this.feed = feed;
    }

    /**
     * Sends everything to the store too; called before the first content. The tee owns the writer from here on.
     *
     * @param length the body's length as the origin announced it, -1 when it did not. With its last byte the object is complete
     *     in the store before any reader gets that byte: a client that has the whole response and asks again finds it stored
     * @param keepsPart whether what has come is kept when the origin breaks off
     * @param lengthMax bytes of a body that may be stored, 0 for any number: one that turns out to be longer is given up by the
     *     store and goes on to the readers
     */
    public void storeTo(ObjectWriter<?> objectWriter, long length, boolean keepsPart, long lengthMax) {
        assert received() == 0 && writer == null;
        partKept = keepsPart;
        storedLengthMax = lengthMax == 0 ? Long.MAX_VALUE : lengthMax;
        writer = objectWriter;
        announcedLength = length;
        written = objectWriter.object();
    }

    /** Does not complete the object when that says, at its end, that it must not take the place of what is stored. */
    public void notStoredIf(BooleanSupplier isUnwanted) {
        unwanted = isUnwanted;
    }

    /** A piece from the origin; takes ownership. */
    public void content(ByteBuf content) {
        int length = content.readableBytes();
        if (ended || length == 0) {
            content.release();
            return;
        }
        if (writer != null && !tooLarge) {
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
        tooLarge = true;
        partKept = false;
        feed.onTooLarge(length);
    }

    /** Gives up what was stored of a body that became too long, once no reader lags behind the window. */
    private void dropTooLarge() {
        if (tooLarge && !completed && everyReaderPast(window.start())) {
            abandonStored();
        }
    }

    /** The origin's last byte was delivered: the representation is whole. */
    public void end() {
        end(null);
    }

    /**
     * As {@link #end()}, with a trailer section for each reader of the whole body; the store keeps none.
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

    /** The origin failed: readers learn it after the bytes before it; nothing of it is stored. */
    public void fail(ContentFailure reason) {
        if (ended) {
            return;
        }
        ended = true;
        failure = reason;
        abandonStored();
        serveWaiting();
        disposeIfIdle();
    }

    private void completeStored() {
        // A writer that a purge has failed is kept: its bytes are there for readers that lag, until the last of them is
        // gone.
        if (writer != null && !completed && !tooLarge && !writer.isFailed()) {
            if (unwanted.getAsBoolean()) {
                partKept = false;
                return;
            }
            completed = true;
            writer.complete(received());
        }
    }

    private void abandonStored() {
        if (writer != null && !completed) {
            completed = true;
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

    /** Whether what flows through is being stored and the store has not given it up. */
    public boolean isStoring() {
        return writer != null && !tooLarge && !writer.isFailed();
    }

    /** Whether anybody reads. */
    public boolean hasReaders() {
        return !readers.isEmpty();
    }

    /** Whether a reader may still start at this position: its bytes are in the window, ahead of it, or in the store. */
    public boolean canRead(long position) {
        return position >= window.start()
                || (isStoring() && failure == null && hasStored(position, window.start() - position));
    }

    /** A new reader at the first byte. Called on this tee's loop; the reader's own methods belong to the sink's loop. */
    public Reader read(EventExecutor sinkLoop, ContentSink sink) {
        Reader reader = new Reader(sinkLoop, sink);
        readers.add(reader);
        return reader;
    }

    private boolean hasStored(long position, long length) {
        return written != null && written.hasRange(position, length);
    }

    /**
     * Serves those who wait once the loop has read what there is from the origin: each then gets all of that in a row. Piece by piece, all of them would
     * have their last byte only at the end of all sending.
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
        int left = waiting.size();
        try {
            for (long limit = handed + IN_A_ROW_BYTES; left > 0 && handed < limit; left--) {
                Reader reader = waiting.poll();
                // None when serving one let more come, which was served in it.
                if (reader != null) {
                    serve(reader);
                }
            }
        } finally {
            if (left > 0 && !waiting.isEmpty()) {
                // They had enough for now, or one of them failed: the others have their turn.
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
        Chunk chunk = window.at(reader.position, reader.last);
        reader.last = chunk;
        long until = reader.end >= 0 ? Math.min(reader.end, received()) : received();
        until = readers.size() == 1 ? Math.min(until, chunk.end()) : Math.min(until, reader.atOnceUntil());
        ByteBuf piece = ContentWindow.piece(chunk, reader.position, until);
        int length = piece.readableBytes();
        reader.position += length;
        handed += length;
        reader.deliver(piece);
    }

    private void serveFromStore(Reader reader) {
        StoredObject<?> source = written;
        reader.last = null;
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

    /** Drops what nobody needs and opens or closes the origin's tap. */
    private void regulate() {
        boolean storing = isStoring();
        int bytesMax = bytesMax(storing);
        for (Chunk chunk = window.oldest(); chunk != null; chunk = window.oldest()) {
            boolean crowded = window.length() > bytesMax;
            if (!crowded && joinable && !ended) {
                break;
            }
            if (!everyReaderPast(chunk.end())
                    && !(crowded
                            && storing
                            && chunk.end() <= dueFrom
                            && hasStored(chunk.start(), chunk.end() - chunk.start()))) {
                break;
            }
            window.drop();
        }
        dropTooLarge();
        boolean wanted = window.length() <= bytesMax && (!storing || writableWriter());
        if (wanted != open && !ended) {
            open = wanted;
            feed.onFlow(wanted);
        }
    }

    /**
     * The window's size now. It starts small and grows by what all readers took, so that a client that never reads keeps
     * little. A stored body has the whole window from the start: it leaves the window as soon as the store has it.
     */
    private int bytesMax(boolean storing) {
        int most = windowBytesMax.getAsInt();
        return storing ? most : (int) Math.min(most, Math.max(FIRST_WINDOW_BYTES, window.start() - BUFFERED_BYTES_MAX));
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

    /** After the end and the last reader the window and the handle on the written object go. */
    private void disposeIfIdle() {
        if (!ended || !readers.isEmpty()) {
            return;
        }
        while (window.length() > 0) {
            window.drop();
        }
        abandonStored();
        if (written != null) {
            written.release();
            written = null;
        }
    }

    /**
     * A position in the body.
     *
     * <p>Its methods are confined to the sink's loop; what they hand over is carried out on the tee's.
     */
    public final class Reader implements ContentSource {
        private final EventExecutor sinkLoop;
        private final ContentSink sink;
        private final boolean sameLoop;
        private final int sharedBytesMax;

        // of the tee's loop
        private long position;
        private long end = -1;

        @Nullable
        private Chunk last;

        // of the sink's loop
        private boolean closed;

        private Reader(EventExecutor sinkLoop, ContentSink sink) {
            this.sinkLoop = sinkLoop;
            this.sink = sink;
            this.sameLoop = sinkLoop == loop;
            this.sharedBytesMax = sink.keepsCopies() ? 0 : SHARED_BYTES_MAX;
        }

        /** Where a piece ends at the latest when there are others. */
        private long atOnceUntil() {
            long own = position + AT_ONCE_BYTES_MAX;
            return readers.size() < SHARING_READERS_MIN ? own : Math.max(own, sharedBytesMax);
        }

        /**
         * Limits the reader to a part of the body; before the first pull.
         *
         * @param firstPosition first byte wanted
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
                hand(content);
            } else {
                sinkLoop.execute(() -> hand(content));
            }
        }

        private void hand(ByteBuf content) {
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
