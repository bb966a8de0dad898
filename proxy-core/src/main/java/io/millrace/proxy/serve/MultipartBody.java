package io.millrace.proxy.serve;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.ContentSource;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * The content source of a multipart/byteranges response with ranges of a stored response. Delivers for each range
 * its preface and bytes, then the closing line.
 *
 * <p>Confined to the sink's event loop.
 */
public final class MultipartBody implements ContentSource, ContentSink {
    private final ByteRanges ranges;
    private final StoredObject<?> object;
    private final EventExecutor loop;
    private final ContentSink sink;

    private int nextPart;
    private @Nullable StoredBody currentRange;
    private boolean closingSent;

    /** Creates the source. Takes ownership of the reference to the object. */
    public MultipartBody(ByteRanges ranges, StoredObject<?> object, EventExecutor loop, ContentSink sink) {
        this.ranges = ranges;
        this.object = object;
        this.loop = loop;
        this.sink = sink;
    }

    @Override
    public void pull() {
        StoredBody body = currentRange;
        if (body != null) {
            body.pull();
        } else if (nextPart < ranges.parts().size()) {
            ByteRanges.Part part = ranges.parts().get(nextPart);
            nextPart++;
            currentRange = new StoredBody(
                    object.retain(),
                    loop,
                    this,
                    part.range().first(),
                    part.range().last() + 1);
            sink.onContent(Unpooled.wrappedBuffer(part.preface()));
        } else if (!closingSent) {
            closingSent = true;
            sink.onContent(Unpooled.wrappedBuffer(ranges.closing()));
        } else {
            sink.onEnd();
        }
    }

    @Override
    public void onBehind() {
        StoredBody body = currentRange;
        if (body != null) {
            body.onBehind();
        }
    }

    @Override
    public boolean keepsCopies() {
        return sink.keepsCopies();
    }

    @Override
    public void onContent(ByteBuf content) {
        sink.onContent(content);
    }

    /** Continues with the next range, because the current range is complete. */
    @Override
    public void onEnd() {
        endCurrent();
        pull();
    }

    @Override
    public void onFailure(ContentFailure failure) {
        sink.onFailure(failure);
    }

    private void endCurrent() {
        StoredBody body = currentRange;
        currentRange = null;
        if (body != null) {
            body.close();
        }
    }

    @Override
    public void close() {
        endCurrent();
        object.release();
    }
}
