package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.ContentSource;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.net.ClientStream;
import io.netty.buffer.ByteBuf;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends content from a source to the client, at the client's pace. Pulls a piece, writes it, and pulls the next piece
 * while the stream is writable. A source that delivers synchronously is pulled in a loop, not recursively.
 *
 * <p>Confined to the stream's event loop.
 */
public final class BodySender implements ContentSink {
    /** Receives the end of the content. */
    public interface End {
        /**
         * Called when all content has been written.
         *
         * @param trailers the trailer section after the content; null for none
         */
        void onBodyEnd(@Nullable FieldSection trailers);

        /** Called when the source failed before the end of the content. */
        void onBodyFailure(ContentFailure failure);

        /** Called when the processing of a piece threw an exception. */
        void onFault(Throwable fault);
    }

    private final ClientStream stream;
    private final End end;

    private final @Nullable IntConsumer copyCounter;

    private @Nullable ContentSource source;
    /** True from a pull until its piece arrives. */
    private boolean outstanding;

    private boolean ended;
    /** True while {@link #send} runs; a nested call sets {@link #sendAgain} instead of recursing. */
    private boolean sending;

    private boolean sendAgain;
    private long bytes;

    BodySender(ClientStream stream, End end) {
        this(stream, end, null);
    }

    /** @param copyCounter receives the byte count of each piece that the connection copies; null to count nothing */
    public BodySender(ClientStream stream, End end, @Nullable IntConsumer copyCounter) {
        this.copyCounter = copyCounter;
        this.stream = stream;
        this.end = end;
    }

    /** Begins to send the content of a source. Closes the source at the end. */
    public void start(ContentSource contentSource) {
        source = contentSource;
        send();
    }

    /** Continues with another source after a failure. */
    public void resume(ContentSource contentSource) {
        ended = false;
        outstanding = false;
        start(contentSource);
    }

    /** Called when the stream may have become writable. */
    public void send() {
        if (sending) {
            sendAgain = true;
            return;
        }
        sending = true;
        do {
            sendAgain = false;
            ContentSource current = source;
            if (current == null || outstanding || ended) {
                break;
            }
            if (!stream.isWritable()) {
                current.onBehind();
                break;
            }
            outstanding = true;
            current.pull();
        } while (sendAgain);
        sending = false;
    }

    /** Stops sending and closes the source. */
    public void close() {
        ended = true;
        ContentSource current = source;
        source = null;
        if (current != null) {
            current.close();
        }
    }

    /** Bytes of content written so far. */
    public long bytes() {
        return bytes;
    }

    @Override
    public boolean keepsCopies() {
        return stream.connection().secure();
    }

    @Override
    public void onContent(ByteBuf content) {
        if (ended) {
            content.release();
            return;
        }
        outstanding = false;
        int length = content.readableBytes();
        bytes += length;
        if (copyCounter != null && keepsCopies()) {
            copyCounter.accept(length);
        }
        try {
            stream.write(content);
            send();
        } catch (RuntimeException | Error e) {
            end.onFault(e);
        }
    }

    @Override
    public void onEnd() {
        onEnd(null);
    }

    @Override
    public void onEnd(@Nullable FieldSection trailers) {
        if (!ended) {
            close();
            try {
                end.onBodyEnd(trailers);
            } catch (RuntimeException | Error e) {
                end.onFault(e);
            }
        }
    }

    @Override
    public void onFailure(ContentFailure failure) {
        if (!ended) {
            close();
            end.onBodyFailure(failure);
        }
    }
}
