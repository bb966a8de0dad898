package io.millrace.proxy.http1;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http1.Http1HeadWriter.Framing;
import io.millrace.proxy.http1.Http1HeadWriter.Persistence;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.ClientTunnel;
import io.millrace.proxy.net.RequestHandler;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response on an HTTP/1.1 connection. An exchange processes the request and writes the response
 * here. The stream chooses the framing, and checks that the sent content has the announced length.
 *
 * <p>Confined to its connection's event loop.
 */
final class Http1Stream implements ClientStream {
    private final Http1Connection connection;
    private final ParsedRequest request;
    private final long contentBytesMax;

    private @Nullable RequestHandler handler;
    private boolean requestEnded;
    private boolean requestFailed;
    private boolean responseEnded;
    /** True once the connection is closed. */
    private boolean gone;

    private boolean headWritten;
    /** True while the exchange accepts request content. */
    private boolean contentWanted = true;
    /** True once 100 (Continue) was sent. */
    private boolean continued;

    /** True if the connection ends after this response. */
    private boolean close;

    private Framing framing = Framing.NONE;
    private boolean contentForbidden;
    private long contentLength;
    private long contentReceived;
    private long contentSent;
    private long bytesSent;
    private FieldSection trailers = FieldSection.EMPTY;

    /** @param contentBytesMax limit of the request's content in bytes, 0 for no limit */
    Http1Stream(Http1Connection connection, ParsedRequest request, long contentBytesMax) {
        this.connection = connection;
        this.request = request;
        this.contentBytesMax = contentBytesMax;
        this.close = !request.isPersistent();
    }

    /** Sets the exchange that answers the request. Called once, immediately after the exchange got the head. */
    void handler(RequestHandler exchange) {
        handler = exchange;
    }

    // Request

    /** Returns true if bytes after this request are held back until its exchange has ended. */
    boolean mayLeaveHttp() {
        return request.mayLeaveHttp();
    }

    boolean isRequestEnded() {
        return requestEnded;
    }

    boolean isHeadWritten() {
        return headWritten;
    }

    boolean isResponseEnded() {
        return responseEnded;
    }

    boolean wantsContent() {
        return contentWanted;
    }

    /**
     * Returns true if the client should send content now: the proxy reads, and the client does not wait for 100
     * (Continue) (RFC 9110 s10.1.1).
     */
    boolean isContentAwaited() {
        return (contentWanted || responseEnded) && (continued || contentReceived > 0 || !request.awaitsContinue());
    }

    /**
     * Passes content to the exchange. Takes ownership. Returns false when the content is refused and the stream has
     * failed.
     */
    boolean takeContent(ByteBuf bytes) {
        contentReceived += bytes.readableBytes();
        if (contentBytesMax > 0 && contentReceived > contentBytesMax) {
            bytes.release();
            failRequest(BadRequest.CONTENT_TOO_LARGE);
            return false;
        }
        if (handler == null) {
            bytes.release();
        } else {
            handler.onContent(bytes);
        }
        return true;
    }

    void endRequest() {
        if (requestEnded) {
            return;
        }
        requestEnded = true;
        if (handler != null && !responseEnded) {
            handler.onRequestEnd();
        }
        if (responseEnded) {
            connection.onStreamEnd(this, close);
        }
    }

    void failRequest(BadRequest reason) {
        if (requestFailed || requestEnded) {
            return;
        }
        requestFailed = true;
        close = true;
        if (handler == null || responseEnded) {
            connection.closeNow();
        } else {
            handler.onRequestFailure(reason);
        }
    }

    void onWritable() {
        if (handler != null && !responseEnded) {
            handler.onWritable();
        }
    }

    void onGone() {
        gone = true;
        if (handler != null && !responseEnded) {
            responseEnded = true;
            handler.onClientGone();
        }
        responseEnded = true;
    }

    void closeAfter() {
        close = true;
    }

    SlowClients.OriginDemand originDemand() {
        return handler == null || responseEnded ? SlowClients.OriginDemand.NONE : handler.originDemand();
    }

    void onTooSlow(SlowReason reason) {
        if (handler != null && !responseEnded) {
            handler.onClientTooSlow(reason);
        }
    }

    // Response

    @Override
    public EventExecutor eventLoop() {
        return connection.context().executor();
    }

    @Override
    public ByteBufAllocator alloc() {
        return connection.context().alloc();
    }

    @Override
    public ClientConnection connection() {
        return connection.client();
    }

    @Override
    public void writeInterim(OutboundHead head) {
        if (gone || headWritten || request.minorVersion() == 0) {
            return;
        }
        continued |= head.status() == 100;
        ByteBuf out = alloc().buffer(Http1HeadWriter.sizeEstimate(head));
        Http1HeadWriter.write(head, Framing.NONE, Persistence.DEFAULT, out);
        send(out);
        connection.output().flush();
    }

    @Override
    public void writeHead(OutboundHead head) {
        if (gone || responseEnded) {
            return;
        }
        if (headWritten) {
            throw new IllegalStateException("writeHead() was called twice for a response");
        }
        headWritten = true;
        contentLength = head.contentLength();
        contentForbidden = Http1HeadWriter.isContentForbidden(head);
        framing = Framing.of(head, request.minorVersion());
        close |= head.closesConnection() || framing == Framing.CLOSE;
        if (!requestEnded && request.contentLength() != 0) {
            close |= requestFailed;
        }
        int reserved = contentForbidden || framing == Framing.NONE ? 0 : ConnectionOutput.reserveFor(contentLength);
        ByteBuf out = alloc().buffer(Http1HeadWriter.sizeEstimate(head) + reserved);
        Http1HeadWriter.write(head, framing, Persistence.of(close, request.minorVersion()), out);
        bytesSent += out.readableBytes();
        connection.output().writeHead(out);
    }

    @Override
    public void switchTo(OutboundHead head, ClientTunnel tunnel) {
        if (gone || headWritten) {
            tunnel.close();
            return;
        }
        headWritten = true;
        responseEnded = true;
        ByteBuf out = alloc().buffer(Http1HeadWriter.sizeEstimate(head));
        Http1HeadWriter.write(head, Framing.NONE, Persistence.DEFAULT, out);
        send(out);
        connection.switchTo(tunnel);
    }

    @Override
    public void flush() {
        if (!gone) {
            connection.output().flush();
        }
    }

    @Override
    public void write(ByteBuf content) {
        int length = content.readableBytes();
        if (gone || responseEnded || contentForbidden || length == 0) {
            content.release();
            return;
        }
        contentSent += length;
        if (framing == Framing.LENGTH && contentSent > contentLength) {
            content.release();
            throw new IllegalStateException(
                    "content beyond the announced length: actual=" + contentSent + ", limit=" + contentLength);
        }
        if (framing == Framing.CHUNKED) {
            ByteBuf size = alloc().buffer(12);
            writeHex(size, length);
            size.writeByte('\r').writeByte('\n');
            send(size);
            send(content);
            send(crlf());
        } else {
            send(content);
        }
        connection.output().flush();
    }

    @Override
    public void finish(FieldSection fields) {
        if (!gone && !responseEnded && framing == Framing.CHUNKED && request.wantsTrailers()) {
            trailers = fields;
        }
        finish();
    }

    @Override
    public void finish() {
        if (gone || responseEnded) {
            return;
        }
        if (!headWritten || (framing == Framing.LENGTH && !contentForbidden && contentSent != contentLength)) {
            throw new IllegalStateException(
                    "the response ended early: actual=" + contentSent + ", expected=" + contentLength);
        }
        responseEnded = true;
        if (framing == Framing.CHUNKED) {
            FieldSection fields = trailers;
            ByteBuf end = alloc().buffer(5 + fields.wireLength());
            end.writeByte('0').writeByte('\r').writeByte('\n');
            fields.writeTo(end);
            send(end.writeByte('\r').writeByte('\n'));
        }
        connection.output().flush();
        if (requestEnded || close) {
            connection.onStreamEnd(this, close);
        } else {
            connection.requestQueue().updateAutoRead();
        }
    }

    @Override
    public void abort() {
        if (gone || responseEnded) {
            return;
        }
        responseEnded = true;
        if (headWritten && framing == Framing.CLOSE) {
            connection.output().flushNow();
            connection.reset();
        } else {
            connection.output().flushNow();
            connection.closeNow();
        }
    }

    @Override
    public boolean isWritable() {
        return !gone && connection.context().channel().isWritable();
    }

    @Override
    public void readContent(boolean on) {
        contentWanted = on;
        if (!on) {
            connection.contentRate().pause();
        }
        connection.requestQueue().updateAutoRead();
    }

    @Override
    public long bytesSent() {
        return bytesSent;
    }

    private void send(ByteBuf bytes) {
        bytesSent += bytes.readableBytes();
        connection.output().write(bytes);
    }

    private ByteBuf crlf() {
        return alloc().buffer(2).writeByte('\r').writeByte('\n');
    }

    private static void writeHex(ByteBuf out, int value) {
        int shift = 28;
        while (shift > 0 && (value >>> shift) == 0) {
            shift -= 4;
        }
        for (; shift >= 0; shift -= 4) {
            int digit = (value >>> shift) & 0xf;
            out.writeByte(digit < 10 ? '0' + digit : 'a' + digit - 10);
        }
    }
}
