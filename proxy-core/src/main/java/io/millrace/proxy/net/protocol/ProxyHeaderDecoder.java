package io.millrace.proxy.net.protocol;

import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.net.ClientConnection;
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
 * A channel handler that reads the PROXY header at the start of a connection. It then removes itself from the pipeline,
 * and passes further bytes to the handlers behind it. The connection counts towards the limits from its start.
 *
 * <p>Confined to the channel's event loop.
 */
public final class ProxyHeaderDecoder extends ByteToMessageDecoder {
    /** The reason why a connection is closed. */
    public enum Refusal {
        /** A header from an address that may not send one. */
        UNTRUSTED,
        /** Bytes that begin like a header but are not one, or a header that is too long. */
        MALFORMED,
        /** A required header is missing. */
        MISSING,
        /** The header did not arrive in time. */
        TIMEOUT
    }

    /**
     * Settings of PROXY headers.
     *
     * @param trusted addresses whose headers are accepted
     * @param required whether a header is required
     * @param headerBytesMax limit of a version 2 header in bytes
     * @param timeoutNanos limit of the time from the connection's start to the end of the header
     */
    public record Settings(
            Predicate<@Nullable IpAddress> trusted, boolean required, int headerBytesMax, long timeoutNanos) {}

    /** Receives the result of reading the header. */
    public interface Events {
        /**
         * Called when the header was read, or is absent and not required. The receiver adds the next handlers
         * behind this decoder.
         *
         * @param client client address in the header; null for the remote address of the channel
         * @param secure whether the header states that the client used TLS to the load balancer
         */
        void onClient(Channel channel, @Nullable InetSocketAddress client, boolean secure);

        /** Called once if the connection is closed because of its header. */
        void onRefused(Refusal refusal, @Nullable InetSocketAddress peer);
    }

    private final Supplier<Settings> settings;
    private final Events events;
    private final PendingConnection pending;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded, before any other use
    private ChannelHandlerContext ctx;

    /**
     * @param settings read at each use, so that a change applies to connections that still wait for a header
     * @param connections contains this connection until the header is read
     * @param events called on the event loop
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
        Settings current = settings.get();
        ProxyHeader header = ProxyHeader.parse(in, current.headerBytesMax());
        if (ProxyHeader.isBegun(in) && !current.trusted().test(ip())) {
            refuse(Refusal.UNTRUSTED);
            return;
        }
        switch (header.kind()) {
            case INCOMPLETE -> {}
            case MALFORMED -> refuse(Refusal.MALFORMED);
            case NONE -> {
                if (current.required()) {
                    refuse(Refusal.MISSING);
                } else {
                    complete(null, false);
                }
            }
            case COMPLETE -> {
                in.skipBytes(header.length());
                complete(header.client(), header.secure());
            }
        }
    }

    private void complete(@Nullable InetSocketAddress client, boolean secure) {
        pending.leave();
        events.onClient(ctx.channel(), client, secure);
        ctx.pipeline().remove(this);
    }

    private void refuse(Refusal refusal) {
        if (!pending.isOver()) {
            events.onRefused(refusal, peer());
            pending.onClose();
        }
    }

    private @Nullable InetSocketAddress peer() {
        return ClientConnection.peer(ctx.channel());
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

    /** Closes the connection if the peer has shut down its output: no header can arrive any more. */
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
