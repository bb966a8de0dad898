package io.millrace.proxy.http1;

import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http1.Http1HeadWriter.Framing;
import io.millrace.proxy.http1.Http1HeadWriter.Persistence;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;

/**
 * The {@link ClientStream} of the request that a {@link FastLane} is answering. Writes head and content into the lane's
 * buffer. One per lane, reused for each request.
 *
 * <p>Confined to one event loop.
 */
final class FastStream implements ClientStream {
    private final EventExecutor loop;
    private final ByteBufAllocator allocator;

    private ByteBuf out = Unpooled.EMPTY_BUFFER;
    private ClientConnection client;
    private int minorVersion;
    private boolean close;
    private int start;

    @SuppressWarnings("NullAway.Init") // client is set by begin, before any other use
    FastStream(EventExecutor loop, ByteBufAllocator allocator) {
        this.loop = loop;
        this.allocator = allocator;
    }

    /**
     * Begins the next request.
     *
     * @param buffer the response is appended to it; borrowed
     * @param connection the client's connection
     * @param last whether the connection ends with this response
     */
    void begin(ByteBuf buffer, ClientConnection connection, int requestMinorVersion, boolean last) {
        out = buffer;
        client = connection;
        minorVersion = requestMinorVersion;
        close = last;
        start = buffer.writerIndex();
    }

    /** Drops the reference to the buffer: a released buffer still references its pool. */
    void end() {
        out = Unpooled.EMPTY_BUFFER;
    }

    /** Removes the bytes of the response from the buffer. */
    void discardResponse() {
        out.writerIndex(start);
    }

    /** Returns true if the connection ends with this response. */
    boolean isClose() {
        return close;
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
        throw new IllegalStateException("interim responses are not supported in the fast lane");
    }

    @Override
    public void writeHead(OutboundHead head) {
        Framing framing = Framing.of(head, minorVersion);
        close |= head.closesConnection() || framing == Framing.CLOSE;
        Http1HeadWriter.write(head, framing, Persistence.of(close, minorVersion), out);
    }

    @Override
    public void flush() {}

    @Override
    public void write(ByteBuf content) {
        out.writeBytes(content);
        content.release();
    }

    @Override
    public void writeCopy(ByteBuf content, int index, int length) {
        out.writeBytes(content, index, length);
    }

    @Override
    public void finish() {}

    @Override
    public void abort() {
        throw new IllegalStateException("a response in the fast lane cannot be aborted");
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public void readContent(boolean on) {}

    @Override
    public long bytesSent() {
        return (long) out.writerIndex() - start;
    }
}
