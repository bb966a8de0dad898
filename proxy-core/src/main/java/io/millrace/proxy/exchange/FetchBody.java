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
 * Where the content of a fetch's response goes: through a tee to everybody who reads it and to the store, or into the store's
 * blocks, from where it is read. Before it is opened, what comes is dropped.
 *
 * <pre>
 *   whole, or a part that is stored as one   origin -> tee -> readers, store
 *   the rest of a stored part                stored part, then origin -> tee -> readers, store
 *   a part that is stored in blocks          origin -> blocks of the store -> those who read them
 * </pre>
 *
 * <p>Confined to the fetch's event loop.
 */
final class FetchBody implements ResponseTee.Feed, StoredPrefix.End {
    /** The fetch, as its content sees it. */
    interface Fetch {
        /** Stop or go on reading the origin. */
        void onFlow(boolean open);

        /** The stored first part is sent: go on with what the origin sends. */
        void onPrefixEnd();

        /** Whether an invalidation has outdated it meanwhile: then it must not take the place of what came later. */
        boolean isGone();

        /** The rest is of no use, to nobody: end the fetch, and the origin's sending. */
        void onUseless();
    }

    private final ExchangeLoop home;
    private final Fetch fetch;
    private final BackgroundFill background;
    private final StoringRules storingRules;

    private @Nullable FetchedResponse response;
    private @Nullable ResponseTee tee;
    private @Nullable StoredPrefix prefix;
    private @Nullable BlockFill blocks;
    private @Nullable ObjectWriter<StoredHead> blockWriter;
    private int blockReaders;
    private boolean flowing = true;
    private boolean storing;
    private boolean offering;
    private boolean ended;

    FetchBody(ExchangeLoop home, FetchPlan plan, Fetch fetch) {
        this.home = home;
        this.fetch = fetch;
        this.storingRules = plan.cacheSettings().storing();
        this.background =
                new BackgroundFill(plan.mapped().rule().config().cache().fill(), home.loop());
    }

    /** The response whose content this is, null before it is opened. */
    @Nullable
    FetchedResponse response() {
        return response;
    }

    /** Whether the origin may be read. */
    boolean isFlowing() {
        return flowing;
    }

    /** Whether it goes to blocks of the store. */
    boolean isInBlocks() {
        return blockWriter != null;
    }

    /** Whether one who comes now gets all from the first byte. */
    boolean canJoin() {
        return blockWriter != null || (tee != null && tee.canRead(0));
    }

    /** Opens the way, to which readers are added before {@link #endOffering}. */
    void open(FetchStoring.Reception reception) {
        FetchedResponse opened = reception.response();
        ObjectWriter<StoredHead> writer = reception.writer();
        response = opened;
        storing = writer != null;
        offering = true;
        if (writer != null && reception.inBlocks() && opened.part() != null) {
            ContentRange range = opened.part();
            blockWriter = writer;
            // So that nobody else fetches the same.
            writer.claim(range.first(), range.bytes());
            blocks = new BlockFill(home.loop(), writer, range.first(), range.first(), range.end(), this::onFlow);
        } else {
            ResponseTee body = new ResponseTee(
                    home.loop(),
                    () -> home.memory().windowBytes(home.settings().fillWindowBytes()),
                    writer != null,
                    this);
            tee = body;
            if (writer != null) {
                long most = storingRules.storedBytesMax(writer.bytesMax(storingRules.storageShareMax()));
                body.storeTo(writer, opened.contentLength(), opened.keptUnder() != null, most);
                body.notStoredIf(fetch::isGone);
            }
        }
    }

    /** All who waited have their reader. */
    void endOffering() {
        offering = false;
        if (tee != null && !tee.hasReaders()) {
            onNoReaders();
        }
    }

    /** What one reads who reads the store's blocks, counted until it {@link #leaveBlocks leaves}; null when it goes not there. */
    @Nullable
    StoredObject<StoredHead> readBlocks() {
        ObjectWriter<StoredHead> writer = blockWriter;
        if (writer == null) {
            return null;
        }
        blockReaders++;
        return writer.object();
    }

    /** A reader of what does not go to blocks. */
    ResponseTee.Reader read(EventExecutor loop, ContentSink sink) {
        ResponseTee body = tee;
        if (body == null) {
            throw new IllegalStateException("no content that can be read here");
        }
        return body.read(loop, sink);
    }

    /** Puts a stored first part before what the origin sends; takes over the reference. */
    void prepend(StoredObject<StoredHead> firstPart) {
        ResponseTee body = tee;
        if (body == null) {
            throw new IllegalStateException("a stored part goes before what a tee brings");
        }
        prefix = new StoredPrefix(firstPart, home.loop(), body, this);
        prefix.pump();
    }

    /** A piece from the origin; takes ownership. */
    void content(ByteBuf content) {
        if (blocks != null) {
            blocks.content(content);
        } else if (tee == null) {
            content.release();
        } else {
            tee.content(content);
        }
    }

    /** The origin has sent all, with the trailers to forward; null for none. */
    void complete(@Nullable FieldSection trailers) {
        if (tee != null) {
            boolean stored = tee.isStoring();
            boolean gone = fetch.isGone();
            tee.end(trailers);
            if (storing) {
                Counter became = stored ? Counter.FILLS_STORED : Counter.FILLS_STORE_FAILED;
                home.counters().increment(gone ? Counter.FILLS_INVALIDATED : became);
            }
        } else if (blocks != null) {
            home.counters().increment(blocks.isComplete() ? Counter.FILLS_STORED : Counter.FILLS_ORIGIN_FAILED);
        }
    }

    /** The origin broke off. */
    void fail() {
        if (storing) {
            home.counters().increment(Counter.FILLS_ORIGIN_FAILED);
        }
        if (tee != null) {
            tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        }
    }

    /** The fetch is over: nothing is read or written from here on. */
    void end() {
        ended = true;
        background.cancel();
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
        fetch.onUseless();
    }

    @Override
    public void onFlow(boolean open) {
        flowing = open;
        if (prefix != null) {
            prefix.flow(open);
        } else {
            fetch.onFlow(open);
        }
    }

    @Override
    public void onNoReaders() {
        ResponseTee body = tee;
        FetchedResponse opened = response;
        if (offering || ended || body == null || opened == null) {
            return;
        }
        if (!body.isStoring() || !background.isWorthwhile(body.received(), opened.contentLength())) {
            giveUp();
        } else {
            background.bound(() -> {
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
        home.counters().increment(overShare ? Counter.FILLS_OVER_SHARE : Counter.FILLS_TOO_LARGE);
    }

    /** One that read the blocks has left. */
    void leaveBlocks() {
        blockReaders--;
        if (blockReaders > 0 || ended || blocks == null || response == null) {
            return;
        }
        ContentRange range = response.part();
        if (range == null || !background.isWorthwhile(blocks.position() - range.first(), range.bytes())) {
            giveUp();
        } else {
            background.bound(() -> {
                if (!ended && blockReaders == 0) {
                    giveUp();
                }
            });
        }
    }

    /** Nobody wants the rest. What is stored of it is kept where it can be put together with the rest another time. */
    private void giveUp() {
        if (storing) {
            home.counters().increment(Counter.FILLS_CLIENT_LEFT);
        }
        if (tee != null) {
            tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        }
        fetch.onUseless();
    }
}
