package io.millrace.proxy.http1;

import io.millrace.proxy.net.SendWatch;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The output of a connection, collected over one event loop iteration and sent by one system call. A response is
 * written in several parts: head, content and end. Small content is copied behind its head into the same buffer.
 *
 * <p>Confined to the channel's event loop.
 */
final class ConnectionOutput {
    /** Content of up to this many bytes is copied behind its head, because that costs less than a separate buffer. */
    private static final int JOINED_BYTES_MAX = 4096;

    private final ChannelHandlerContext ctx;
    private final Consumer<Runnable> atEndOfIteration;
    private final SendWatch watch = new SendWatch();
    private final Runnable flushTask = this::flushIfQueued;
    /** A head that waits for its content; owned. */
    private @Nullable ByteBuf head;

    private boolean inRead;
    /** True if {@link #endRead} must flush. */
    private boolean flushDue;
    /** True if a flush is queued for the end of the loop iteration. */
    private boolean flushQueued;

    /** @param atEndOfIteration runs a task at the end of the event loop's iteration */
    ConnectionOutput(ChannelHandlerContext ctx, Consumer<Runnable> atEndOfIteration) {
        this.ctx = ctx;
        this.atEndOfIteration = atEndOfIteration;
    }

    /**
     * Returns the number of bytes to reserve after a head, for content that is copied behind it. {@code contentLength}
     * is -1 when unknown; then half of the limit is reserved.
     */
    static int reserveFor(long contentLength) {
        return contentLength > JOINED_BYTES_MAX ? 0 : contentLength < 0 ? JOINED_BYTES_MAX / 2 : (int) contentLength;
    }

    /** Begins the processing of client bytes. Flushes are deferred until {@link #endRead}. */
    void beginRead() {
        inRead = true;
    }

    /** Returns true if client bytes are being processed. */
    boolean isInRead() {
        return inRead;
    }

    /**
     * Ends the processing of client bytes and flushes. A flush may free space, into which more bytes are written; these
     * are flushed too, until the socket is full. The flush must not wait for the end of the loop iteration: the end of
     * the client's input may come next and close the channel.
     */
    void endRead() {
        while (flushDue || flushQueued) {
            flushNow();
        }
        inRead = false;
    }

    /** Writes the head of a response. The head waits for the bytes that follow. Takes ownership. */
    void writeHead(ByteBuf bytes) {
        writeWaiting();
        watch.wrote(bytes.readableBytes());
        head = bytes;
    }

    /** Writes bytes other than a response head. Takes ownership. */
    void write(ByteBuf bytes) {
        ByteBuf waitingHead = head;
        watch.wrote(bytes.readableBytes());
        if (waitingHead == null) {
            ctx.write(bytes, ctx.voidPromise());
        } else if (bytes.readableBytes() <= waitingHead.writableBytes()) {
            waitingHead.writeBytes(bytes);
            bytes.release();
        } else {
            writeWaiting();
            ctx.write(bytes, ctx.voidPromise());
        }
    }

    /**
     * Flushes at the end of the event loop iteration, or immediately when the channel is not writable. While client
     * bytes are processed, {@link #endRead} flushes instead.
     */
    void flush() {
        if (inRead) {
            flushDue = true;
        } else if (!ctx.channel().isWritable()) {
            flushNow();
        } else if (!flushQueued) {
            flushQueued = true;
            atEndOfIteration.accept(flushTask);
        }
    }

    private void flushIfQueued() {
        if (flushQueued) {
            flushNow();
        }
    }

    /** Flushes immediately. */
    void flushNow() {
        flushDue = false;
        flushQueued = false;
        writeWaiting();
        ctx.flush();
    }

    private void writeWaiting() {
        ByteBuf waiting = head;
        if (waiting != null) {
            head = null;
            ctx.write(waiting, ctx.voidPromise());
        }
    }

    /** Returns true if bytes are not sent yet: they wait for the flush, or the client has not accepted them. */
    boolean isSending() {
        return flushQueued || head != null || SendWatch.unsent(ctx.channel()) > 0;
    }

    /**
     * Returns true if bytes wait for the client. Updates the measurements that the following methods return. Call once
     * per tick (the periodic check of all connections), before these methods.
     */
    boolean sample(long nowNanos) {
        return watch.sample(ctx.channel(), nowNanos);
    }

    /** Returns true if the client has accepted none of the waiting bytes for longer than {@code timeoutNanos}. */
    boolean isStuck(long nowNanos, long timeoutNanos) {
        return watch.isStuck(ctx.channel(), nowNanos, timeoutNanos);
    }

    /** Returns true if the client accepts fewer than this many bytes per second. */
    boolean isBelow(long bytesPerSecond, long nowNanos) {
        return watch.isBelow(ctx.channel(), bytesPerSecond, nowNanos);
    }

    /** Time since the client last accepted bytes, in nanoseconds. */
    long silentNanos(long nowNanos) {
        return watch.silentNanos(ctx.channel(), nowNanos);
    }

    /** Returns how long bytes have waited for the client without a break, in nanoseconds; 0 if none wait. */
    long unsentNanos(long nowNanos) {
        return watch.unsentNanos(nowNanos);
    }

    /** Returns the client's receive rate since bytes began to wait for it, in bytes per second. */
    long bytesPerSecond(long nowNanos) {
        return watch.bytesPerSecond(nowNanos);
    }

    /** Discards the waiting bytes. Call after the channel was closed. */
    void drop() {
        flushDue = false;
        flushQueued = false;
        ByteBuf waiting = head;
        head = null;
        if (waiting != null) {
            waiting.release();
        }
    }
}
