package io.millrace.proxy.serve;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.ContentSource;
import io.millrace.proxy.net.LoopTurns;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * A stored response's content, or a part of it, as a source: in pieces of at most
 * {@link StoredObject#READ_LENGTH_MAX}: slices of what is in RAM, reads off the event loop of what is only on disk.
 *
 * <p>Confined to the sink's event loop.
 */
public final class StoredBody implements ContentSource {
    /** What is in RAM is given in a row up to so much, the longest of the usual objects there. */
    private static final int AT_ONCE_BYTES_MAX = 1 << 20;

    private final StoredObject<?> object;
    private final EventExecutor loop;
    private final ContentSink sink;
    private final long end;

    private long position;
    /** Given from RAM since the loop last had time for others. */
    private int atOnceBytes;

    private boolean reading;
    private boolean closed;
    private boolean released;

    /**
     * @param object takes over the caller's reference
     * @param position first byte wanted
     * @param end the position after the last byte wanted
     */
    public StoredBody(StoredObject<?> object, EventExecutor loop, ContentSink sink, long position, long end) {
        this.object = object;
        this.loop = loop;
        this.sink = sink;
        this.position = position;
        this.end = end;
    }

    @Override
    public void pull() {
        if (position >= end) {
            sink.onEnd();
            return;
        }
        // Up to where the next piece begins, so that pieces kept in RAM are met, and made, as they lie there.
        int length =
                (int) Math.min(StoredObject.READ_LENGTH_MAX - position % StoredObject.READ_LENGTH_MAX, end - position);
        if (atOnceBytes + length > AT_ONCE_BYTES_MAX) {
            // A client as fast as this would have the loop for itself until the body's end.
            LoopTurns.next(loop, this::nextTurn);
            return;
        }
        ByteBuf part = object.residentPart(position, length);
        if (part == null) {
            read(length);
        } else {
            atOnceBytes += length;
            position += part.readableBytes();
            sink.onContent(part);
        }
    }

    private void nextTurn() {
        atOnceBytes = 0;
        if (!closed) {
            pull();
        }
    }

    private void read(int length) {
        reading = true;
        object.read(position, length, loop, (content, failure) -> onRead(content));
    }

    private void onRead(@Nullable ByteBuf content) {
        reading = false;
        atOnceBytes = 0;
        if (closed) {
            if (content != null) {
                content.release();
            }
            release();
        } else if (content == null) {
            sink.onFailure(ContentFailure.STORE_READ);
        } else {
            position += content.readableBytes();
            sink.onContent(content);
        }
    }

    @Override
    public void close() {
        closed = true;
        if (!reading) {
            release();
        }
    }

    private void release() {
        if (!released) {
            released = true;
            object.release();
        }
    }
}
