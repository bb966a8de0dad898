package io.millrace.proxy.http2.frame;

import io.millrace.proxy.net.SendWatch;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * Frames on their way to one peer, gathered over one turn of the event loop. Small frames are copied behind one another
 * into one buffer.
 *
 * <p>Confined to the channel's event loop. The buffer is owned here until it is written to the channel.
 */
public final class FrameOutput {
    /** Content of up to this many bytes is copied behind its frame header. */
    private static final int JOINED_BYTES_MAX = 4096;

    private static final int BUFFER_BYTES = 2048;
    /** A buffer of that size is written to the channel. */
    private static final int GATHERED_BYTES_MAX = 64 * 1024;

    private final ChannelHandlerContext ctx;
    private final Runnable turn;
    private final Runnable queuedTurn = this::endTurn;
    private final SendWatch watch = new SendWatch();
    private @Nullable ByteBuf gathered;
    private boolean inRead;
    private boolean turnQueued;
    private boolean unflushed;
    private long written;

    /** @param turn runs at the end of an event loop iteration in which frames were written; calls {@link #flushNow} */
    public FrameOutput(ChannelHandlerContext ctx, Runnable turn) {
        this.ctx = ctx;
        this.turn = turn;
    }

    /** The buffer to append whole frames to, with room for this many bytes; borrowed until the next call of anything here. */
    public ByteBuf room(int bytes) {
        ByteBuf buffer = gathered;
        if (buffer != null && buffer.readableBytes() + bytes > GATHERED_BYTES_MAX && buffer.isReadable()) {
            hand();
            buffer = null;
        }
        if (buffer == null) {
            buffer = ctx.alloc().directBuffer(Math.max(BUFFER_BYTES, bytes));
            gathered = buffer;
        }
        buffer.ensureWritable(bytes);
        flush();
        return buffer;
    }

    /** Total of bytes that have been handed to the channel: where it stays the same, {@link #room} gives the same buffer. */
    public long handed() {
        return written;
    }

    /** Position behind what is appended in the buffer that {@link #room} gave last. */
    public int position() {
        ByteBuf buffer = gathered;
        return buffer == null ? 0 : buffer.writerIndex();
    }

    /**
     * Sets flags of a frame that was appended before.
     *
     * @param position where its header begins; negative for nowhere
     * @param handedThen what {@link #handed} said then
     * @return false when the frame has been handed to the channel since
     */
    public boolean addFlags(int position, long handedThen, int flags) {
        ByteBuf buffer = gathered;
        if (buffer == null || position < 0 || written != handedThen) {
            return false;
        }
        int at = position + Frames.FLAGS_OFFSET;
        buffer.setByte(at, buffer.getByte(at) | flags);
        return true;
    }

    /** Appends a DATA frame; takes ownership of the content. */
    public void data(int streamId, ByteBuf content, boolean endStream) {
        int length = content.readableBytes();
        boolean joined = length <= JOINED_BYTES_MAX;
        ByteBuf buffer = room(Frames.HEADER_BYTES + (joined ? length : 0));
        Frames.header(buffer, length, Frames.DATA, endStream ? Frames.END_STREAM : 0, streamId);
        if (joined) {
            buffer.writeBytes(content);
            content.release();
        } else {
            hand();
            written += length;
            watch.wrote(length);
            ctx.write(content, ctx.voidPromise());
        }
    }

    /** Gives the buffer to the channel. */
    private void hand() {
        ByteBuf buffer = gathered;
        if (buffer != null) {
            gathered = null;
            if (buffer.isReadable()) {
                written += buffer.readableBytes();
                watch.wrote(buffer.readableBytes());
                ctx.write(buffer, ctx.voidPromise());
            } else {
                buffer.release();
            }
        }
    }

    /** Bytes of the peer are taken apart: what is written meanwhile leaves at their end. */
    public void beginRead() {
        inRead = true;
    }

    /** The bytes are taken apart. */
    public void endRead() {
        inRead = false;
        if (unflushed) {
            turn.run();
        }
    }

    /** Flushes written frames at the end of the event loop iteration. */
    public void flush() {
        unflushed = true;
        if (!inRead && !turnQueued) {
            turnQueued = true;
            ctx.executor().execute(queuedTurn);
        }
    }

    private void endTurn() {
        turnQueued = false;
        if (unflushed && !ctx.isRemoved()) {
            turn.run();
        }
    }

    /** Sends what was written. */
    public void flushNow() {
        hand();
        unflushed = false;
        ctx.flush();
    }

    /** Whether the channel takes more content now. */
    public boolean isWritable() {
        ByteBuf buffer = gathered;
        return ctx.channel().isWritable() && (buffer == null || buffer.readableBytes() < GATHERED_BYTES_MAX);
    }

    /** Bytes that the kernel has not taken. */
    public long unsent() {
        return SendWatch.unsent(ctx.channel());
    }

    /** Whether bytes have not left yet. */
    public boolean isSending() {
        return unflushed || SendWatch.unsent(ctx.channel()) > 0;
    }

    /**
     * Looks whether the client has bytes to take; once a tick, before the other questions.
     *
     * @param queued bytes that wait in streams
     */
    public boolean look(long queued, long nowNanos) {
        watch.holding(queued);
        return watch.look(ctx.channel(), nowNanos);
    }

    /** Measures how fast the client takes bytes. */
    public SendWatch watch() {
        return watch;
    }

    /** The channel is gone: so is what waits. */
    public void drop() {
        unflushed = false;
        ByteBuf buffer = gathered;
        gathered = null;
        if (buffer != null) {
            buffer.release();
        }
    }
}
