package io.millrace.proxy.net.protocol;

import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientProtocol;
import io.millrace.proxy.net.ConnectionSet;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * A channel handler that chooses HTTP/1.1 or HTTP/2 by the first bytes of a connection without TLS. HTTP/2 clients
 * with prior knowledge send the preface first (RFC 9113 s3.3). After the choice, the handler removes itself from the
 * pipeline.
 *
 * <p>Confined to the channel's event loop.
 */
public final class PrefaceChoice extends ByteToMessageDecoder {
    /** The version in a request line, without the last digit. */
    private static final byte[] VERSION = {'H', 'T', 'T', 'P', '/', '1', '.'};

    private final ClientConnection connection;
    private final ClientProtocol http1;
    private final ClientProtocol http2;
    private final PendingConnection pending;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded, before any other use
    private ChannelHandlerContext ctx;

    /**
     * @param connections contains this connection until its protocol is known
     * @param timeoutNanos limit of the time from the connection's start until its protocol is known; read at every tick
     * (the periodic check of all connections)
     */
    public PrefaceChoice(
            ConnectionSet connections,
            ClientConnection connection,
            LongSupplier timeoutNanos,
            ClientProtocol http1,
            ClientProtocol http2) {
        this.connection = connection;
        this.http1 = http1;
        this.http2 = http2;
        pending = new PendingConnection(connections, connection, timeoutNanos);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        pending.begin(context);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        pending.begin(context);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (pending.isOver()) {
            in.skipBytes(in.readableBytes());
        } else if (!Http2Preface.isBegun(in)) {
            if (isUnknownProtocol(in)) {
                pending.onClose();
            } else {
                select(http1);
            }
        } else if (in.readableBytes() >= Http2Preface.length()) {
            select(http2);
        }
    }

    /**
     * Returns true if the first line is complete but is not an HTTP/1 request line. Then the connection is closed
     * without a response, as for an invalid preface (RFC 9113 s3.4).
     */
    private static boolean isUnknownProtocol(ByteBuf in) {
        int lineEnd = in.indexOf(in.readerIndex(), in.writerIndex(), (byte) '\n');
        int version =
                lineEnd - VERSION.length - (lineEnd > in.readerIndex() && in.getByte(lineEnd - 1) == '\r' ? 2 : 1);
        if (lineEnd < 0 || lineEnd - in.readerIndex() <= 1) {
            return false;
        }
        if (version < in.readerIndex()) {
            return true;
        }
        for (int i = 0; i < VERSION.length; i++) {
            if (in.getByte(version + i) != VERSION[i]) {
                return true;
            }
        }
        return false;
    }

    private void select(ClientProtocol protocol) {
        pending.leave();
        protocol.serve(ctx.channel(), connection);
        ctx.pipeline().remove(this);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        pending.leave();
        super.channelInactive(context);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (event instanceof ChannelInputShutdownEvent && !pending.isOver()) {
            context.close();
        } else {
            super.userEventTriggered(context, event);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
