package io.millrace.proxy.serve;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.ContentSource;
import io.millrace.proxy.net.AfterIoTasks;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stored response's content, or a part of it, as a source: slices of what is in RAM, reads off the event loop of what is only on disk.
 *
 * <p>A read gives at most {@link StoredObject#READ_LENGTH_MAX} bytes. Of what is in RAM as many as four times that are given at once, as each piece
 * that is sent wakes the client: of a body that is whole there at any time, since it is kept whole until its end is sent; of pieces that lie there
 * one by one as many as the client was seen to take, so that one that lags keeps few of them.
 *
 * <p>Confined to the sink's event loop.
 */
public final class StoredBody implements ContentSource {
    /** What is in RAM is given in a row up to so much, the longest of the usual objects there. */
    private static final int AT_ONCE_BYTES_MAX = 1 << 20;
    /**
     * What a client takes at once, piece after piece, before pieces are joined again after it was behind: more than the kernel keeps for it (4 MiB
     * by default), and so more than one that lags can take when the kernel has room again.
     */
    private static final int TAKEN_BYTES = 4 << 20;

    private final StoredObject<?> object;
    private final EventExecutor loop;
    private final ContentSink sink;
    private final long end;

    private long position;
    /** Given from RAM since the loop last had time for others. */
    private int atOnceBytes;
    /** What pieces in RAM are together at most when they are given next. */
    private int togetherBytes = StoredObject.READ_LENGTH_MAX;
    /** From where on that grows. */
    private long growsFrom;

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
        int length = nextLength();
        if (atOnceBytes + length > AT_ONCE_BYTES_MAX) {
            // A client as fast as this would have the loop for itself until the body's end.
            AfterIoTasks.next(loop, this::nextTurn);
            return;
        }
        ByteBuf part = object.residentPart(position, length);
        if (part == null) {
            read(Math.min(length, StoredObject.READ_LENGTH_MAX));
            return;
        }
        ByteBuf content = withThoseBehind(part, Math.min(togetherBytes, AT_ONCE_BYTES_MAX - atOnceBytes));
        if (position >= growsFrom && !sink.keepsCopies()) {
            togetherBytes = Math.min(2 * togetherBytes, AT_ONCE_BYTES_MAX);
        }
        atOnceBytes += content.readableBytes();
        position += content.readableBytes();
        sink.onContent(content);
    }

    private int nextLength() {
        if (object.residentBody() != null && !sink.keepsCopies()) {
            return (int) Math.min(AT_ONCE_BYTES_MAX, end - position);
        }
        return lengthOfPiece(position);
    }

    /** Up to where the next piece begins, so that pieces kept in RAM are met, and made, as they lie there. */
    private int lengthOfPiece(long at) {
        return (int) Math.min(StoredObject.READ_LENGTH_MAX - at % StoredObject.READ_LENGTH_MAX, end - at);
    }

    /** The piece with those behind it that are in RAM too, as far as all of them are no more than this many bytes. */
    private ByteBuf withThoseBehind(ByteBuf first, int bytesMax) {
        List<ByteBuf> parts = null;
        int bytes = first.readableBytes();
        while (position + bytes < end && bytes + StoredObject.READ_LENGTH_MAX <= bytesMax) {
            ByteBuf next = object.residentPart(position + bytes, lengthOfPiece(position + bytes));
            if (next == null) {
                break;
            }
            if (parts == null) {
                parts = new ArrayList<>(AT_ONCE_BYTES_MAX / StoredObject.READ_LENGTH_MAX);
                parts.add(first);
            }
            parts.add(next);
            bytes += next.readableBytes();
        }
        return parts == null ? first : Unpooled.wrappedBuffer(parts.size(), parts.toArray(ByteBuf[]::new));
    }

    @Override
    public void onBehind() {
        togetherBytes = StoredObject.READ_LENGTH_MAX;
        growsFrom = position + TAKEN_BYTES;
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
