package io.millrace.proxy.tunnel;

import io.millrace.proxy.net.ClientTunnel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import java.util.function.Supplier;

/**
 * Two connections joined byte for byte (RFC 9110 s7.8, s9.3.6). What one side sends is written to the other, and reading stops while that takes
 * nothing; the end of one direction is handed on and leaves the other open; a side that breaks breaks the other.
 *
 * <p>It may be put into one pipeline before the other: what comes is kept until both are there. It looks at its time when it is told to
 * ({@link #onTick}), so that it needs no timer.
 *
 * <p>Confined to the event loop of both channels.
 */
public final class Tunnel implements ClientTunnel {
    /** How a tunnel ended. */
    public enum End {
        /** Both sides have sent their end. */
        CLOSED("closed"),
        /** The client's connection was reset, or failed. */
        CLIENT_BROKEN("client-broken"),
        /** The origin's connection was reset, or failed. */
        ORIGIN_BROKEN("origin-broken"),
        /** Nothing came for too long. */
        IDLE("idle"),
        /** It had lived as long as a tunnel may. */
        EXPIRED("expired"),
        /** This proxy stops. */
        STOPPED("stopped");

        private final String text;

        End(String text) {
            this.text = text;
        }

        /** A stable word for logs. */
        public String text() {
            return text;
        }
    }

    /** Who is told of a tunnel's end. */
    public interface Listener {
        /** Both connections are closed, or on their way; called once. */
        void onTunnelEnd(End how);
    }

    private static final long UNSET = 0;

    private final Supplier<TunnelLimits> limits;
    private final Listener listener;
    private final TunnelSide client = new TunnelSide(this, End.CLIENT_BROKEN);
    private final TunnelSide origin = new TunnelSide(this, End.ORIGIN_BROKEN);
    private long bytesToClient;
    private long bytesToOrigin;
    private boolean active = true;
    private boolean ended;
    private long unsentBefore;
    private long idleSinceNanos;
    private long begunNanos = UNSET;

    /**
     * A tunnel that is not in any pipeline yet.
     *
     * @param limits asked at each tick: a change holds for tunnels that are open too
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

    /** The end of the origin's pipeline; added once. */
    public ChannelHandler originSide() {
        return origin;
    }

    /** Bytes that came from the origin. */
    public long bytesToClient() {
        return bytesToClient;
    }

    /** Bytes that came from the client. */
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

    // what the sides say

    boolean isEnded() {
        return ended;
    }

    private TunnelSide other(TunnelSide side) {
        return side == client ? origin : client;
    }

    /** A side has its channel. */
    void joined(TunnelSide side) {
        if (other(side).isJoined()) {
            client.start();
            origin.start();
        }
    }

    /** Bytes came. Takes ownership. */
    void received(TunnelSide from, ByteBuf bytes) {
        active = true;
        if (from == client) {
            bytesToOrigin += bytes.readableBytes();
        } else {
            bytesToClient += bytes.readableBytes();
        }
        other(from).write(bytes);
    }

    /** A read has ended: what it brought leaves, and reading goes on where the other side takes it. */
    void receivedAll(TunnelSide from) {
        TunnelSide to = other(from);
        to.flush();
        from.read(to.isWritable());
    }

    /** A side takes more again, or less. */
    void writable(TunnelSide side) {
        other(side).read(side.isWritable());
    }

    /** A side has sent its last byte. */
    void inputEnded(TunnelSide side) {
        active = true;
        other(side).shutdownOutput();
    }

    /** A side was told that nothing more comes. */
    void outputShut() {
        if (client.isOutputShut() && origin.isOutputShut()) {
            end(End.CLOSED);
        }
    }

    /** A side's connection is gone, or no use any more. */
    void broken(TunnelSide side, End how) {
        if (!ended) {
            other(side).resetAtEnd();
            end(how);
        }
    }

    private void end(End how) {
        if (ended) {
            return;
        }
        ended = true;
        client.close();
        origin.close();
        listener.onTunnelEnd(how);
    }
}
