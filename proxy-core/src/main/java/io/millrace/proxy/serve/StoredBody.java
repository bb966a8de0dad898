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
 * The content source of a stored response, or of a range of it. Delivers slices of bytes in RAM. Reads bytes on
 * disk without blocking the event loop.
 *
 * <p>A disk read returns at most {@link StoredObject#READ_LENGTH_MAX} bytes. Larger pieces need fewer system calls and
 * wake the client less often. Therefore bytes in RAM are delivered in pieces of up to 1 MiB. A body that is one buffer
 * in RAM is delivered in such large pieces even to a slow client, because that buffer stays allocated in any case until
 * its last byte is sent. Separate pieces in RAM are joined only for a fast client. For a slow client, joined pieces
 * would stay allocated for a long time.
 *
 * <p>Confined to the sink's event loop.
 */
public final class StoredBody implements ContentSource {
    /** Limit of bytes that are delivered from RAM before other connections of the event loop are served. */
    private static final int BYTES_PER_POLL_MAX = 1 << 20;
    /**
     * Number of bytes that a slow client must accept without delay before pieces are joined again. At least the
     * size of the kernel's send buffer (4 MiB by default), because bytes in that buffer are not yet received.
     */
    private static final int FAST_CLIENT_BYTES = 4 << 20;

    private final StoredObject<?> object;
    private final EventExecutor loop;
    private final ContentSink sink;
    private final long end;

    private long position;
    /** Bytes delivered from RAM since the event loop last polled its sockets. */
    private int bytesSincePoll;
    /** Limit of the next delivery of joined pieces, in bytes. Doubles with each delivery. */
    private int joinedBytesMax = StoredObject.READ_LENGTH_MAX;
    /** Position in the content from which {@link #joinedBytesMax} grows again. */
    private long growsFromPosition;

    private boolean reading;
    private boolean closed;
    private boolean released;

    /**
     * @param object the stored response; takes ownership of the reference
     * @param position position of the first byte to deliver
     * @param end position after the last byte to deliver
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
        if (bytesSincePoll + length > BYTES_PER_POLL_MAX) {
            // Serves other connections first. Otherwise a fast client would occupy the loop until the end of the body.
            AfterIoTasks.next(loop, this::continueAfterPoll);
            return;
        }
        ByteBuf part = object.residentPart(position, length);
        if (part == null) {
            read(Math.min(length, StoredObject.READ_LENGTH_MAX));
            return;
        }
        ByteBuf content = joinFollowing(part, Math.min(joinedBytesMax, BYTES_PER_POLL_MAX - bytesSincePoll));
        if (position >= growsFromPosition && !sink.keepsCopies()) {
            joinedBytesMax = Math.min(2 * joinedBytesMax, BYTES_PER_POLL_MAX);
        }
        bytesSincePoll += content.readableBytes();
        position += content.readableBytes();
        sink.onContent(content);
    }

    private int nextLength() {
        if (object.residentBody() != null && !sink.keepsCopies()) {
            return (int) Math.min(BYTES_PER_POLL_MAX, end - position);
        }
        return lengthOfPiece(position);
    }

    /**
     * Returns the length to the next multiple of {@link StoredObject#READ_LENGTH_MAX}. The store keeps such pieces
     * in RAM.
     */
    private int lengthOfPiece(long at) {
        return (int) Math.min(StoredObject.READ_LENGTH_MAX - at % StoredObject.READ_LENGTH_MAX, end - at);
    }

    /** Joins a piece with the following pieces in RAM, up to {@code bytesMax} bytes in total. */
    private ByteBuf joinFollowing(ByteBuf first, int bytesMax) {
        List<ByteBuf> parts = null;
        int bytes = first.readableBytes();
        while (position + bytes < end && bytes + StoredObject.READ_LENGTH_MAX <= bytesMax) {
            ByteBuf next = object.residentPart(position + bytes, lengthOfPiece(position + bytes));
            if (next == null) {
                break;
            }
            if (parts == null) {
                parts = new ArrayList<>(BYTES_PER_POLL_MAX / StoredObject.READ_LENGTH_MAX);
                parts.add(first);
            }
            parts.add(next);
            bytes += next.readableBytes();
        }
        return parts == null ? first : Unpooled.wrappedBuffer(parts.size(), parts.toArray(ByteBuf[]::new));
    }

    @Override
    public void onBehind() {
        joinedBytesMax = StoredObject.READ_LENGTH_MAX;
        growsFromPosition = position + FAST_CLIENT_BYTES;
    }

    private void continueAfterPoll() {
        bytesSincePoll = 0;
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
        bytesSincePoll = 0;
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
