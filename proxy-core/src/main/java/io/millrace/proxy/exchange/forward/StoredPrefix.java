package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.serve.StoredBody;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;

/**
 * Feeds the stored first part of a body into a {@link ResponseTee}. The tee delivers a body to all of its readers and
 * to the store. The rest of the body, from the origin, follows.
 *
 * <p>Confined to one event loop.
 */
public final class StoredPrefix implements ContentSink {
    /** Receives the end of the first part. */
    public interface End {
        void onPrefixEnd();

        void onPrefixFailure(ContentFailure failure);
    }

    private final ResponseTee tee;
    private final End end;
    private final StoredBody body;

    private boolean open = true;
    /** True from a pull until its piece arrives. */
    private boolean outstanding;

    /** True while {@link #pump} runs; a nested call sets {@link #pumpAgain} instead of recursing. */
    private boolean pumping;

    private boolean pumpAgain;
    private boolean ended;

    /** Takes over the reference. */
    public StoredPrefix(StoredObject<StoredHead> firstPart, EventExecutor loop, ResponseTee tee, End end) {
        this.tee = tee;
        this.end = end;
        this.body = new StoredBody(firstPart, loop, this, 0, firstPart.length());
    }

    /** Called when the tee can accept more content, or is full. */
    public void flow(boolean isOpen) {
        open = isOpen;
        pump();
    }

    public void pump() {
        if (pumping) {
            pumpAgain = true;
            return;
        }
        pumping = true;
        do {
            pumpAgain = false;
            if (!ended && open && !outstanding) {
                outstanding = true;
                body.pull();
            }
        } while (pumpAgain);
        pumping = false;
    }

    public void close() {
        if (!ended) {
            ended = true;
            body.close();
        }
    }

    /**
     * Returns true although this sink keeps no copies: sinks that return true get small pieces, and a piece of up to
     * 1 MiB would exceed the tee's buffer.
     */
    @Override
    public boolean keepsCopies() {
        return true;
    }

    @Override
    public void onContent(ByteBuf content) {
        outstanding = false;
        if (ended) {
            content.release();
            return;
        }
        tee.content(content);
        pump();
    }

    @Override
    public void onEnd() {
        if (!ended) {
            close();
            end.onPrefixEnd();
        }
    }

    @Override
    public void onFailure(ContentFailure failure) {
        if (!ended) {
            close();
            end.onPrefixFailure(failure);
        }
    }
}
