package io.millrace.proxy.net;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetSocketAddress;

/**
 * One request's way back to the client, whatever carries it: an HTTP/1.1 connection in either lane, later a stream of
 * HTTP/2 or HTTP/3. The exchange writes the response here and is told of the client through {@link RequestHandler}.
 *
 * <p>Order: any number of {@link #writeInterim}, one {@link #writeHead}, any number of {@link #write}, one
 * {@link #finish}; or {@link #abort} at any time. Calls after the end are ignored, their buffers released.
 *
 * <p>Confined to one event loop, {@link #eventLoop()}.
 */
public interface ClientStream {
    /** The loop on which every call here and every event to the handler happens. */
    EventExecutor eventLoop();

    /** Where buffers for this client come from. */
    ByteBufAllocator alloc();

    /** The facts of the connection that carries this request. */
    ClientConnection connection();

    /** Sends an interim response (1xx); ignored where the client's HTTP version has none. */
    void writeInterim(OutboundHead head);

    /**
     * Sends the head of the final response. It may wait for the first {@link #write} or {@link #finish} so that both leave in
     * one system call. The head is read before this returns and may be reused.
     */
    void writeHead(OutboundHead head);

    /**
     * Sends a head that ends HTTP on what carries this request, a 101 or the 2xx to a CONNECT, with the fields that say so, and gives the rest to the
     * tunnel: what the client has sent behind its request goes there first. Instead of {@link #writeHead}, and nothing may follow.
     */
    default void switchTo(OutboundHead head, ClientTunnel tunnel) {
        throw new IllegalStateException("a tunnel on what carries HTTP only");
    }

    /** Sends what was written and still waits, such as a head whose content is not there yet. */
    void flush();

    /** Sends a piece of content; takes ownership. */
    void write(ByteBuf content);

    /** Sends a piece of content that stays the caller's: {@code length} bytes from {@code index} on. */
    default void writeCopy(ByteBuf content, int index, int length) {
        write(content.retainedSlice(index, length));
    }

    /** Ends the response. */
    void finish();

    /** Ends the response with a trailer section (RFC 9110 s6.5), which is left out where the protocol has no place for it. */
    default void finish(FieldSection trailers) {
        finish();
    }

    /**
     * Ends the response before its time, so that the client can tell that it is incomplete (RFC 9112 s8): the connection is
     * closed or the stream reset.
     */
    void abort();

    /** Whether more content may be written now; after a false, {@link RequestHandler#onWritable} says when. */
    boolean isWritable();

    /** Stops or resumes reading the request's content (back-pressure). */
    void readContent(boolean on);

    /** Bytes of this response handed to the transport so far: head and content, framing included. */
    long bytesSent();

    /** The client's address as the connection has it. */
    default InetSocketAddress clientAddress() {
        return connection().remoteAddress();
    }
}
