package io.millrace.proxy.http2;

import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientTunnel;
import io.millrace.proxy.net.RequestHandler;
import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import java.net.SocketAddress;

/**
 * A Netty channel for the client's side of a tunnel over one HTTP/2 stream. See RFC 8441 and RFC 9113 s8.5.
 *
 * <p>Reads return the content of the request. Writes become the content of the response. END_STREAM ends one
 * direction. {@code autoRead} and the writability of the channel control the flow of the stream. Only streams with
 * a tunnel have a channel.
 *
 * <p>Confined to the connection's event loop.
 */
final class TunnelChannel extends AbstractChannel implements DuplexChannel, RequestHandler {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false);

    private final Http2Stream stream;
    private final ClientTunnel tunnel;
    private final ChannelConfig config;
    private boolean open = true;
    private boolean inputShut;
    private boolean outputShut;

    TunnelChannel(Http2Stream stream, ClientTunnel tunnel) {
        super(null);
        this.stream = stream;
        this.tunnel = tunnel;
        this.config = new Config();
        config.setAutoRead(false);
    }

    /** Registers the channel and adds the handler of the tunnel, which then starts to read. */
    void join(EventLoop loop) {
        loop.register(this);
        pipeline().addLast(tunnel.clientSide());
    }

    private final class Config extends DefaultChannelConfig {
        private Config() {
            super(TunnelChannel.this);
        }

        @Override
        protected void autoReadCleared() {
            stream.readContent(false);
        }
    }

    // events of the stream

    @Override
    public void onContent(ByteBuf content) {
        pipeline().fireChannelRead(content);
        pipeline().fireChannelReadComplete();
    }

    @Override
    public void onRequestEnd() {
        inputShut = true;
        pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
    }

    @Override
    public void onRequestFailure(BadRequest reason) {
        close();
    }

    @Override
    public void onClientGone() {
        close();
    }

    @Override
    public void onClientTooSlow(SlowReason reason) {
        tunnel.onClientTooSlow();
    }

    @Override
    public void onWritable() {
        unsafe().flush();
    }

    // channel methods

    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
        for (Object message = in.current(); message != null; message = in.current()) {
            ByteBuf bytes = (ByteBuf) message;
            if (bytes.isReadable()) {
                if (!stream.isWritable()) {
                    return;
                }
                stream.write(bytes.retainedSlice());
            }
            in.remove();
        }
    }

    @Override
    protected void doBeginRead() {
        stream.readContent(true);
    }

    @Override
    protected void doClose() {
        open = false;
        stream.closeTunnel();
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        if (open && !outputShut) {
            outputShut = true;
            stream.finish();
        }
        return promise.setSuccess();
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        return promise.setFailure(new UnsupportedOperationException("only the client ends its input"));
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        return close(promise);
    }

    @Override
    public boolean isInputShutdown() {
        return inputShut;
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShut;
    }

    @Override
    public boolean isShutdown() {
        return inputShut && outputShut;
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true;
    }

    @Override
    protected SocketAddress localAddress0() {
        return stream.connection().localAddress();
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return stream.connection().remoteAddress();
    }

    @Override
    protected void doBind(SocketAddress localAddress) {
        throw new UnsupportedOperationException("a stream cannot be bound");
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new StreamUnsafe();
    }

    private final class StreamUnsafe extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            promise.setFailure(new UnsupportedOperationException("a stream cannot be connected"));
        }
    }
}
