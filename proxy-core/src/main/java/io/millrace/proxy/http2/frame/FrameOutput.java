package io.millrace.proxy.http2.frame;

import io.millrace.proxy.net.SendWatch;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * Collects the frames for one peer until the end of the event loop iteration. Small frames are copied into one
 * buffer, to save channel writes.
 *
 * <p>Confined to the channel's event loop. Owns the buffer until it is written to the channel.
 */
public final class FrameOutput {
    /** Content of up to this many bytes is copied after its frame header. */
    private static final int JOINED_BYTES_MAX = 4096;

    /** Minimum initial size of the buffer in bytes. */
    private static final int BUFFER_BYTES = 2048;
    /** Buffer size in bytes at which frames are written to the channel before the end of the iteration. */
    private static final int COLLECTED_BYTES_MAX = 64 * 1024;

    private final ChannelHandlerContext ctx;
    private final Runnable onIterationEnd;
    private final Runnable queuedEnd = this::endIteration;
    private final SendWatch watch = new SendWatch();
    private @Nullable ByteBuf collected;
    private boolean inRead;
    private boolean endQueued;
    private boolean unflushed;
    private long bytesWritten;

    /**
     * @param onIterationEnd runs after frames were written, at the end of the event loop iteration or in {@link
     *     #endRead}; must call {@link #flushNow}
     */
    public FrameOutput(ChannelHandlerContext ctx, Runnable onIterationEnd) {
        this.ctx = ctx;
        this.onIterationEnd = onIterationEnd;
    }

    /**
     * Returns the output buffer, with space for {@code bytes} more. The caller appends complete frames. Borrowed
     * until the next call of a method of this class.
     */
    public ByteBuf reserve(int bytes) {
        ByteBuf buffer = collected;
        if (buffer != null && buffer.readableBytes() + bytes > COLLECTED_BYTES_MAX && buffer.isReadable()) {
            writeCollected();
            buffer = null;
        }
        if (buffer == null) {
            buffer = ctx.alloc().directBuffer(Math.max(BUFFER_BYTES, bytes));
            collected = buffer;
        }
        buffer.ensureWritable(bytes);
        flush();
        return buffer;
    }

    /**
     * The number of bytes passed to the channel. While it does not change, {@link #reserve} returns the same buffer.
     */
    public long bytesWritten() {
        return bytesWritten;
    }

    /** Returns the position after the last byte in the buffer that {@link #reserve} returned last. */
    public int position() {
        ByteBuf buffer = collected;
        return buffer == null ? 0 : buffer.writerIndex();
    }

    /**
     * Sets flags of a frame that was appended earlier.
     *
     * @param position start of the frame header; negative for no frame
     * @param bytesWrittenThen value of {@link #bytesWritten} when the frame was appended
     * @return false if the frame has been passed to the channel since
     */
    public boolean addFlags(int position, long bytesWrittenThen, int flags) {
        ByteBuf buffer = collected;
        if (buffer == null || position < 0 || bytesWritten != bytesWrittenThen) {
            return false;
        }
        int at = position + Frames.FLAGS_OFFSET;
        buffer.setByte(at, buffer.getByte(at) | flags);
        return true;
    }

    /** Appends a DATA frame. Takes ownership of the content. */
    public void data(int streamId, ByteBuf content, boolean endStream) {
        int length = content.readableBytes();
        boolean joined = length <= JOINED_BYTES_MAX;
        ByteBuf buffer = reserve(Frames.HEADER_BYTES + (joined ? length : 0));
        Frames.header(buffer, length, Frames.DATA, endStream ? Frames.END_STREAM : 0, streamId);
        if (joined) {
            buffer.writeBytes(content);
            content.release();
        } else {
            writeCollected();
            bytesWritten += length;
            watch.wrote(length);
            ctx.write(content, ctx.voidPromise());
        }
    }

    /** Writes the collected frames to the channel, without a flush. */
    private void writeCollected() {
        ByteBuf buffer = collected;
        if (buffer != null) {
            collected = null;
            if (buffer.isReadable()) {
                bytesWritten += buffer.readableBytes();
                watch.wrote(buffer.readableBytes());
                ctx.write(buffer, ctx.voidPromise());
            } else {
                buffer.release();
            }
        }
    }

    /** Begins the processing of received bytes. Flushes are deferred until {@link #endRead}. */
    public void beginRead() {
        inRead = true;
    }

    /** Ends the processing of received bytes and flushes. */
    public void endRead() {
        inRead = false;
        if (unflushed) {
            onIterationEnd.run();
        }
    }

    /**
     * Schedules a flush of the written frames: for {@link #endRead} during a read, else for the end of the iteration.
     */
    public void flush() {
        unflushed = true;
        if (!inRead && !endQueued) {
            endQueued = true;
            ctx.executor().execute(queuedEnd);
        }
    }

    private void endIteration() {
        endQueued = false;
        if (unflushed && !ctx.isRemoved()) {
            onIterationEnd.run();
        }
    }

    /** Flushes immediately. */
    public void flushNow() {
        writeCollected();
        unflushed = false;
        ctx.flush();
    }

    /** Returns true if the channel accepts more content now. */
    public boolean isWritable() {
        ByteBuf buffer = collected;
        return ctx.channel().isWritable() && (buffer == null || buffer.readableBytes() < COLLECTED_BYTES_MAX);
    }

    /** The number of bytes in the channel that the kernel has not accepted. */
    public long unsent() {
        return SendWatch.unsent(ctx.channel());
    }

    /** Returns true if collected frames or bytes in the channel are not sent yet. */
    public boolean isSending() {
        return unflushed || SendWatch.unsent(ctx.channel()) > 0;
    }

    /**
     * Measures whether bytes wait for the peer, and returns true if they do. Call once per periodic check (tick),
     * before queries of {@link #watch}.
     *
     * @param queued number of bytes that wait in streams
     */
    public boolean sample(long queued, long nowNanos) {
        watch.setFlowBlockedBytes(queued);
        return watch.sample(ctx.channel(), nowNanos);
    }

    /** Returns the measurement of how fast the peer receives bytes. */
    public SendWatch watch() {
        return watch;
    }

    /** Discards the waiting bytes. Call after the channel was closed. */
    public void drop() {
        unflushed = false;
        ByteBuf buffer = collected;
        collected = null;
        if (buffer != null) {
            buffer.release();
        }
    }
}
