package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.FrameOutput;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.ConnectionSet;
import io.netty.channel.Channel;

/**
 * Measures how fast an HTTP/2 client receives, and closes connections of slow clients.
 *
 * <p>Confined to one event loop.
 */
final class ClientPace implements SlowClients.Client {
    private final Http2Connection connection;
    private final ConnectionSet connections;
    private final Channel channel;
    private final FrameOutput output;
    private final ContentSender sender;

    ClientPace(
            Http2Connection connection,
            ConnectionSet connections,
            Channel channel,
            FrameOutput output,
            ContentSender sender) {
        this.connection = connection;
        this.connections = connections;
        this.channel = channel;
        this.output = output;
        this.sender = sender;
    }

    /**
     * Measures the output. Returns true if bytes wait for the client. Called at each periodic check (tick) of the
     * connection, before the other methods.
     */
    boolean sample(long nowNanos) {
        return output.sample(sender.queuedBytes(), nowNanos);
    }

    /** Closes the connection if the client receives too slowly. Returns true if it was closed. */
    boolean closeIfTooSlow(Http2Settings settings, long nowNanos) {
        if (!sample(nowNanos)) {
            return false;
        }
        SlowClients slow = connections.slowClients();
        SlowReason reason = null;
        // Counts only bytes in the channel. Http2Stream.checkStalled checks the bytes that wait for the window of a
        // stream.
        if (output.unsent() > 0 && output.watch().isStuck(channel, nowNanos, settings.sendTimeoutNanos())) {
            reason = SlowReason.TIMEOUT;
        } else if (slow != null && output.watch().isBelow(channel, slow.rateMin(), nowNanos)) {
            reason = SlowReason.RATE;
        }
        if (reason == null) {
            return false;
        }
        if (slow == null) {
            closeSlow(reason);
        } else {
            slow.close(this, reason);
        }
        return true;
    }

    @Override
    public long silentNanos(long nowNanos) {
        return output.watch().silentNanos(channel, nowNanos);
    }

    @Override
    public long unsentNanos(long nowNanos) {
        return output.watch().unsentNanos(nowNanos);
    }

    @Override
    public long bytesPerSecond(long nowNanos) {
        return output.watch().bytesPerSecond(nowNanos);
    }

    @Override
    public SlowClients.OriginDemand originDemand() {
        SlowClients.OriginDemand highestDemand = SlowClients.OriginDemand.NONE;
        for (Http2Stream stream : connection.streams().all()) {
            SlowClients.OriginDemand demand = stream.originDemand();
            highestDemand = demand.compareTo(highestDemand) > 0 ? demand : highestDemand;
        }
        return highestDemand;
    }

    @Override
    public void closeSlow(SlowReason reason) {
        for (Http2Stream stream : connection.streams().all()) {
            stream.onTooSlow(reason);
        }
        connection.closeByReset();
    }
}
