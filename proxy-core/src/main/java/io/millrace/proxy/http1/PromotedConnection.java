package io.millrace.proxy.http1;

import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.PlainSocket;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.channel.Channel;
import io.netty.util.ReferenceCountUtil;

/**
 * The time that a connection of the {@link FastLane} spends in a channel: it comes with what the lane has read and not answered, and goes back
 * when it is idle, at once or at a tick.
 *
 * <p>Confined to the channel's event loop.
 */
final class PromotedConnection {
    /** The stay in a channel doubles that often: from a tick to 16 s. */
    private static final int VAIN_VISITS_MAX = 6;

    private final FastLane lane;
    private final Channel channel;
    private final Http1Connection connection;
    private final boolean returnsAtOnce;
    /** Times, one after the other, that the connection left the lane without an answer of it. */
    private final int vainVisits;

    private int ticksToStay;
    private boolean leaving;

    /** Puts the connection into a channel's pipeline; {@link #goOn} is to be called when that is registered. */
    PromotedConnection(
            FastLane lane, Channel channel, FastConnection from, RequestReceiver receiver, ConnectionSet connections) {
        this.lane = lane;
        this.channel = channel;
        returnsAtOnce = from.isAtHome();
        vainVisits = from.vainVisits();
        ticksToStay = 1 << Math.min(VAIN_VISITS_MAX, Math.max(0, vainVisits - 1));
        connection = Http1Connection.install(channel, from, receiver, connections, this);
    }

    private PromotedConnection(
            FastLane lane,
            Channel channel,
            ClientConnection facts,
            RequestReceiver receiver,
            ConnectionSet connections) {
        this.lane = lane;
        this.channel = channel;
        returnsAtOnce = true;
        vainVisits = 0;
        ticksToStay = 1;
        connection = Http1Connection.install(channel, facts, lane.settings(), receiver, connections, this);
    }

    /** Puts a connection that was not in the lane yet into a channel's pipeline; it goes there at the first occasion. */
    static void first(
            FastLane lane,
            Channel channel,
            ClientConnection facts,
            RequestReceiver receiver,
            ConnectionSet connections) {
        new PromotedConnection(lane, channel, facts, receiver, connections);
    }

    Http1Connection connection() {
        return connection;
    }

    /** The event loop's. */
    PlainRequestScanner scanner() {
        return lane.scanner();
    }

    /** Takes up what the fast lane has left; the channel is registered. Takes ownership. */
    void goOn(Promotion promotion) {
        if (!channel.isActive()) {
            goNowhere(promotion);
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
        if (promotion.reading() != null) {
            try {
                connection.takeDecided(promotion.reading(), promotion.decided());
            } catch (RuntimeException | Error e) {
                connection.fault(e);
            }
        }
        if (promotion.rest() != null) {
            channel.pipeline().fireChannelRead(promotion.rest());
        }
        channel.pipeline().fireChannelReadComplete();
    }

    /** The client is gone: a request that it sent is begun and ended, so that it is counted and logged as any other. */
    private void goNowhere(Promotion promotion) {
        ReferenceCountUtil.release(promotion.unsent());
        ReferenceCountUtil.release(promotion.rest());
        RequestReading reading = promotion.reading();
        if (reading != null) {
            try {
                connection.takeRequest(reading, promotion.decided());
            } catch (RuntimeException | Error e) {
                connection.fault(e);
            }
        }
        connection.onGone();
    }

    /** An answer is over. */
    void onAnswered() {
        if (returnsAtOnce) {
            channel.eventLoop().execute(this::leaveIfIdle);
        }
    }

    /** A tick of the deadlines; true when the connection is on its way back. */
    boolean onTick() {
        return --ticksToStay <= 0 && leaveIfIdle();
    }

    /** Goes back to where it came from; true when it is on its way. */
    private boolean leaveIfIdle() {
        if (leaving || !connection.isIdle() || !lane.takesBack()) {
            return leaving;
        }
        leaving = true;
        lane.takeBack(this, channel);
        return true;
    }

    /** Whether it is on its way back, and does not read. */
    boolean isLeaving() {
        return leaving;
    }

    /** Goes back to the fast lane, now that the channel is given up. */
    FastConnection demoted(PlainSocket socket) {
        return connection.demoted(lane, socket, vainVisits);
    }

    /** Goes on in the channel, which was nearly given up. */
    void stay() {
        leaving = false;
        connection.intake().updateAutoRead();
        // What was half sent meanwhile: a channel that is registered again no longer waits for room to send.
        channel.flush();
    }
}
