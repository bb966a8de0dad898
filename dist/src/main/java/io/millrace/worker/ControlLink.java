package io.millrace.worker;

import io.millrace.worker.control.ControlCodec;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.ControlTransport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The worker's connection to the launcher over the control socket. After the death of the launcher, the link tries to
 * connect until a new launcher accepts.
 *
 * <p>Thread-safe: {@link #send} may be called on any thread; the listener is called on the event loop.
 */
final class ControlLink {
    private static final long RECONNECT_MILLIS = 200;

    /** The callbacks of the worker. */
    interface Listener {
        void connected();

        void received(ControlMessage message);

        /** Called when the connection to the launcher is closed. */
        void disconnected();
    }

    private final EventLoopGroup loop;
    private final ControlPaths paths;
    private final ControlTransport transport;
    private final Listener listener;
    private volatile @Nullable Channel channel;
    private volatile boolean closed;

    ControlLink(EventLoopGroup loop, ControlTransport transport, ControlPaths paths, Listener listener) {
        this.loop = loop;
        this.transport = transport;
        this.paths = paths;
        this.listener = listener;
    }

    /** Connects to the launcher once. The result tells whether this succeeded. */
    ChannelFuture connect() {
        return new Bootstrap()
                .group(loop)
                .channel(transport.channelType())
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        ControlCodec.addTo(channel.pipeline());
                        channel.pipeline().addLast(new Connection());
                    }
                })
                .connect(transport.address(paths.control()));
    }

    /** Connects, and retries until a launcher accepts. */
    void reconnect() {
        if (closed) {
            return;
        }
        connect().addListener(future -> {
            if (!future.isSuccess() && !closed) {
                var unused = loop.schedule(this::reconnect, RECONNECT_MILLIS, TimeUnit.MILLISECONDS);
            }
        });
    }

    /** Sends a message. If no launcher is connected, drops the message and returns false. */
    boolean send(ControlMessage message) {
        @Nullable Channel current = channel;
        if (current != null) {
            current.writeAndFlush(message);
        }
        return current != null;
    }

    /** Sends {@code last}, closes the connection, and then runs {@code then}. */
    void close(@Nullable ControlMessage last, Runnable then) {
        closed = true;
        @Nullable Channel current = channel;
        if (current == null) {
            then.run();
            return;
        }
        if (last != null) {
            current.writeAndFlush(last).addListener(ChannelFutureListener.CLOSE);
        } else {
            current.close();
        }
        current.closeFuture().addListener(future -> then.run());
    }

    private final class Connection extends SimpleChannelInboundHandler<ControlMessage> {
        @Override
        public void channelActive(ChannelHandlerContext context) {
            channel = context.channel();
            listener.connected();
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ControlMessage message) {
            listener.received(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            channel = null;
            if (!closed) {
                listener.disconnected();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
