package io.millrace.proxy.fill;

import io.millrace.store.ObjectWriter;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;

/**
 * A part of a body on its way from an origin into the store's blocks, where everybody who wants it reads it. Runs at the store's
 * pace: the origin is paused while the store's queue is full.
 *
 * <p>Confined to one event loop, the one that fetches.
 */
public final class BlockFill {
    /** What the fill tells the fetch that feeds it. */
    @FunctionalInterface
    public interface Feed {
        /** Stop or go on reading the origin. */
        void onFlow(boolean open);
    }

    private final EventExecutor loop;
    private final ObjectWriter<?> writer;
    private final Feed feed;
    private final long first;
    private final long end;

    private long position;
    private boolean waiting;

    /**
     * @param writer stays the caller's, who ends it when the fill is over
     * @param position where in the body that begins which comes
     * @param first where the part begins; what comes before is dropped
     * @param end the position after its last byte; what comes beyond is dropped
     */
    public BlockFill(EventExecutor loop, ObjectWriter<?> writer, long position, long first, long end, Feed feed) {
        this.loop = loop;
        this.writer = writer;
        this.position = position;
        this.first = first;
        this.end = end;
        this.feed = feed;
    }

    /** A piece from the origin; takes ownership. */
    public void content(ByteBuf content) {
        int length = (int) Math.min(content.readableBytes(), end - position);
        if (length == 0) {
            content.release();
            return;
        }
        content.writerIndex(content.readerIndex() + length);
        long at = position;
        position += length;
        int early = (int) Math.max(0, Math.min(length, first - at));
        if (early == length) {
            content.release();
            return;
        }
        writer.write(at + early, content.skipBytes(early));
        if (!waiting && !writer.isWritable()) {
            waiting = true;
            feed.onFlow(false);
            writer.onWritable(loop, this::onWritable);
        }
    }

    private void onWritable() {
        waiting = false;
        feed.onFlow(true);
    }

    /** The position after the last byte that came. */
    public long position() {
        return position;
    }

    /** Whether all of the part came. */
    public boolean isComplete() {
        return position == end;
    }
}
