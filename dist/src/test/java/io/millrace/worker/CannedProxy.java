package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.store.CacheStore;
import io.millrace.store.Successor;
import io.millrace.worker.control.SettingChange;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Answers every request with the worker's process id, the origin of its configuration and the number of slow requests.
 * {@code /slow} takes a second, {@code /endless} never ends. With the origin {@code http://broken.invalid} it does not
 * start.
 */
class CannedProxy implements ServedProxy {
    private static final long SLOW_MILLIS = 1000;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, EpollIoHandler.newFactory());
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final List<Channel> listening = new ArrayList<>();
    private final Map<String, List<Integer>> descriptors;
    private final AtomicInteger waiting = new AtomicInteger();
    private final CompletableFuture<Void> drained = new CompletableFuture<>();
    private volatile ProxyConfig config;

    CannedProxy(ProxyConfig config, Map<String, List<Integer>> descriptors) {
        this.config = config;
        this.descriptors = descriptors;
        if (origin().contains("broken.invalid")) {
            throw new IllegalStateException("the canned worker was asked to break");
        }
    }

    private String origin() {
        return config.remap().get(0).to().toString();
    }

    @Override
    public void start() {
        if (descriptors.isEmpty()) {
            for (ListenerConfig listener : config.listeners()) {
                listening.add(bootstrap(0)
                        .bind(new InetSocketAddress(
                                InetAddress.getLoopbackAddress(),
                                listener.address().port()))
                        .syncUninterruptibly()
                        .channel());
            }
        }
        for (List<Integer> group : descriptors.values()) {
            for (int descriptor : group) {
                listening.add(
                        bootstrap(descriptor).register().syncUninterruptibly().channel());
            }
        }
    }

    private ServerBootstrap bootstrap(int descriptor) {
        return new ServerBootstrap()
                .group(loops)
                .channelFactory(() ->
                        descriptor == 0 ? new EpollServerSocketChannel() : new EpollServerSocketChannel(descriptor))
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        connections.add(channel);
                        channel.pipeline()
                                .addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Answers());
                    }
                });
    }

    @Override
    public List<SettingChange> reload(ProxyConfig changed) {
        config = changed;
        return List.of();
    }

    @Override
    public CompletionStage<Void> drain(long nanos) {
        listening.forEach(channel -> channel.close().syncUninterruptibly());
        var unused = loops.next().schedule(() -> drained.complete(null), nanos, TimeUnit.NANOSECONDS);
        // Every accepted connection receives one response, and is then closed.
        connections.newCloseFuture().addListener(closed -> drained.complete(null));
        return drained;
    }

    @Override
    public CompletionStage<Void> drainForSuccessor(long nanos, Runnable onNoFurtherRequest) {
        CompletionStage<Void> end = drain(nanos);
        onNoFurtherRequest.run();
        return end;
    }

    @Override
    public void endReads() {}

    @Override
    public void release(Successor successor) {}

    @Override
    public void reopenStore() throws IOException {}

    @Override
    public void applyChange(byte[] change, Consumer<IOException> reply) {
        reply.accept(null);
    }

    @Override
    public void predecessor(CacheStore.Predecessor answering) {}

    @Override
    public void beat(Runnable allLoopsAlive) {
        AtomicInteger left = new AtomicInteger();
        List<EventExecutor> all = new ArrayList<>();
        loops.forEach(all::add);
        left.set(all.size());
        for (EventExecutor loop : all) {
            loop.execute(() -> {
                if (left.decrementAndGet() == 0) {
                    allLoopsAlive.run();
                }
            });
        }
    }

    @Override
    public void reopenLogs() {}

    @Override
    public void ticketKeys(byte[] keys) {}

    @Override
    public String transport() {
        return "epoll";
    }

    @Override
    public String tls() {
        return "none";
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            if (!request.uri().equals("/")) {
                waiting.incrementAndGet();
            }
            if (request.uri().startsWith("/slow")) {
                var unused = context.executor().schedule(() -> answer(context), SLOW_MILLIS, TimeUnit.MILLISECONDS);
            } else if (!request.uri().startsWith("/endless")) {
                answer(context);
            }
        }

        private void answer(ChannelHandlerContext context) {
            byte[] text = ("worker " + ProcessHandle.current().pid() + " for " + origin() + " waiting " + waiting.get()
                            + "\n")
                    .getBytes(StandardCharsets.US_ASCII);
            FullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(text));
            response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, text.length);
            response.headers().set(HttpHeaderNames.CONNECTION, "close");
            context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
