package io.millrace.proxy.serve;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.ContentSource;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * A stored response's content, or a part of it, as a source: in pieces of at most
 * {@link StoredObject#READ_LENGTH_MAX}: slices of what is in RAM, reads off the event loop of what is on disk.
 *
 * <p>Confined to the sink's event loop.
 */
public final class StoredBody implements ContentSource {
    private final StoredObject<?> object;
    private final EventExecutor loop;
    private final ContentSink sink;
    private final long end;

    private long position;
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
        ByteBuf resident = object.residentBody();
        if (resident != null) {
            int from = (int) position;
            int length = (int) Math.min(StoredObject.READ_LENGTH_MAX, end - position);
            position += length;
            sink.onContent(resident.retainedSlice(resident.readerIndex() + from, length));
            return;
        }
        reading = true;
        int length = (int) Math.min(StoredObject.READ_LENGTH_MAX, end - position);
        object.read(position, length, loop, (content, failure) -> onRead(content));
    }

    private void onRead(@Nullable ByteBuf content) {
        reading = false;
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
