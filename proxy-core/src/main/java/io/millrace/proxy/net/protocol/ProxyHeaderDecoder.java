package io.millrace.proxy.net.protocol;

import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.net.ConnectionSet;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the PROXY header with which a connection begins, before TLS and HTTP: then it leaves the pipeline, and what follows the header goes to
 * the handlers that it had put behind itself. A connection counts as one from its start on, header or not.
 *
 * <p>Confined to the channel's event loop.
 */
public final class ProxyHeaderDecoder extends ByteToMessageDecoder {
    /** Why a connection is closed. */
    public enum Refusal {
        /** A header from somebody who may not send one. */
        UNTRUSTED,
        /** What begins as a header and is none, or is too long. */
        MALFORMED,
        /** No header where there must be one. */
        MISSING,
        /** It did not come in time. */
        TIMEOUT
    }

    /**
     * What holds for connections.
     *
     * @param trusted whose headers are believed
     * @param required whether there must be one
     * @param headerBytesMax longest header of version 2
     * @param timeoutNanos from the connection's start to the header's end
     */
    public record Settings(
            Predicate<@Nullable IpAddress> trusted, boolean required, int headerBytesMax, long timeoutNanos) {}

    /** What comes of it. */
    public interface Events {
        /**
         * The header has been read, or there is none: the handlers for what follows are to be added behind this one.
         *
         * @param client whom the header names; null for the channel's own remote address
         * @param secure whether the header says that the client connected to its sender over TLS
         */
        void onClient(Channel channel, @Nullable InetSocketAddress client, boolean secure);

        /** The connection is closed; told once. */
        void onRefused(Refusal why, @Nullable InetSocketAddress peer);
    }

    private final Supplier<Settings> settings;
    private final Events events;
    private final PendingConnection pending;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded, before anything else
    private ChannelHandlerContext ctx;

    /**
     * @param settings asked whenever one counts, so that a change holds for headers that are awaited
     * @param connections has this connection until the header is read
     * @param events told on the event loop
     */
    public ProxyHeaderDecoder(Supplier<Settings> settings, ConnectionSet connections, Events events) {
        this.settings = settings;
        this.events = events;
        pending =
                new PendingConnection(connections, () -> settings.get().timeoutNanos(), () -> refuse(Refusal.TIMEOUT));
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
            return;
        }
        Settings now = settings.get();
        ProxyHeader header = ProxyHeader.parse(in, now.headerBytesMax());
        if (ProxyHeader.isBegun(in) && !now.trusted().test(ip())) {
            refuse(Refusal.UNTRUSTED);
            return;
        }
        switch (header.kind()) {
            case INCOMPLETE -> {}
            case MALFORMED -> refuse(Refusal.MALFORMED);
            case NONE -> {
                if (now.required()) {
                    refuse(Refusal.MISSING);
                } else {
                    goOn(null, false);
                }
            }
            case COMPLETE -> {
                in.skipBytes(header.length());
                goOn(header.client(), header.secure());
            }
        }
    }

    private void goOn(@Nullable InetSocketAddress client, boolean secure) {
        pending.leave();
        events.onClient(ctx.channel(), client, secure);
        ctx.pipeline().remove(this);
    }

    private void refuse(Refusal why) {
        if (!pending.isOver()) {
            events.onRefused(why, peer());
            pending.onClose();
        }
    }

    private @Nullable InetSocketAddress peer() {
        return ctx.channel().remoteAddress() instanceof InetSocketAddress address ? address : null;
    }

    private @Nullable IpAddress ip() {
        InetSocketAddress peer = peer();
        InetAddress address = peer == null ? null : peer.getAddress();
        return address == null ? null : IpAddress.of(address.getAddress());
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        pending.leave();
        super.channelInactive(context);
    }

    /** The sender has shut down its sending side: no header comes any more. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (event instanceof ChannelInputShutdownEvent) {
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
