package io.millrace.proxy.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * Whether a client takes what is written to it.
 *
 * <p>Confined to the channel's event loop.
 */
public final class SendWatch {
    private long unsentBytes;
    private long unsentSinceNanos;

    /** Bytes that the kernel has not taken. Netty's own count falls only when a whole buffer has left. */
    public static long unsent(Channel channel) {
        ChannelOutboundBuffer buffers = channel.unsafe().outboundBuffer();
        return buffers == null ? 0 : Math.max(0, buffers.totalPendingWriteBytes() - buffers.currentProgress());
    }

    /** Whether it has taken none of it for longer than {@code timeoutNanos}. */
    public boolean isStuck(Channel channel, long nowNanos, long timeoutNanos) {
        long unsent = unsent(channel);
        if (unsent == 0 || unsent != unsentBytes) {
            unsentBytes = unsent;
            unsentSinceNanos = nowNanos;
            return false;
        }
        return nowNanos - unsentSinceNanos > timeoutNanos;
    }
}
