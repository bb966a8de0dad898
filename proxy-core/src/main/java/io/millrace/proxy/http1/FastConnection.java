package io.millrace.proxy.http1;

import io.millrace.proxy.http1.ConnectionDeadline.Waiting;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.PlainSocket;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection in the fast lane: between requests, or lingering after the last. It holds no buffer. What is read is answered
 * before the read's event is over, or the connection becomes a channel.
 *
 * <p>Confined to one event loop.
 */
final class FastConnection implements PlainSocket.Handler, ConnectionSet.Member {
    private static final Logger log = LoggerFactory.getLogger(FastConnection.class);

    private final FastLane lane;
    private final PlainSocket socket;
    private final ClientConnection facts;
    private final ConnectionDeadline deadline;

    private int slot = -1;
    private int requests;
    private final int requestsBefore;
    private final int vainVisits;
    private boolean closing;
    private boolean gone;
    private boolean waiting;
    private int discarded;

    /**
     * @param socket takes ownership
     * @param requests answered before
     * @param vainVisits times, one after the other, that the connection left this lane without an answer of it
     */
    FastConnection(
            FastLane lane,
            PlainSocket socket,
            ClientConnection facts,
            ConnectionDeadline deadline,
            int requests,
            int vainVisits) {
        this.lane = lane;
        this.socket = socket;
        this.facts = facts;
        this.deadline = deadline;
        this.requests = requests;
        this.requestsBefore = requests;
        this.vainVisits = vainVisits;
    }

    PlainSocket socket() {
        return socket;
    }

    @Override
    public ClientConnection client() {
        return facts;
    }

    ClientConnection facts() {
        return facts;
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

    /** Whether it was worth being here: then it comes back as soon as it can, and else at a tick. */
    boolean isAtHome() {
        return requests - requestsBefore >= FastLane.REQUESTS_WORTH_A_MOVE;
    }

    /** As given to the constructor, this visit counted. */
    int vainVisits() {
        return requests == requestsBefore ? vainVisits + 1 : 0;
    }

    boolean isClosing() {
        return closing;
    }

    /** Whether the lane has it no more: it is closed, or a channel. */
    boolean isGone() {
        return gone;
    }

    /** Whether answers wait to be sent, in {@link GatheredAnswers}. */
    boolean isWaiting() {
        return waiting;
    }

    void waits(boolean forItsAnswers) {
        waiting = forItsAnswers;
    }

    /** Another request begins; true when the connection ends with it. */
    boolean beginRequest(boolean persistent) {
        requests++;
        int requestsMax = lane.settings().get().requestsPerConnectionMax();
        return !persistent || lane.connections().isDraining() || (requestsMax > 0 && requests >= requestsMax);
    }

    /** The request that was begun is another's to count. */
    void withdrawRequest() {
        requests--;
    }

    /** No request is taken after the one that is answered now. */
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
            log.warn("{}: connection closed after a fault", facts.remoteAddress(), e);
            closeNow();
        }
    }

    /** What the client still sends is dropped, so that it can read the last answer before a reset. */
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
     * All answers have left: waits for the next request or, where none is wanted, for the client's end after ours.
     *
     * @param wasLast whether the client has said that nothing follows (RFC 9112 s9.6), and nothing did: then nothing can come that would make
     *     the kernel reset the connection and destroy the answer on its way, and it is closed at once
     */
    void answered(boolean wasLast) {
        if (closing && wasLast) {
            closeNow();
        } else if (closing || lane.connections().endsIdle()) {
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

    /** The descriptor is a channel's now. */
    void leave() {
        gone = true;
        closing = true;
    }

    @Override
    public void onTick(long nowNanos) {
        if (deadline.isOver(nowNanos, lane.settings().get())) {
            closeNow();
        }
    }

    @Override
    public void onDrain(boolean idleToo) {
        // Where answers wait, the connection ends behind them.
        if (idleToo && !waiting && deadline.isFor(Waiting.KEEP_ALIVE)) {
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
