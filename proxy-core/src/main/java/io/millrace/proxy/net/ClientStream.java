package io.millrace.proxy.net;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetSocketAddress;

/**
 * The response side of one request, independent of the protocol. Implemented for an HTTP/1.1 connection with or without
 * a Netty channel, and for a stream of HTTP/2. The exchange (the object that processes the request) writes the response
 * to this object, and receives the client's events as {@link RequestHandler}.
 *
 * <p>Order: any number of {@link #writeInterim}, one {@link #writeHead}, any number of {@link #write}, one
 * {@link #finish}; or {@link #abort} at any time. Calls after the end have no effect, except that buffers are
 * released.
 *
 * <p>Confined to one event loop, {@link #eventLoop()}.
 */
public interface ClientStream {
    /** The event loop of all calls of this object and of all events to the handler. */
    EventExecutor eventLoop();

    /** The allocator of buffers for this client. */
    ByteBufAllocator alloc();

    /** The addresses and TLS properties of the connection that carries this request. */
    ClientConnection connection();

    /** Sends an interim response (1xx). No effect for HTTP/1.0 clients, which do not know interim responses. */
    void writeInterim(OutboundHead head);

    /**
     * Sends the head of the final response. The implementation may delay it until the first {@link #write} or
     * {@link #finish}, so that one system call sends both. The head is read before this method returns and may be
     * reused.
     */
    void writeHead(OutboundHead head);

    /**
     * Sends the response head that turns the connection or stream into a tunnel. This is a 101, or the 2xx to a
     * CONNECT. The tunnel then owns the connection or stream, and first receives the bytes that the client sent after
     * its request. Called instead of {@link #writeHead}, as the last call.
     */
    default void switchTo(OutboundHead head, ClientTunnel tunnel) {
        throw new IllegalStateException("this stream cannot become a tunnel");
    }

    /** Sends bytes that were written but delayed, such as a head whose content has not arrived. */
    void flush();

    /** Sends a piece of content. Takes ownership. */
    void write(ByteBuf content);

    /** Sends a copy of {@code length} bytes from {@code index} on. Borrows the buffer. */
    default void writeCopy(ByteBuf content, int index, int length) {
        write(content.retainedSlice(index, length));
    }

    /** Ends the response. */
    void finish();

    /** Ends the response with a trailer section (RFC 9110 s6.5). Omits trailers that the protocol does not support. */
    default void finish(FieldSection trailers) {
        finish();
    }

    /**
     * Aborts the response: closes the connection or resets the stream. So the client detects that the response is
     * incomplete (RFC 9112 s8).
     */
    void abort();

    /**
     * Returns true if more content may be written now. After false, {@link RequestHandler#onWritable} is called
     * when writing may continue.
     */
    boolean isWritable();

    /** Stops or resumes reading the request's content (backpressure). */
    void readContent(boolean on);

    /** Bytes of this response passed to the transport so far: head and content, including framing. */
    long bytesSent();

    /** The client's address of the connection. */
    default InetSocketAddress clientAddress() {
        return connection().remoteAddress();
    }
}
