package io.millrace.proxy.encode;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encodes the content of one response. Its memory is outside the Java heap, until {@link #close}.
 *
 * <p>Not thread-safe: used by one thread at a time. The caller makes the changes of one thread visible to the next.
 */
final class ContentEncoder {
    private static final Logger log = LoggerFactory.getLogger(ContentEncoder.class);

    /** Creates the stream that encodes the bytes written to it. */
    interface Factory {
        OutputStream open(OutputStream to) throws IOException;
    }

    private final Target target = new Target();
    private final Factory factory;
    /** Opened with the first output, since some codings begin with a header. */
    private @Nullable OutputStream stream;

    private boolean closed;

    ContentEncoder(Factory factory) {
        this.factory = factory;
    }

    private OutputStream stream(ByteBuf to) throws IOException {
        target.to = to;
        OutputStream opened = stream;
        if (opened == null) {
            opened = factory.open(target);
            stream = opened;
        }
        return opened;
    }

    /** Encodes a piece. Borrows both buffers; the encoder may keep back some output. */
    void write(ByteBuf piece, ByteBuf to) throws IOException {
        piece.readBytes(stream(to), piece.readableBytes());
    }

    /** Writes all output that the encoder has buffered, so that a client can decode all content so far. */
    void flush(ByteBuf to) throws IOException {
        stream(to).flush();
    }

    /** Writes the end of the content, and closes the encoder. */
    void finish(ByteBuf to) throws IOException {
        OutputStream opened = stream(to);
        closed = true;
        opened.close();
    }

    /** Returns true if the encoder may have buffered input. Then {@link #close} encodes this input. */
    boolean keepsInput() {
        return !closed && stream != null;
    }

    /**
     * Frees the memory. Idempotent. First encodes all input that was kept back, which takes up to 100 ms at slow
     * levels.
     */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        target.to = null;
        OutputStream opened = stream;
        if (opened == null) {
            return;
        }
        try {
            opened.close();
        } catch (IOException | RuntimeException e) {
            log.debug("an encoder whose output is not needed failed at its end", e);
        }
    }

    /** Appends to the buffer of the current call; drops bytes that are written outside of a call. */
    private static final class Target extends OutputStream {
        private @Nullable ByteBuf to;

        @Override
        public void write(int octet) {
            if (to != null) {
                to.writeByte(octet);
            }
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            if (to != null) {
                to.writeBytes(bytes, from, length);
            }
        }
    }
}
