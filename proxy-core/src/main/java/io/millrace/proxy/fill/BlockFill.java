package io.millrace.proxy.fill;

import io.millrace.store.ObjectWriter;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;

/**
 * Writes a part of an origin's body into blocks of the store, from where all clients read it. Runs at the store's pace:
 * reading from the origin is paused while the store's write queue is full.
 *
 * <p>Confined to the event loop of the fetch.
 */
public final class BlockFill {
    /** Callback to the fetch that delivers the body. */
    @FunctionalInterface
    public interface Feed {
        /** Resumes reading from the origin if {@code open} is true; pauses it otherwise. */
        void setReading(boolean open);
    }

    private final EventExecutor loop;
    private final ObjectWriter<?> writer;
    private final Feed feed;
    private final long first;
    private final long end;

    private long position;
    /** True while reading is paused, because the store's write queue is full. */
    private boolean waiting;

    /**
     * @param writer borrowed: the caller closes it when the fill has ended
     * @param position position in the body of the first byte that the origin sends
     * @param first position of the first byte wanted; earlier bytes are dropped
     * @param end the position after the last byte wanted; later bytes are dropped
     */
    public BlockFill(EventExecutor loop, ObjectWriter<?> writer, long position, long first, long end, Feed feed) {
        this.loop = loop;
        this.writer = writer;
        this.position = position;
        this.first = first;
        this.end = end;
        this.feed = feed;
    }

    /** Receives a piece from the origin. Takes ownership. */
    public void content(ByteBuf content) {
        int length = (int) Math.min(content.readableBytes(), end - position);
        if (length == 0) {
            content.release();
            return;
        }
        content.writerIndex(content.readerIndex() + length);
        long at = position;
        position += length;
        int beforeFirst = (int) Math.max(0, Math.min(length, first - at));
        if (beforeFirst == length) {
            content.release();
            return;
        }
        writer.write(at + beforeFirst, content.skipBytes(beforeFirst));
        if (!waiting && !writer.isWritable()) {
            waiting = true;
            feed.setReading(false);
            writer.onWritable(loop, this::onWritable);
        }
    }

    private void onWritable() {
        waiting = false;
        feed.setReading(true);
    }

    /** The position after the last received byte. */
    public long position() {
        return position;
    }

    /** Returns true if the complete part was received. */
    public boolean isComplete() {
        return position == end;
    }
}
