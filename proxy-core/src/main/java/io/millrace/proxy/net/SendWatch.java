package io.millrace.proxy.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import java.util.concurrent.TimeUnit;

/**
 * Measures how fast a client accepts the bytes written to its channel. The owner samples periodically.
 *
 * <p>The kernel buffers up to some MiB for a client, and accepts more only after it has sent a third of the
 * buffer. Therefore this process may see no progress of a slow client for up to a minute. Then this class asks the
 * kernel when it last sent data.
 *
 * <p>Confined to the channel's event loop.
 */
public final class SendWatch {
    private static final long UNSET = 0;
    /** Time without visible progress after which the kernel is queried. */
    private static final long QUERY_KERNEL_NANOS = TimeUnit.MILLISECONDS.toNanos(400);
    /** Time over which a client's rate is measured. */
    static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Number of bytes that waited for the client at the last sample. */
    private long unsentBytes;
    /** Time of the last sample at which the number of unsent bytes had changed, or was 0. */
    private long progressNanos = UNSET;
    /** Time since which bytes have waited for the client without a break; {@link #UNSET} if none wait. */
    private long behindSinceNanos = UNSET;

    private long writtenBytes;
    /** Bytes that the client had accepted at the start of the current measuring window. */
    private long windowAcceptedBytes;

    private long windowStartNanos;
    /** Total bytes that the client had accepted at the time {@link #behindSinceNanos}. */
    private long behindAcceptedBytes;

    /** Bytes that wait for the client's flow control and are not written to the channel yet. */
    private long flowBlockedBytes;

    /** True if the kernel was queried since the last sample. {@link #kernelProgressNanos} is the result. */
    private boolean kernelQueried;

    private long kernelProgressNanos;

    /**
     * Returns the number of bytes that the kernel has not accepted. More exact than Netty's count, which falls
     * only after a whole buffer was sent.
     */
    public static long unsent(Channel channel) {
        ChannelOutboundBuffer buffers = channel.unsafe().outboundBuffer();
        return buffers == null ? 0 : Math.max(0, buffers.totalPendingWriteBytes() - buffers.currentProgress());
    }

    /** Counts bytes written to the channel. */
    public void wrote(long bytes) {
        writtenBytes += bytes;
    }

    /**
     * Sets the bytes that wait for the client's flow control and were not written to the channel. Call before
     * {@link #sample}.
     */
    public void setFlowBlockedBytes(long bytes) {
        flowBlockedBytes = bytes;
    }

    /** Samples the channel. Returns true when bytes wait for the client. */
    public boolean sample(Channel channel, long nowNanos) {
        long unsent = unsent(channel) + flowBlockedBytes;
        kernelQueried = false;
        if (unsent == 0) {
            behindSinceNanos = UNSET;
            unsentBytes = 0;
            progressNanos = nowNanos;
            return false;
        }
        if (behindSinceNanos == UNSET) {
            behindSinceNanos = nowNanos;
            progressNanos = nowNanos;
            behindAcceptedBytes = acceptedBytes(unsent);
            windowStartNanos = nowNanos;
            windowAcceptedBytes = behindAcceptedBytes;
        } else if (unsent != unsentBytes) {
            progressNanos = nowNanos;
        }
        unsentBytes = unsent;
        return true;
    }

    private long acceptedBytes(long unsent) {
        return Math.max(0, writtenBytes + flowBlockedBytes - unsent);
    }

    /**
     * Returns the size of the kernel's send buffer. The kernel may hold this many bytes before the client receives
     * them.
     */
    private static long kernelBytes(Channel channel) {
        Integer bytes = channel.config().getOption(ChannelOption.SO_SNDBUF);
        return bytes == null ? 0 : bytes;
    }

    /** Time since the client last accepted bytes, as of the last sample. */
    public long silentNanos(Channel channel, long nowNanos) {
        long observedSilentNanos = nowNanos - progressNanos;
        if (observedSilentNanos < QUERY_KERNEL_NANOS || unsentBytes == flowBlockedBytes) {
            // Bytes that wait for the client's flow-control window are not in the kernel.
            return observedSilentNanos;
        }
        if (!kernelQueried) {
            kernelQueried = true;
            kernelProgressNanos = kernelProgress(channel, nowNanos);
        }
        return Math.min(observedSilentNanos, nowNanos - kernelProgressNanos);
    }

    /**
     * Returns the time at which the kernel last sent data. Returns a time in the distant past if the kernel is
     * retransmitting, or with NIO, which cannot query the kernel.
     */
    private static long kernelProgress(Channel channel, long nowNanos) {
        if (!(channel instanceof EpollSocketChannel socket) || !socket.isActive()) {
            return nowNanos - Long.MAX_VALUE / 2;
        }
        EpollTcpInfo tcp = socket.tcpInfo();
        return tcp.retransmits() > 0
                ? nowNanos - Long.MAX_VALUE / 2
                : nowNanos - TimeUnit.MILLISECONDS.toNanos(tcp.lastDataSent());
    }

    /**
     * Returns for how many nanoseconds bytes have waited for the client without interruption. Returns 0 if none wait.
     */
    public long unsentNanos(long nowNanos) {
        return behindSinceNanos == UNSET ? 0 : nowNanos - behindSinceNanos;
    }

    /** Returns the client's receive rate since bytes began to wait for it, in bytes per second. */
    public long bytesPerSecond(long nowNanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(unsentNanos(nowNanos));
        return millis == 0 ? Long.MAX_VALUE : (acceptedBytes(unsentBytes) - behindAcceptedBytes) * 1000 / millis;
    }

    /** Returns true if the client has accepted none of the waiting bytes for longer than {@code timeoutNanos}. */
    public boolean isStuck(Channel channel, long nowNanos, long timeoutNanos) {
        return unsentBytes > 0
                && nowNanos - progressNanos > timeoutNanos
                && silentNanos(channel, nowNanos) > timeoutNanos;
    }

    /**
     * Returns true if the client certainly accepts less than {@code bytesPerSecond} in the current measuring window.
     * Bytes that the kernel may still buffer count as accepted. Therefore a larger kernel buffer delays the result. If
     * the client was fast enough, begins a new measuring window.
     */
    public boolean isBelow(Channel channel, long bytesPerSecond, long nowNanos) {
        if (bytesPerSecond == 0 || behindSinceNanos == UNSET || nowNanos - windowStartNanos < WINDOW_NANOS) {
            return false;
        }
        long accepted = acceptedBytes(unsentBytes);
        long due = bytesPerSecond * TimeUnit.NANOSECONDS.toMillis(nowNanos - windowStartNanos) / 1000;
        if (accepted - windowAcceptedBytes >= due) {
            windowStartNanos = nowNanos;
            windowAcceptedBytes = accepted;
            return false;
        }
        return accepted - windowAcceptedBytes + kernelBytes(channel) < due;
    }
}
