package io.millrace.proxy.http1;

import io.millrace.proxy.http1.ConnectionDeadline.Waiting;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.PlainSocket;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection in the {@link FastLane}, which answers RAM hits without a Netty channel. The connection is
 * between requests, or lingers after the last response, and holds no buffer. If the bytes of a read cannot all be
 * answered immediately, the connection is promoted to a channel.
 *
 * <p>Confined to one event loop.
 */
final class FastConnection implements PlainSocket.Handler, ConnectionSet.Member {
    private static final Logger log = LoggerFactory.getLogger(FastConnection.class);

    private final FastLane lane;
    private final PlainSocket socket;
    private final ClientConnection client;
    private final ConnectionDeadline deadline;

    private int slot = -1;
    private int requests;
    /** Number of requests that were answered before the connection last entered the lane. */
    private final int requestsBefore;

    private final int laneStaysWithoutAnswer;
    private boolean closing;
    /** True if the connection ends after the next response. */
    private boolean lastRequest;

    private boolean gone;
    private boolean waiting;
    /** Bytes discarded while lingering. */
    private int discarded;

    /**
     * @param socket takes ownership
     * @param requests number of requests answered so far, in the lane and in channels
     * @param laneStaysWithoutAnswer number of consecutive stays in this lane in which the lane answered nothing
     */
    FastConnection(
            FastLane lane,
            PlainSocket socket,
            ClientConnection client,
            ConnectionDeadline deadline,
            int requests,
            int laneStaysWithoutAnswer) {
        this.lane = lane;
        this.socket = socket;
        this.client = client;
        this.deadline = deadline;
        this.requests = requests;
        this.requestsBefore = requests;
        this.laneStaysWithoutAnswer = laneStaysWithoutAnswer;
    }

    PlainSocket socket() {
        return socket;
    }

    @Override
    public ClientConnection client() {
        return client;
    }

    Supplier<Http1Settings> settings() {
        return lane.settings();
    }

    ConnectionDeadline deadline() {
        return deadline;
    }

    int requests() {
        return requests;
    }

    /**
     * Returns true if this lane has answered enough requests to justify moves between lane and channel. After a
     * promotion, such a connection returns as soon as it is idle. Other connections return at a tick (the periodic
     * check of all connections).
     */
    boolean returnsWhenIdle() {
        return requests - requestsBefore >= FastLane.REQUESTS_WORTH_A_MOVE;
    }

    /**
     * Number of consecutive stays without an answer, including the current stay; 0 if the lane has answered in this
     * stay.
     */
    int laneStaysWithoutAnswer() {
        return requests == requestsBefore ? laneStaysWithoutAnswer + 1 : 0;
    }

    boolean isClosing() {
        return closing;
    }

    /** Returns true if the connection has left the lane: it was closed or promoted. */
    boolean isGone() {
        return gone;
    }

    /** Returns true if answers of this connection wait in the {@link ResponseBatch}. */
    boolean isWaiting() {
        return waiting;
    }

    void setWaiting(boolean isWaiting) {
        waiting = isWaiting;
    }

    /** Counts a request. Returns true when the connection ends with it. */
    boolean beginRequest(boolean persistent) {
        requests++;
        int requestsMax = lane.settings().get().requestsPerConnectionMax();
        return !persistent
                || lastRequest
                || lane.connections().closesAfterRequest()
                || (requestsMax > 0 && requests >= requestsMax);
    }

    /** Undoes the count of a request that the channel will count instead. */
    void uncountRequest() {
        requests--;
    }

    /** Accepts no request after the current one. */
    void closeAfter() {
        closing = true;
    }

    @Override
    public void onReadable(boolean ended) {
        try {
            if (deadline.isFor(Waiting.LINGER)) {
                linger();
            } else {
                lane.serve(this, ended);
            }
        } catch (RuntimeException | Error e) {
            log.warn("{}: connection closed after an internal error", client.remoteAddress(), e);
            closeNow();
        }
    }

    /** Discards the client's input, so that the client can read the last response before a reset. */
    private void linger() {
        int count;
        do {
            count = lane.discard(socket);
            discarded += Math.max(0, count);
        } while (count > 0 && discarded <= PipelinedRequests.DISCARD_BYTES_MAX);
        if (count == PlainSocket.END || discarded > PipelinedRequests.DISCARD_BYTES_MAX) {
            closeNow();
        }
    }

    /**
     * Called when all answers were sent. Waits for the next request, or shuts down the output and waits until the
     * client closes the connection.
     *
     * @param wasLast whether the client sent {@code close} (RFC 9112 s9.6) and nothing after the request. Then no input
     *     can cause a reset that destroys the response, so the connection is closed immediately
     */
    void answered(boolean wasLast) {
        if (closing && wasLast) {
            closeNow();
        } else if (closing || lane.connections().closesIdle()) {
            lingerAndClose();
        }
    }

    private void lingerAndClose() {
        closing = true;
        if (socket.shutdownOutput()) {
            deadline.await(Waiting.LINGER);
        } else {
            closeNow();
        }
    }

    void closeNow() {
        if (!gone) {
            gone = true;
            closing = true;
            if (waiting) {
                lane.sendLast(this);
            }
            socket.close();
            lane.onClosed(this);
        }
    }

    /** Leaves the lane: a channel owns the descriptor now. */
    void leave() {
        gone = true;
        closing = true;
    }

    @Override
    public void onTick(long nowNanos) {
        if (deadline.checkExpired(nowNanos, lane.settings().get())) {
            closeNow();
        }
    }

    @Override
    public void onDrain(boolean closesIdle) {
        lastRequest = true;
        // A connection with waiting answers is closed after these answers are sent.
        if (closesIdle && !waiting && deadline.isFor(Waiting.KEEP_ALIVE)) {
            lingerAndClose();
        }
    }

    @Override
    public void onClose() {
        closeNow();
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public void slot(int place) {
        slot = place;
    }
}
