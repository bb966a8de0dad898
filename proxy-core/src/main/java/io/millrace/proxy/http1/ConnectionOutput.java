package io.millrace.proxy.http1;

import io.millrace.proxy.net.SendWatch;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * What a connection sends, gathered over one turn of the event loop: the head, the content and the end of a response come one by one, also when
 * they came out of one read of the origin, and leave by one system call. Small content is copied behind its head, into the same buffer.
 *
 * <p>Confined to the channel's event loop.
 */
final class ConnectionOutput {
    /** Content of up to this many bytes is copied behind its head: cheaper than a buffer of its own on its way. */
    private static final int JOINED_BYTES_MAX = 4096;

    private final ChannelHandlerContext ctx;
    private final SendWatch watch = new SendWatch();
    private final Runnable flushing = this::flushIfQueued;
    /** A head that waits for what is behind it; owned. */
    private @Nullable ByteBuf head;

    private boolean inRead;
    private boolean flushDue;
    private boolean flushQueued;

    ConnectionOutput(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /** Room to be left behind a head in its buffer, in bytes; {@code contentLength} is -1 when it is not known. */
    static int roomFor(long contentLength) {
        return contentLength > JOINED_BYTES_MAX ? 0 : contentLength < 0 ? JOINED_BYTES_MAX / 2 : (int) contentLength;
    }

    /** Bytes of a client are taken apart: what is flushed meanwhile leaves at their end. */
    void beginRead() {
        inRead = true;
    }

    /** Whether bytes of a client are taken apart. */
    boolean isInRead() {
        return inRead;
    }

    /**
     * The client's bytes are taken apart. Where a flush makes room, what is written into that is sent as well, up to what the client takes: its
     * end may stand right behind its bytes, and the channel closes with that before the loop's turn ends.
     */
    void endRead() {
        while (flushDue || flushQueued) {
            flushNow();
        }
        inRead = false;
    }

    /** Writes the head of a response, behind which more is to come. Takes ownership. */
    void writeHead(ByteBuf bytes) {
        writeWaiting();
        watch.wrote(bytes.readableBytes());
        head = bytes;
    }

    /** Writes anything else. Takes ownership. */
    void write(ByteBuf bytes) {
        ByteBuf before = head;
        watch.wrote(bytes.readableBytes());
        if (before == null) {
            ctx.write(bytes, ctx.voidPromise());
        } else if (bytes.readableBytes() <= before.writableBytes()) {
            before.writeBytes(bytes);
            bytes.release();
        } else {
            writeWaiting();
            ctx.write(bytes, ctx.voidPromise());
        }
    }

    /** Flushes written data at the end of the event loop iteration, or immediately above the channel's write limit. */
    void flush() {
        if (inRead) {
            flushDue = true;
        } else if (!ctx.channel().isWritable()) {
            flushNow();
        } else if (!flushQueued) {
            flushQueued = true;
            ctx.executor().execute(flushing);
        }
    }

    private void flushIfQueued() {
        if (flushQueued) {
            flushNow();
        }
    }

    /** Sends what was written. */
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

    /** Whether bytes have not left yet: they wait for the turn's end, or the client has not taken them. */
    boolean isSending() {
        return flushQueued || head != null || SendWatch.unsent(ctx.channel()) > 0;
    }

    /** Looks whether the client has bytes to take; once a tick, before the other questions. */
    boolean look(long nowNanos) {
        return watch.look(ctx.channel(), nowNanos);
    }

    /** Whether the client has taken nothing of what waits for it for longer than {@code timeoutNanos}. */
    boolean isStuck(long nowNanos, long timeoutNanos) {
        return watch.isStuck(ctx.channel(), nowNanos, timeoutNanos);
    }

    /** Whether the client takes less than this many bytes a second. */
    boolean isBelow(long bytesPerSecond, long nowNanos) {
        return watch.isBelow(ctx.channel(), bytesPerSecond, nowNanos);
    }

    /** Time since the client took anything. */
    long silentNanos(long nowNanos) {
        return watch.silentNanos(ctx.channel(), nowNanos);
    }

    /** Time for which the client has had bytes to take. */
    long behindNanos(long nowNanos) {
        return watch.behindNanos(nowNanos);
    }

    /** Bytes a second that the client took in that time. */
    long bytesPerSecond(long nowNanos) {
        return watch.bytesPerSecond(nowNanos);
    }

    /** The channel is gone: so is what waits. */
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
