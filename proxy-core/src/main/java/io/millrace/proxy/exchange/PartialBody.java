package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.forward.BackgroundFill;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.ContentSource;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The body of a stored response of which some blocks (parts of fixed size) are missing. Stored blocks are read, and
 * missing blocks are fetched. The first body that needs a missing block claims it (promises to fill it) and fetches it.
 * Other bodies wait for this fetch, so each block is fetched once. The fetch runs at the store's pace, this body at its
 * client's pace.
 *
 * <pre>
 *   0 ..... position ........................ end ........ length
 *           | stored | claimed by another | missing: claimed here, one Range request at a time
 * </pre>
 *
 * <p>Confined to the exchange's event loop.
 */
final class PartialBody implements ContentSource, BlockFetch.Listener {
    /** Number of bytes that are awaited and read at a time. With 64 KiB, a client need not wait for a whole block. */
    private static final int STEP_BYTES = 64 * 1024;

    /** Limit of consecutive fetches or reads that fail before any byte is read. */
    private static final int FAILURES_MAX = 2;

    /** Limit of blocks that the store drops between their fetch and their reading. Beyond it the body fails. */
    private static final int LOSSES_MAX = 2;

    /** Receives the result of {@link #prepare}. */
    interface Ready {
        void onReady();

        /**
         * Called when the first bytes cannot be obtained.
         *
         * @param changed whether the stored response is unusable, since the origin has another representation
         */
        void onNotReady(boolean changed);
    }

    private final ExchangeLoop exchangeLoop;
    private final Decision decision;
    private final ClientConnection client;
    private final StoredObject<StoredHead> object;
    private final ContentSink sink;
    private final IntConsumer originStatus;
    private final long end;
    private final BackgroundFill background;

    private @Nullable ObjectWriter<StoredHead> writer;
    private @Nullable BlockFetch fetch;
    private @Nullable Ready ready;
    private @Nullable StoredHead fetchedHead;
    private long position;
    private int failures;
    private int losses;
    /** The position after the last byte that this body has fetched. */
    private long fetchedEnd;

    /** True while the sink waits for a piece. */
    private boolean pulled;
    /** True while a callback of the store is awaited. */
    private boolean isStorePending;

    private boolean closed;
    private boolean released;

    /**
     * @param object takes over the caller's reference; its length is known and it has a strong validator
     * @param originStatus receives the status of each origin response to a fetch of this body
     * @param position position of the first byte wanted
     * @param end the position after the last byte wanted
     */
    PartialBody(
            ExchangeLoop exchangeLoop,
            Decision decision,
            ClientConnection client,
            StoredObject<StoredHead> object,
            ContentSink sink,
            IntConsumer originStatus,
            long position,
            long end) {
        this.exchangeLoop = exchangeLoop;
        this.decision = decision;
        this.client = client;
        this.object = object;
        this.sink = sink;
        this.originStatus = originStatus;
        this.position = position;
        this.end = end;
        this.background =
                new BackgroundFill(decision.mapped().rule().config().cache().fill(), exchangeLoop.loop());
    }

    /** Calls {@code callback} once the first bytes are available or arriving. Call before the first pull. */
    void prepare(Ready callback) {
        ready = callback;
        advance();
    }

    /**
     * Returns the head for the client, after {@link Ready#onReady}. If a fetch of this body received fields for this
     * client alone, the head contains them.
     *
     * @param stored the head to return otherwise
     */
    StoredHead clientHead(StoredHead stored) {
        return fetchedHead == null ? stored : fetchedHead;
    }

    @Override
    public void pull() {
        pulled = true;
        advance();
    }

    /** The number of bytes to await and read next. */
    private int step() {
        return (int) Math.min(STEP_BYTES, end - position);
    }

    /** Reads the next bytes if they are stored. If not, fetches them or waits for the fetch of another body. */
    private void advance() {
        if (closed || isStorePending) {
            return;
        }
        if (position >= end) {
            pulled = false;
            sink.onEnd();
        } else if (object.hasRange(position, step())) {
            // The callback may pull immediately.
            reportReady();
            if (pulled && !isStorePending && !closed) {
                read();
            }
        } else {
            fetchOrWait();
        }
    }

    private void read() {
        isStorePending = true;
        EventExecutor loop = exchangeLoop.loop();
        object.read(position, step(), loop, (content, failure) -> onRead(content));
    }

    private void onRead(@Nullable ByteBuf content) {
        isStorePending = false;
        if (closed) {
            if (content != null) {
                content.release();
            }
            releaseIfOver();
        } else if (content == null) {
            // The store removed the block after the check. This body may now claim it.
            onRangeUnavailable();
        } else {
            failures = 0;
            pulled = false;
            position += content.readableBytes();
            sink.onContent(content);
        }
    }

    private void fetchOrWait() {
        ObjectWriter<StoredHead> blockWriter = writer;
        if (blockWriter == null) {
            blockWriter = exchangeLoop.store().extend(object);
            writer = blockWriter;
        }
        if (blockWriter.isFailed()) {
            fail(ContentFailure.STORE_READ);
            return;
        }
        if (fetch == null && position < fetchedEnd && ++losses > LOSSES_MAX) {
            fail(ContentFailure.STORE_READ);
            return;
        }
        if (fetch == null) {
            startFetch(blockWriter);
        }
        isStorePending = true;
        object.onRange(position, step(), exchangeLoop.loop(), this::onRange);
    }

    private void startFetch(ObjectWriter<StoredHead> blockWriter) {
        ObjectWriter.Claim claim = blockWriter.claim(position, end - position);
        if (claim == null) {
            // Without a claim, the open writer counts as a writer of all blocks, and other bodies would wait for it
            // forever. Close it.
            closeWriter();
        } else {
            FetchPlan plan = FetchPlan.part(decision, client, false, BlockFetch.rangeOf(claim, object));
            fetch = new BlockFetch(exchangeLoop, plan, object, blockWriter, claim, this);
            fetch.start();
        }
    }

    private void onRange(boolean readable) {
        isStorePending = false;
        if (closed) {
            releaseIfOver();
        } else if (readable) {
            advance();
        } else {
            onRangeUnavailable();
        }
    }

    /** Called if the store cannot supply the next bytes: tries again, or fails after too many failures. */
    private void onRangeUnavailable() {
        failures++;
        if (failures > FAILURES_MAX || (writer != null && writer.isFailed())) {
            fail(ContentFailure.STORE_READ);
        } else if (fetch == null) {
            advance();
        }
        // A running fetch continues by its own callbacks.
    }

    @Override
    public void onStatus(int status) {
        if (!closed) {
            originStatus.accept(status);
        }
    }

    @Override
    public void onBlocksComing(@Nullable StoredHead answer) {
        if (ready != null) {
            fetchedHead = answer;
        }
        reportReady();
        if (closed) {
            return;
        }
        advance();
    }

    @Override
    public void onBlocksEnd() {
        if (fetch != null) {
            fetchedEnd = Math.max(fetchedEnd, fetch.position());
        }
        fetch = null;
        closeWriter();
        if (closed) {
            releaseIfOver();
        } else {
            advance();
        }
    }

    @Override
    public void onBlocksFailure(boolean changed) {
        fetch = null;
        closeWriter();
        if (closed) {
            releaseIfOver();
            return;
        }
        failures++;
        if (changed || failures > FAILURES_MAX || ready != null) {
            fail(changed ? ContentFailure.ORIGIN_CHANGED : ContentFailure.ORIGIN_TRUNCATED);
        } else {
            advance();
        }
    }

    /**
     * Closes the writer. This releases the claims of blocks that did not arrive, so that other bodies may claim them.
     */
    private void closeWriter() {
        ObjectWriter<StoredHead> blockWriter = writer;
        writer = null;
        if (blockWriter != null) {
            blockWriter.keep();
        }
    }

    private void reportReady() {
        Ready callback = ready;
        ready = null;
        if (callback != null) {
            callback.onReady();
        }
    }

    private void fail(ContentFailure failure) {
        boolean changed = failure == ContentFailure.ORIGIN_CHANGED;
        if (changed) {
            exchangeLoop.store().discard(object);
        }
        Ready callback = ready;
        ready = null;
        if (callback != null) {
            callback.onNotReady(changed);
        } else if (pulled) {
            pulled = false;
            sink.onFailure(failure);
        }
    }

    /** Ends the delivery to the client. A running fetch continues in the background if enough of it has arrived. */
    @Override
    public void close() {
        closed = true;
        BlockFetch current = fetch;
        boolean storing = writer != null && !writer.isFailed();
        if (current != null && storing && background.isWorthwhile(current.received(), current.wanted())) {
            background.limitTime(this::giveUp);
        } else {
            giveUp();
        }
        releaseIfOver();
    }

    private void giveUp() {
        BlockFetch current = fetch;
        fetch = null;
        if (current != null) {
            current.cancel();
        }
        releaseIfOver();
    }

    private void releaseIfOver() {
        if (released || isStorePending || fetch != null) {
            return;
        }
        released = true;
        background.cancel();
        closeWriter();
        object.release();
    }
}
