package io.millrace.proxy.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import java.util.concurrent.TimeUnit;

/**
 * Whether a client takes what is written to it, and how fast. Looked at once a tick.
 *
 * <p>The kernel keeps up to some MiB for a client and asks for more only when a third of that has left. So for a slow client
 * this process sees no progress for up to a minute. Where it sees none, the kernel is asked when it sent data last.
 *
 * <p>Confined to the channel's event loop.
 */
public final class SendWatch {
    private static final long UNSET = 0;
    /** How long this process sees no progress before the kernel is asked. */
    private static final long ASK_KERNEL_NANOS = TimeUnit.MILLISECONDS.toNanos(400);
    /** Time over which a client's rate is taken. */
    static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);

    private long unsentBytes;
    private long progressNanos = UNSET;
    private long behindSinceNanos = UNSET;
    private long writtenBytes;
    /** Bytes that the client had taken when the present window of its rate began. */
    private long windowTakenBytes;

    private long windowNanos;
    /** Bytes that it had taken when it began to be behind. */
    private long behindTakenBytes;

    /** Bytes that wait for the client before they go to the channel. */
    private long heldBytes;

    private boolean kernelAsked;
    private long kernelProgressNanos;

    /** Bytes that the kernel has not taken. Netty's own count falls only when a whole buffer has left. */
    public static long unsent(Channel channel) {
        ChannelOutboundBuffer buffers = channel.unsafe().outboundBuffer();
        return buffers == null ? 0 : Math.max(0, buffers.totalPendingWriteBytes() - buffers.currentProgress());
    }

    /** Bytes were written to the channel. */
    public void wrote(long bytes) {
        writtenBytes += bytes;
    }

    /** So many bytes wait for the client's flow control, and have not been written to the channel; before a look. */
    public void holding(long bytes) {
        heldBytes = bytes;
    }

    /** Looks at the channel; true when there are bytes that the client is to take. */
    public boolean look(Channel channel, long nowNanos) {
        long unsent = unsent(channel) + heldBytes;
        kernelAsked = false;
        if (unsent == 0) {
            behindSinceNanos = UNSET;
            unsentBytes = 0;
            progressNanos = nowNanos;
            return false;
        }
        if (behindSinceNanos == UNSET) {
            behindSinceNanos = nowNanos;
            progressNanos = nowNanos;
            behindTakenBytes = takenBytes(unsent);
            windowNanos = nowNanos;
            windowTakenBytes = behindTakenBytes;
        } else if (unsent != unsentBytes) {
            progressNanos = nowNanos;
        }
        unsentBytes = unsent;
        return true;
    }

    private long takenBytes(long unsent) {
        return Math.max(0, writtenBytes + heldBytes - unsent);
    }

    /** Bytes that the kernel may have taken for the client before the client took any of them. */
    private static long kernelBytes(Channel channel) {
        Integer bytes = channel.config().getOption(ChannelOption.SO_SNDBUF);
        return bytes == null ? 0 : bytes;
    }

    /** Time since the client took anything; as of the last look. */
    public long silentNanos(Channel channel, long nowNanos) {
        long own = nowNanos - progressNanos;
        if (own < ASK_KERNEL_NANOS || unsentBytes == heldBytes) {
            // Bytes that wait for the client's window are not in the kernel.
            return own;
        }
        if (!kernelAsked) {
            kernelAsked = true;
            kernelProgressNanos = kernelProgress(channel, nowNanos);
        }
        return Math.min(own, nowNanos - kernelProgressNanos);
    }

    /** When the kernel sent data last; the beginning of time where it does not say so, or repeats what is not acknowledged. */
    private static long kernelProgress(Channel channel, long nowNanos) {
        if (!(channel instanceof EpollSocketChannel socket) || !socket.isActive()) {
            return nowNanos - Long.MAX_VALUE / 2;
        }
        EpollTcpInfo tcp = socket.tcpInfo();
        return tcp.retransmits() > 0
                ? nowNanos - Long.MAX_VALUE / 2
                : nowNanos - TimeUnit.MILLISECONDS.toNanos(tcp.lastDataSent());
    }

    /** Time for which there were bytes to take at each look. */
    public long behindNanos(long nowNanos) {
        return behindSinceNanos == UNSET ? 0 : nowNanos - behindSinceNanos;
    }

    /** Bytes a second that were taken in that time, as far as this process sees. */
    public long bytesPerSecond(long nowNanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(behindNanos(nowNanos));
        return millis == 0 ? Long.MAX_VALUE : (takenBytes(unsentBytes) - behindTakenBytes) * 1000 / millis;
    }

    /** Whether it has taken none of it for longer than {@code timeoutNanos}. */
    public boolean isStuck(Channel channel, long nowNanos, long timeoutNanos) {
        return unsentBytes > 0
                && nowNanos - progressNanos > timeoutNanos
                && silentNanos(channel, nowNanos) > timeoutNanos;
    }

    /**
     * Whether it surely takes less than this many bytes a second. What the kernel may keep for it counts as taken, so it takes
     * longer to be sure of a client for which the kernel keeps much.
     */
    public boolean isBelow(Channel channel, long bytesPerSecond, long nowNanos) {
        if (bytesPerSecond == 0 || behindSinceNanos == UNSET || nowNanos - windowNanos < WINDOW_NANOS) {
            return false;
        }
        long taken = takenBytes(unsentBytes);
        long due = bytesPerSecond * TimeUnit.NANOSECONDS.toMillis(nowNanos - windowNanos) / 1000;
        if (taken - windowTakenBytes >= due) {
            windowNanos = nowNanos;
            windowTakenBytes = taken;
            return false;
        }
        return taken - windowTakenBytes + kernelBytes(channel) < due;
    }
}
