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
 * Moves a stored first part into a tee, before the rest that an origin sends: as fast as the tee takes it.
 *
 * <p>Confined to one event loop.
 */
public final class StoredPrefix implements ContentSink {
    /** Learns how it ended. */
    public interface End {
        void onPrefixEnd();

        void onPrefixFailure(ContentFailure failure);
    }

    private final ResponseTee tee;
    private final End end;
    private final StoredBody body;

    private boolean open = true;
    private boolean outstanding;
    private boolean pumping;
    private boolean again;
    private boolean over;

    /** Takes over the reference. */
    public StoredPrefix(StoredObject<StoredHead> firstPart, EventExecutor loop, ResponseTee tee, End end) {
        this.tee = tee;
        this.end = end;
        this.body = new StoredBody(firstPart, loop, this, 0, firstPart.length());
    }

    /** The tee takes more, or no more. */
    public void flow(boolean isOpen) {
        open = isOpen;
        pump();
    }

    public void pump() {
        if (pumping) {
            again = true;
            return;
        }
        pumping = true;
        do {
            again = false;
            if (!over && open && !outstanding) {
                outstanding = true;
                body.pull();
            }
        } while (again);
        pumping = false;
    }

    public void close() {
        if (!over) {
            over = true;
            body.close();
        }
    }

    /** The tee reckons with pieces of the length that an origin's have, not with a MiB that others share. */
    @Override
    public boolean keepsCopies() {
        return true;
    }

    @Override
    public void onContent(ByteBuf content) {
        outstanding = false;
        if (over) {
            content.release();
            return;
        }
        tee.content(content);
        pump();
    }

    @Override
    public void onEnd() {
        if (!over) {
            close();
            end.onPrefixEnd();
        }
    }

    @Override
    public void onFailure(ContentFailure failure) {
        if (!over) {
            close();
            end.onPrefixFailure(failure);
        }
    }
}
