package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.net.ClientStream;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sends the content of a page in slices, as fast as the client receives it. A fast client does not occupy the event
 * loop for a whole page: after a limit, other tasks of the loop run first.
 *
 * <p>Confined to one event loop.
 */
final class PageSender {
    /** Limit in bytes of one write. */
    static final int SLICE_BYTES = 64 * 1024;

    /** Limit in bytes of the writes in one task of the event loop. */
    static final int TASK_BYTES_MAX = 1 << 20;

    /**
     * Limit in seconds of the time without a write. A page that is being sent holds memory of
     * {@code limits.memory_esi}, so a client must receive a slice in this time.
     */
    static final int STALL_SECONDS = 60;

    /** Receives the end. */
    interface End {
        /** All content is written. */
        void onSent();

        /** An exception prevented the next write. */
        void onFault(Throwable fault);

        /** The client has received nothing for {@link #STALL_SECONDS}. */
        void onTooSlow();
    }

    private final ClientStream client;
    private final PageContent content;
    private final End end;
    private long sentBytes;
    private boolean isSending;
    private boolean isScheduled;
    private boolean isClosed;
    /** Ends the page of a client that receives nothing. */
    private @Nullable ScheduledFuture<?> stall;

    PageSender(ClientStream client, PageContent content, End end) {
        this.client = client;
        this.content = content;
        this.end = end;
    }

    /** Bytes written so far. */
    long sentBytes() {
        return sentBytes;
    }

    /** Writes until the client is no longer writable. Call it again when the client is writable again. */
    void send() {
        if (isSending || isScheduled || isClosed) {
            return;
        }
        isSending = true;
        try {
            write();
        } catch (RuntimeException | Error e) {
            close();
            end.onFault(e);
        } finally {
            isSending = false;
        }
    }

    private void write() {
        int written = 0;
        while (!isClosed && content.length() > 0 && client.isWritable()) {
            if (written >= TASK_BYTES_MAX) {
                isScheduled = true;
                client.eventLoop().execute(this::sendMore);
                return;
            }
            ByteBuf slice = content.next(client.alloc(), SLICE_BYTES);
            int size = slice.readableBytes();
            written += size;
            sentBytes += size;
            cancelStall();
            client.write(slice);
        }
        if (!isClosed && content.length() == 0) {
            isClosed = true;
            end.onSent();
        } else if (!isClosed && stall == null) {
            stall = client.eventLoop().schedule(this::onStall, STALL_SECONDS, TimeUnit.SECONDS);
        }
    }

    private void onStall() {
        stall = null;
        if (!isClosed) {
            close();
            end.onTooSlow();
        }
    }

    private void cancelStall() {
        if (stall != null) {
            stall.cancel(false);
            stall = null;
        }
    }

    private void sendMore() {
        isScheduled = false;
        send();
    }

    /** Drops the content that was not sent. {@code end} is not called. */
    void close() {
        isClosed = true;
        cancelStall();
        content.clear();
    }
}
