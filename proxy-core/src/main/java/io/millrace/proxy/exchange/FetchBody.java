package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.forward.BackgroundFill;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.exchange.forward.StoredPrefix;
import io.millrace.proxy.fill.BlockFill;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.observe.Counter;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * The body of a fetch's response. It goes through a {@link ResponseTee} to all readers and the store, or into blocks
 * (parts of fixed size) of a stored object, from which clients read it. Content that arrives before {@link #open} is
 * dropped.
 *
 * <pre>
 * whole, or a part stored as one piece     origin -> tee -> readers, store
 * the rest of a stored part                stored part, then origin -> tee -> readers, store
 * a part that is stored in blocks          origin -> blocks of the store -> readers of the blocks
 * </pre>
 *
 * <p>Confined to the fetch's event loop.
 */
final class FetchBody implements ResponseTee.Feed, StoredPrefix.End {
    /** Callbacks to the fetch. */
    interface Fetch {
        /** Resumes reading from the origin if {@code open} is true; stops reading if it is false. */
        void setReading(boolean open);

        /** Called when the stored first part is completely in the tee, so that the origin's content can follow. */
        void onPrefixEnd();

        /**
         * Returns true if a hard invalidation has outdated the response since the fetch began. Such a response must not
         * be used even stale, and must not replace a newer stored response.
         */
        boolean isHardInvalidated();

        /** Returns true if a hook of an extension has prevented the storing since the head. */
        boolean isUnstorable();

        /**
         * Called when the rest of the content is useless: ends the fetch and cancels the origin's response. There are
         * three cases: no reader is left and the store does not need the rest; no reader is left and the time limit of
         * a fill without readers has passed; or the stored first part cannot be read.
         */
        void onUnneeded();
    }

    private final ExchangeLoop exchangeLoop;
    private final Fetch fetch;
    private final FetchPlan plan;
    private final StoringRules storingRules;
    /** Limits of a fill without readers; created when the last reader leaves. */
    private @Nullable BackgroundFill background;

    private @Nullable FetchedResponse response;
    private @Nullable ResponseTee tee;
    private @Nullable StoredPrefix prefix;
    private @Nullable BlockFill blocks;
    private @Nullable ObjectWriter<StoredHead> blockWriter;
    /** Number of clients that read the blocks of this fetch. */
    private int blockReaders;
    /** True while reading from the origin is enabled. */
    private boolean flowing = true;

    private boolean storing;
    /** True until all exchanges that wait for the response have been given their readers. */
    private boolean offering;

    private boolean ended;

    FetchBody(ExchangeLoop exchangeLoop, FetchPlan plan, Fetch fetch) {
        this.exchangeLoop = exchangeLoop;
        this.fetch = fetch;
        this.plan = plan;
        this.storingRules = plan.cacheSettings().storing();
    }

    private BackgroundFill background() {
        BackgroundFill known = background;
        if (known == null) {
            known = new BackgroundFill(plan.mapped().rule().config().cache().fill(), exchangeLoop.loop());
            background = known;
        }
        return known;
    }

    /** The response of this content; null before {@link #open}. */
    @Nullable
    FetchedResponse response() {
        return response;
    }

    /** Returns true if reading from the origin is enabled. */
    boolean isFlowing() {
        return flowing;
    }

    /** Returns true if the content goes to blocks of the store. */
    boolean isInBlocks() {
        return blockWriter != null;
    }

    /** Returns true if a new reader would still get all content from the first byte. */
    boolean canJoin() {
        return blockWriter != null || (tee != null && tee.canRead(0));
    }

    /** Opens the body. Until {@link #endOffering}, a body without readers is not cancelled. */
    void open(FetchStoring.Reception reception) {
        FetchedResponse opened = reception.response();
        ObjectWriter<StoredHead> writer = reception.writer();
        response = opened;
        storing = writer != null;
        offering = true;
        if (writer != null && reception.inBlocks() && opened.part() != null) {
            ContentRange range = opened.part();
            blockWriter = writer;
            // The claim, a promise to fill these blocks, prevents other fetches of them.
            writer.claim(range.first(), range.bytes());
            blocks = new BlockFill(
                    exchangeLoop.loop(), writer, range.first(), range.first(), range.end(), this::setReading);
        } else {
            ResponseTee body = new ResponseTee(
                    exchangeLoop.loop(),
                    () -> exchangeLoop
                            .memory()
                            .windowBytes(exchangeLoop.settings().fillWindowBytes()),
                    writer != null,
                    this);
            tee = body;
            if (writer != null) {
                long bodyBytesMax = storingRules.storedBytesMax(writer.bytesMax(storingRules.storageShareMax()));
                // A response with a key in keptUnder() keeps the received part in the store if the origin fails.
                body.storeTo(writer, opened.contentLength(), opened.keptUnder() != null, bodyBytesMax);
                body.notStoredIf(() -> fetch.isHardInvalidated() || fetch.isUnstorable());
            }
        }
    }

    /** Called when all exchanges that wait for the response have their readers. */
    void endOffering() {
        offering = false;
        if (tee != null && !tee.hasReaders()) {
            onNoReaders();
        }
    }

    /**
     * Returns the stored object whose blocks the caller reads, and counts the caller until {@link #leaveBlocks}.
     * Returns null when the content does not go to blocks.
     */
    @Nullable
    StoredObject<StoredHead> readBlocks() {
        ObjectWriter<StoredHead> writer = blockWriter;
        if (writer == null) {
            return null;
        }
        blockReaders++;
        return writer.object();
    }

    /** Returns a reader of content that does not go to blocks. */
    ResponseTee.Reader read(EventExecutor loop, ContentSink sink) {
        ResponseTee body = tee;
        if (body == null) {
            throw new IllegalStateException("the content is in the store");
        }
        return body.read(loop, sink);
    }

    /** Inserts a stored first part before the origin's content. Takes over the reference. */
    void prepend(StoredObject<StoredHead> firstPart) {
        ResponseTee body = tee;
        if (body == null) {
            throw new IllegalStateException("a stored part must precede the content of a tee");
        }
        prefix = new StoredPrefix(firstPart, exchangeLoop.loop(), body, this);
        prefix.pump();
    }

    /** Receives a piece from the origin. Takes ownership. */
    void content(ByteBuf content) {
        if (blocks != null) {
            blocks.content(content);
        } else if (tee == null) {
            content.release();
        } else {
            if (tee.isStoring() && fetch.isUnstorable()) {
                // An extension has prevented the storing, for example after its transformation failed. The content may
                // be long, so the rest is not written to the store in vain.
                tee.discardStored();
            }
            tee.content(content);
        }
    }

    /**
     * Called when the origin has sent all content.
     *
     * @param trailers the trailers to forward; null for none
     */
    void complete(@Nullable FieldSection trailers) {
        if (tee != null) {
            boolean stored = tee.isStoring();
            boolean outdated = fetch.isHardInvalidated();
            tee.end(trailers);
            if (storing) {
                exchangeLoop.counters().increment(outcome(stored, outdated));
            }
        } else if (blocks != null) {
            exchangeLoop.counters().increment(blocks.isComplete() ? Counter.FILLS_STORED : Counter.FILLS_ORIGIN_FAILED);
        }
    }

    private Counter outcome(boolean stored, boolean outdated) {
        if (outdated) {
            return Counter.FILLS_INVALIDATED;
        }
        if (fetch.isUnstorable()) {
            return Counter.FILLS_NOT_STORABLE;
        }
        return stored ? Counter.FILLS_STORED : Counter.FILLS_STORE_FAILED;
    }

    /** Called when the origin's response failed before its end. */
    void fail() {
        if (storing) {
            exchangeLoop.counters().increment(Counter.FILLS_ORIGIN_FAILED);
        }
        if (tee != null) {
            tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        }
    }

    /** Ends the body: nothing is read or written after this call. */
    void end() {
        ended = true;
        if (background != null) {
            background.cancel();
        }
        if (prefix != null) {
            prefix.close();
            prefix = null;
        }
        if (blockWriter != null) {
            blockWriter.keep();
        }
    }

    @Override
    public void onPrefixEnd() {
        prefix = null;
        fetch.onPrefixEnd();
    }

    @Override
    public void onPrefixFailure(ContentFailure failure) {
        prefix = null;
        if (tee != null) {
            tee.fail(failure);
        }
        fetch.onUnneeded();
    }

    @Override
    public void setReading(boolean open) {
        flowing = open;
        if (prefix != null) {
            prefix.flow(open);
        } else {
            fetch.setReading(open);
        }
    }

    @Override
    public void onNoReaders() {
        ResponseTee body = tee;
        FetchedResponse opened = response;
        if (offering || ended || body == null || opened == null) {
            return;
        }
        if (!body.isStoring() || !background().isWorthwhile(body.received(), opened.contentLength())) {
            giveUp();
        } else {
            background().limitTime(() -> {
                if (!ended && !body.hasReaders()) {
                    giveUp();
                }
            });
        }
    }

    @Override
    public void onTooLarge(long received) {
        storing = false;
        boolean overShare = storingRules.allowsLength(received);
        exchangeLoop.counters().increment(overShare ? Counter.FILLS_OVER_SHARE : Counter.FILLS_TOO_LARGE);
    }

    /** Called when a reader of the blocks has left. */
    void leaveBlocks() {
        blockReaders--;
        if (blockReaders > 0 || ended || blocks == null || response == null) {
            return;
        }
        ContentRange range = response.part();
        if (range == null || !background().isWorthwhile(blocks.position() - range.first(), range.bytes())) {
            giveUp();
        } else {
            background().limitTime(() -> {
                if (!ended && blockReaders == 0) {
                    giveUp();
                }
            });
        }
    }

    /**
     * Cancels the fetch, because no reader is left. The store keeps the received beginning if a later fetch can
     * complete it.
     */
    private void giveUp() {
        if (storing) {
            exchangeLoop.counters().increment(Counter.FILLS_CLIENT_LEFT);
        }
        if (tee != null) {
            tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        }
        fetch.onUnneeded();
    }
}
