package io.millrace.proxy.http1;

import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.PlainSocket;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.channel.Channel;
import io.netty.util.ReferenceCountUtil;

/**
 * A {@link FastLane} connection during its stay in a Netty channel. The channel first processes the bytes that the lane
 * has read and not answered. The idle connection returns to the lane, immediately or at a tick (the periodic check of
 * all connections).
 *
 * <p>Confined to the channel's event loop.
 */
final class PromotedConnection {
    /** Limit of doublings of the minimum stay in a channel. The stay grows from one tick to 16 s. */
    private static final int STAY_DOUBLINGS_MAX = 6;

    private final FastLane lane;
    private final Channel channel;
    private final Http1Connection connection;
    private final boolean returnsAtOnce;
    /** Number of consecutive stays in the lane without an answer, before this promotion. */
    private final int laneStaysWithoutAnswer;

    /** Number of ticks until the idle connection may return to the lane at a tick. */
    private int ticksToStay;

    private boolean leaving;

    /** Adds the connection to a channel's pipeline. Call {@link #continueWith} when the channel is registered. */
    PromotedConnection(
            FastLane lane, Channel channel, FastConnection from, RequestReceiver receiver, ConnectionSet connections) {
        this.lane = lane;
        this.channel = channel;
        returnsAtOnce = from.returnsWhenIdle();
        laneStaysWithoutAnswer = from.laneStaysWithoutAnswer();
        ticksToStay = 1 << Math.min(STAY_DOUBLINGS_MAX, Math.max(0, laneStaysWithoutAnswer - 1));
        connection = Http1Pipeline.install(channel, from, receiver, connections, this);
    }

    private PromotedConnection(
            FastLane lane,
            Channel channel,
            ClientConnection client,
            RequestReceiver receiver,
            ConnectionSet connections) {
        this.lane = lane;
        this.channel = channel;
        returnsAtOnce = true;
        laneStaysWithoutAnswer = 0;
        ticksToStay = 1;
        connection = Http1Pipeline.install(channel, client, lane.settings(), receiver, connections, this);
    }

    /**
     * Adds a connection that was never in the lane to a channel's pipeline. The connection moves to the lane when it is
     * first idle.
     */
    static void startInChannel(
            FastLane lane,
            Channel channel,
            ClientConnection client,
            RequestReceiver receiver,
            ConnectionSet connections) {
        new PromotedConnection(lane, channel, client, receiver, connections);
    }

    Http1Connection connection() {
        return connection;
    }

    /** The scanner of the event loop. */
    PlainRequestScanner scanner() {
        return lane.scanner();
    }

    /** Continues in the registered channel with the contents of the promotion. Takes ownership. */
    void continueWith(Promotion promotion) {
        if (!channel.isActive()) {
            endDisconnected(promotion);
            channel.close();
            return;
        }
        if (promotion.unsent() != null) {
            connection.send(promotion.unsent());
        }
        if (promotion.last()) {
            connection.lingerAndClose();
            return;
        }
        connection.output().beginRead();
        if (promotion.parsed() != null) {
            try {
                connection.takeDecided(promotion.parsed(), promotion.decided());
            } catch (RuntimeException | Error e) {
                connection.fault(e);
            }
        }
        if (promotion.rest() != null) {
            channel.pipeline().fireChannelRead(promotion.rest());
        }
        channel.pipeline().fireChannelReadComplete();
    }

    /**
     * Handles a promotion whose client has disconnected. Begins and ends the request, so that it is counted and logged
     * like any other.
     */
    private void endDisconnected(Promotion promotion) {
        ReferenceCountUtil.release(promotion.unsent());
        ReferenceCountUtil.release(promotion.rest());
        ParsedRequest parsed = promotion.parsed();
        if (parsed != null) {
            try {
                connection.takeRequest(parsed, promotion.decided());
            } catch (RuntimeException | Error e) {
                connection.fault(e);
            }
        }
        connection.onGone();
    }

    /** Called when a response has ended. */
    void onAnswered() {
        if (returnsAtOnce) {
            channel.eventLoop().execute(this::leaveIfIdle);
        }
    }

    /** Called at each periodic tick, which also checks deadlines. Returns true when the connection is moving back. */
    boolean onTick() {
        return --ticksToStay <= 0 && leaveIfIdle();
    }

    /** Begins the move back if the connection is idle. Returns true when it is moving. */
    private boolean leaveIfIdle() {
        if (leaving || !connection.isIdle() || !lane.acceptsReturns()) {
            return leaving;
        }
        leaving = true;
        lane.returnToLane(this, channel);
        return true;
    }

    /** Returns true if the connection is moving back and does not read. */
    boolean isLeaving() {
        return leaving;
    }

    /** Returns a fast-lane connection that continues this connection. Call after the channel has been released. */
    FastConnection demoted(PlainSocket socket) {
        return connection.demoted(lane, socket, laneStaysWithoutAnswer);
    }

    /** Continues in the channel after an abandoned move. */
    void continueInChannel() {
        leaving = false;
        connection.requestQueue().updateAutoRead();
        // Sends the unsent bytes of a partial write, because the channel lost its EPOLLOUT interest when it was
        // registered again.
        channel.flush();
    }
}
