package io.millrace.proxy.http1;

import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.FastReceiver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The fast lane of TLS connections: answers RAM hits before the decoder.
 *
 * <p>The connections stay in a Netty channel. The lane scans their bytes for plain requests: GET or HEAD that
 * {@link PlainRequestScanner} accepts. {@link FastReceiver} decides for each whether the cache can answer it from RAM.
 * The responses are sent as one buffer, without an exchange (the object that processes a request). A request that RAM
 * cannot answer goes to the connection, together with the decision made so far. Bytes that are not a plain request go
 * to the decoder. One per event loop.
 *
 * <p>Confined to its event loop.
 */
public final class TlsFastLane {
    /** Longer reads go to the decoder. TLS delivers one record at a time, of at most 16 KiB. */
    private static final int READ_BYTES = 32 * 1024;
    /** Answers to pipelined requests are sent when they have this many bytes. */
    private static final int SEND_BYTES = 64 * 1024;
    /** Initial size of the buffer: enough for a head and small content. Larger content makes the buffer grow once. */
    private static final int ANSWER_BYTES = 2048;

    private final ByteBufAllocator allocator;
    private final FastReceiver receiver;
    private final Runnable onAnswered;
    private final PlainRequestScanner scanner = new PlainRequestScanner(true);
    private final FastStream stream;
    private final byte[] bytes = new byte[READ_BYTES];
    /** Answers not yet passed to the connection; null for none. */
    private @Nullable ByteBuf answers;

    /**
     * @param allocator allocates the buffers of answers
     * @param receiver answers plain requests from RAM; for other plain requests it returns the cache decision
     * @param onAnswered run after each request that the fast lane has answered
     */
    public TlsFastLane(EventLoop loop, ByteBufAllocator allocator, FastReceiver receiver, Runnable onAnswered) {
        this.allocator = allocator;
        this.receiver = receiver;
        this.onAnswered = onAnswered;
        this.stream = new FastStream(loop, allocator);
    }

    /**
     * Answers the requests at the beginning of {@code in} up to the first that the fast lane cannot answer.
     *
     * @param connection between two requests, with no unprocessed bytes before {@code in}
     * @param in borrowed; its reader index is moved past the processed requests
     */
    void serve(Http1Connection connection, ByteBuf in) {
        int from = in.readerIndex();
        int end = in.readableBytes();
        if (end > READ_BYTES) {
            return;
        }
        in.getBytes(from, bytes, 0, end);
        receiver.beginBatch();
        int at = 0;
        try {
            while (at < end && connection.isBetweenRequests()) {
                int length = scanner.scan(bytes, at, end, connection.settings());
                if (length == PlainRequestScanner.NOT_PLAIN) {
                    break;
                }
                in.readerIndex(from + at + length);
                take(connection, at, length);
                at += length;
            }
            passAnswers(connection, false);
        } finally {
            if (answers != null) {
                answers.release();
                answers = null;
            }
            stream.end();
        }
    }

    private void take(Http1Connection connection, int at, int length) {
        ByteBuf out = answers;
        if (out == null) {
            out = allocator.directBuffer(ANSWER_BYTES);
            answers = out;
        }
        boolean last = connection.beginFast(scanner.isPersistent());
        stream.begin(out, connection.client(), scanner.head().minorVersion(), last);
        DecidedRequest decided = receiver.onFastRequest(stream, scanner.head());
        if (decided != null) {
            stream.discardResponse();
            passAnswers(connection, false);
            byte[] head = Arrays.copyOfRange(bytes, at, at + length);
            connection.resume(
                    ParsedRequest.ofPlain(scanner.head(), at, scanner.isPersistent(), head, scanner.lineLength()),
                    decided);
            return;
        }
        onAnswered.run();
        if (stream.isClose() || out.readableBytes() >= SEND_BYTES) {
            passAnswers(connection, stream.isClose());
        }
    }

    /** Passes the answers so far to the connection. */
    private void passAnswers(Http1Connection connection, boolean last) {
        ByteBuf out = answers;
        if (out != null && out.isReadable()) {
            answers = null;
            connection.answered(out, last, out.readableBytes() >= SEND_BYTES);
        }
    }
}
