package io.millrace.proxy.http2;

import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * The response of a request that is answered within one call, without an exchange (the object that processes a
 * request). Head and content are written directly to the output buffer of the connection.
 *
 * <p>Content that exceeds the client's windows is copied, and an {@link Http2Stream} sends the copy later. One instance
 * per event loop, reused for each request. Confined to one event loop.
 */
final class Http2FastStream implements ClientStream {
    private final EventExecutor loop;
    private final ByteBufAllocator allocator;
    private final HeadEncoder encoder;

    private ByteBuf out = Unpooled.EMPTY_BUFFER;
    private ClientConnection client;
    private int id;
    /** Position in the buffer at which the response begins. */
    private int start;

    private int window;
    private boolean tableUpdate;
    /** Position of the flags byte of the last frame in the buffer. */
    private int lastFlags;

    private int sent;
    private @Nullable ByteBuf unsentContent;

    @SuppressWarnings("NullAway.Init") // client is set by begin, before any other call
    Http2FastStream(EventExecutor loop, ByteBufAllocator allocator, HeadEncoder encoder) {
        this.loop = loop;
        this.allocator = allocator;
        this.encoder = encoder;
    }

    /**
     * Begins the next request.
     *
     * @param buffer frames are appended to it; borrowed
     * @param clientWindow number of content bytes that the client's windows allow
     * @param withoutTable whether the head begins with an HPACK table size update, which disables the dynamic table
     */
    void begin(ByteBuf buffer, ClientConnection connection, int streamId, int clientWindow, boolean withoutTable) {
        end();
        out = buffer;
        client = connection;
        id = streamId;
        start = buffer.writerIndex();
        window = clientWindow;
        tableUpdate = withoutTable;
        sent = 0;
    }

    /** Releases the content that exceeded the windows, and drops the reference to the buffer. */
    void end() {
        out = Unpooled.EMPTY_BUFFER;
        ByteBuf unsent = unsentContent;
        unsentContent = null;
        if (unsent != null) {
            unsent.release();
        }
    }

    /** Removes the response from the buffer again, because the request needs an exchange. */
    void discardResponse() {
        out.writerIndex(start);
        end();
    }

    /** Returns true if the head began with an HPACK table size update. */
    boolean hadTableUpdate() {
        return tableUpdate;
    }

    /** The number of content bytes written. */
    int sent() {
        return sent;
    }

    /**
     * Returns the content that exceeded the client's windows; null if there is none. Passes ownership to the caller.
     */
    @Nullable
    ByteBuf takeUnsentContent() {
        ByteBuf unsent = unsentContent;
        unsentContent = null;
        return unsent;
    }

    @Override
    public EventExecutor eventLoop() {
        return loop;
    }

    @Override
    public ByteBufAllocator alloc() {
        return allocator;
    }

    @Override
    public ClientConnection connection() {
        return client;
    }

    @Override
    public void writeInterim(OutboundHead head) {
        throw new IllegalStateException("interim responses need an exchange");
    }

    @Override
    public void writeHead(OutboundHead head) {
        encoder.encode(head, tableUpdate);
        lastFlags = out.writerIndex() + 4;
        Frames.headers(out, id, encoder.block(), encoder.length(), false);
    }

    @Override
    public void flush() {}

    @Override
    public void write(ByteBuf content) {
        writeCopy(content, content.readerIndex(), content.readableBytes());
        content.release();
    }

    @Override
    public void writeCopy(ByteBuf content, int index, int length) {
        int direct = Math.min(length, window);
        int at = index;
        while (direct > 0) {
            int frame = Math.min(direct, Frames.PAYLOAD_BYTES_MAX);
            lastFlags = out.writerIndex() + 4;
            Frames.header(out, frame, Frames.DATA, 0, id);
            out.writeBytes(content, at, frame);
            at += frame;
            direct -= frame;
            sent += frame;
        }
        int unsentBytes = index + length - at;
        if (unsentBytes > 0) {
            unsentContent = allocator.directBuffer(unsentBytes, unsentBytes).writeBytes(content, at, unsentBytes);
        }
    }

    @Override
    public void finish() {
        if (unsentContent == null) {
            out.setByte(lastFlags, out.getByte(lastFlags) | Frames.END_STREAM);
        }
    }

    @Override
    public void abort() {
        throw new IllegalStateException("a response without an exchange cannot be aborted");
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public void readContent(boolean on) {}

    @Override
    public long bytesSent() {
        ByteBuf unsent = unsentContent;
        return (long) out.writerIndex() - start + (unsent == null ? 0 : unsent.readableBytes());
    }
}
