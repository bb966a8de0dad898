package io.millrace.proxy.http1;

import io.millrace.proxy.http1.ConnectionDeadline.Waiting;
import io.millrace.proxy.net.BadRequest;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What a client sends on one connection, taken to its exchanges one at a time and in order: what it pipelines behind the current request waits
 * decoded, at most one read of it, while reading is stopped; content that nobody wants any more is dropped, up to a limit.
 *
 * <p>Confined to the connection's event loop.
 */
final class RequestIntake {
    /** Decoded objects that may wait behind the current request: more than one read of 64 KiB can hold of honest requests. */
    private static final int WAITING_MAX = 8192;
    /** Request content that is read and dropped after an early answer, so that the client reads the answer before a reset. */
    static final long DISCARD_BYTES_MAX = 256 * 1024;

    private final Http1Connection connection;
    private final ArrayDeque<Object> waiting = new ArrayDeque<>(0);
    private boolean taking;
    private long discarded;

    RequestIntake(Http1Connection connection) {
        this.connection = connection;
    }

    /** Whether nothing waits behind the current request. */
    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Whether the request that is taken now is the last one that waited; its end may still wait. */
    boolean isLastWaiting() {
        return taking && waiting.size() <= 1;
    }

    /** What was dropped belonged to a request that is over. */
    void forgetDiscarded() {
        discarded = 0;
    }

    /** An object of the decoder: it is taken, waits, or is dropped. Takes ownership. */
    void read(Object message) {
        Http1Stream current = connection.stream();
        if (connection.isClosing() || !(message instanceof RequestReading || message instanceof HttpContent)) {
            discard(message);
        } else if (waiting.isEmpty() && (current == null || !current.isRequestEnded())) {
            take(message);
        } else if (waiting.size() >= WAITING_MAX) {
            ReferenceCountUtil.release(message);
            connection.closeNow();
        } else {
            waiting.add(message);
            if (waiting.size() == 1) {
                connection.context().channel().config().setAutoRead(false);
            }
        }
    }

    private void discard(Object message) {
        if (message instanceof ByteBuf bytes) {
            discarded += bytes.readableBytes();
        } else if (message instanceof HttpContent content) {
            discarded += content.content().readableBytes();
        }
        ReferenceCountUtil.release(message);
        if (discarded > DISCARD_BYTES_MAX) {
            connection.closeNow();
        }
    }

    /** A request's head, or a piece of its content. Takes ownership. */
    void take(Object message) {
        if (message instanceof RequestReading reading) {
            connection.takeRequest(reading, null);
        } else if (message instanceof HttpContent content) {
            takeContent(content);
        }
    }

    private void takeContent(HttpContent content) {
        Http1Stream current = connection.stream();
        if (current == null) {
            content.release();
            return;
        }
        boolean last = content instanceof LastHttpContent;
        if (content.decoderResult().isFailure()) {
            content.release();
            current.failRequest(BadRequest.SYNTAX);
            return;
        }
        ByteBuf bytes = content.content();
        if (!bytes.isReadable() || current.isResponseEnded()) {
            discarded += bytes.readableBytes();
            bytes.release();
        } else if (!current.takeContent(bytes)) {
            return;
        }
        if (last) {
            ConnectionDeadline deadline = connection.deadline();
            if (deadline.isFor(Waiting.CONTENT)) {
                deadline.await(Waiting.RESPONSE);
            }
            current.endRequest();
        } else if (discarded > DISCARD_BYTES_MAX) {
            connection.closeNow();
        }
    }

    /** The current request is over on both sides: those that wait are taken, up to the first that needs time. */
    void takeWaiting() {
        if (taking) {
            return;
        }
        taking = true;
        try {
            while (!waiting.isEmpty() && !connection.isClosing() && isTaking(connection.stream())) {
                take(waiting.remove());
            }
        } finally {
            taking = false;
        }
        regulateReading();
    }

    private static boolean isTaking(@Nullable Http1Stream current) {
        return current == null || !current.isRequestEnded();
    }

    /**
     * Reads while the next request may come or the current one's content is wanted; else the kernel holds the rest. Behind a whole request
     * reading goes on until something comes, which for most never does: so they cost no change of what epoll watches.
     */
    void regulateReading() {
        if (connection.isLeaving() || !connection.context().channel().isActive()) {
            return;
        }
        boolean closing = connection.isClosing();
        Http1Stream current = connection.stream();
        if (!closing && current != null && current.isRequestEnded() && waiting.isEmpty()) {
            return;
        }
        boolean wanted = closing
                || current == null
                || (!current.isRequestEnded() && (current.wantsContent() || current.isResponseEnded()));
        if (!wanted || !connection.output().isInRead()) {
            connection.context().channel().config().setAutoRead(wanted);
        }
    }

    /** What waits is not wanted any more. */
    void drop() {
        while (!waiting.isEmpty()) {
            ReferenceCountUtil.release(waiting.remove());
        }
    }
}
