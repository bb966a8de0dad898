package io.millrace.proxy.tunnel;

import io.millrace.proxy.net.ClientTunnel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import java.util.function.Supplier;

/**
 * A tunnel between a client connection and an origin connection. It begins after CONNECT or an upgrade (RFC 9110 s7.8,
 * s9.3.6). Bytes from one side are written to the other side. Reading from a side stops while the other side is not
 * writable. The end of one direction is forwarded, and the other direction stays open. A failure of one side closes
 * both sides.
 *
 * <p>The two handlers are added to their pipelines at different times. Bytes that arrive earlier are kept until both
 * handlers are added. {@link #onTick} checks the timeouts, so that a tunnel needs no timer.
 *
 * <p>Confined to the event loop, which both channels share.
 */
public final class Tunnel implements ClientTunnel {
    /** The reason for the end of a tunnel. */
    public enum End {
        /** Both directions have ended. */
        CLOSED("closed"),
        /** The client's connection was reset or failed, or the client read too slowly. */
        CLIENT_BROKEN("client-broken"),
        /** The origin's connection was reset, or failed. */
        ORIGIN_BROKEN("origin-broken"),
        /** No bytes were transferred for too long. */
        IDLE("idle"),
        /** The maximum lifetime of a tunnel was reached. */
        EXPIRED("expired"),
        /** This proxy is stopping. */
        STOPPED("stopped");

        private final String text;

        End(String text) {
            this.text = text;
        }

        /** The stable name for logs. */
        public String text() {
            return text;
        }
    }

    /** The listener for the end of a tunnel. */
    public interface Listener {
        /** Called once, when both connections are closed or closing. */
        void onTunnelEnd(End reason);
    }

    private static final long UNSET = 0;

    private final Supplier<TunnelLimits> limits;
    private final Listener listener;
    private final TunnelSide client = new TunnelSide(this, End.CLIENT_BROKEN);
    private final TunnelSide origin = new TunnelSide(this, End.ORIGIN_BROKEN);
    private long bytesToClient;
    private long bytesToOrigin;
    /** True if bytes were received, or a side ended its input, since the last tick. */
    private boolean active = true;

    private boolean ended;
    /** Bytes that were not sent at the last tick. A change means that a client or origin still reads. */
    private long unsentBefore;

    private long idleSinceNanos;
    private long begunNanos = UNSET;

    /**
     * Creates a tunnel that is not in a pipeline yet.
     *
     * @param limits read at each tick, so that a change also affects open tunnels
     */
    public Tunnel(Supplier<TunnelLimits> limits, Listener listener) {
        this.limits = limits;
        this.listener = listener;
    }

    @Override
    public ChannelHandler clientSide() {
        return client;
    }

    @Override
    public void endClientInput() {
        client.endInput();
    }

    /** The handler of the origin's side. The caller adds it once, as the last handler of the origin's pipeline. */
    public ChannelHandler originSide() {
        return origin;
    }

    /** Number of bytes received from the origin. */
    public long bytesToClient() {
        return bytesToClient;
    }

    /** Number of bytes received from the client. */
    public long bytesToOrigin() {
        return bytesToOrigin;
    }

    @Override
    public void onTick(long nowNanos) {
        if (ended) {
            return;
        }
        if (begunNanos == UNSET) {
            begunNanos = nowNanos;
        }
        long unsent = client.unsentBytes() + origin.unsentBytes();
        if (active || unsent != unsentBefore) {
            active = false;
            unsentBefore = unsent;
            idleSinceNanos = nowNanos;
        }
        TunnelLimits now = limits.get();
        if (now.maxNanos() > 0 && nowNanos - begunNanos >= now.maxNanos()) {
            end(End.EXPIRED);
        } else if (nowNanos - idleSinceNanos >= now.idleNanos()) {
            end(End.IDLE);
        }
    }

    @Override
    public void onClientTooSlow() {
        end(End.CLIENT_BROKEN);
    }

    @Override
    public void close() {
        end(End.STOPPED);
    }

    // callbacks of the sides

    boolean isEnded() {
        return ended;
    }

    private TunnelSide other(TunnelSide side) {
        return side == client ? origin : client;
    }

    /** Called when the handler of a side was added to its pipeline. */
    void joined(TunnelSide side) {
        if (other(side).isJoined()) {
            client.start();
            origin.start();
        }
    }

    /** Forwards received bytes to the other side. Takes ownership. */
    void received(TunnelSide from, ByteBuf bytes) {
        active = true;
        if (from == client) {
            bytesToOrigin += bytes.readableBytes();
        } else {
            bytesToClient += bytes.readableBytes();
        }
        other(from).write(bytes);
    }

    /** Called at the end of a read. Flushes the bytes, and continues to read if the other side is writable. */
    void receivedAll(TunnelSide from) {
        TunnelSide to = other(from);
        to.flush();
        from.read(to.isWritable());
    }

    /** Called when the writability of a side has changed. */
    void writable(TunnelSide side) {
        other(side).read(side.isWritable());
    }

    /** Called when a side has ended its input. */
    void inputEnded(TunnelSide side) {
        active = true;
        other(side).shutdownOutput();
    }

    /** Called when the output of a side was shut down. */
    void outputShut() {
        if (client.isOutputShut() && origin.isOutputShut()) {
            end(End.CLOSED);
        }
    }

    /** Called when the connection of a side is closed or unusable. */
    void broken(TunnelSide side, End reason) {
        if (!ended) {
            other(side).resetAtEnd();
            end(reason);
        }
    }

    private void end(End reason) {
        if (ended) {
            return;
        }
        ended = true;
        client.close();
        origin.close();
        listener.onTunnelEnd(reason);
    }
}
