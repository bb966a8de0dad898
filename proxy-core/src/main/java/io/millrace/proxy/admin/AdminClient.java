package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to another admin server over its Unix domain socket. Each request has its own connection and timeout.
 * Thread-safe.
 */
final class AdminClient {
    /** Code of the error if no server listens, so that nothing was sent. */
    static final String DOWN = "worker-down";

    /** Code of the error if the connection broke. The other server may have received the request. */
    static final String FAILED = "worker-failed";

    /** Code of the error if the answer did not come in time. */
    static final String TIMEOUT = "worker-timeout";

    /** Limit of an answer. The largest answer is the one to {@code /metrics}, with some hundred KiB. */
    static final int MAX_REPLY_BYTES = 32 << 20;

    static final int CONNECT_TIMEOUT_MILLIS = 2000;

    private final Bootstrap bootstrap;
    private final AdminTransport transport;
    private final ChannelGroup openConnections;

    /** @param openConnections receives every connection until it closes */
    AdminClient(EventLoopGroup group, AdminTransport transport, ChannelGroup openConnections) {
        this.openConnections = openConnections;
        this.transport = transport;
        bootstrap = new Bootstrap()
                .group(group)
                .channelFactory(transport.unixClient())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS);
    }

    /**
     * Sends one request.
     *
     * @param socket the socket of the other server; null if it does not run
     * @return the answer with any status, or an {@link AdminException}: 503 if no server listens on the socket, 504
     *     after the timeout, 502 if the connection breaks
     */
    CompletionStage<AdminReply> send(
            @Nullable Path socket, String method, String target, byte[] body, Duration timeout) {
        return send(socket, new AdminRequest(method, target, target, body, false), timeout);
    }

    /** Forwards a request. A header field tells the other server who the client is. */
    CompletionStage<AdminReply> send(@Nullable Path socket, AdminRequest forwarded, Duration timeout) {
        CompletableFuture<AdminReply> reply = new CompletableFuture<>();
        if (socket == null) {
            reply.completeExceptionally(notRunning());
            return reply;
        }
        FullHttpRequest request = request(forwarded);
        request.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        ChannelFuture connecting = bootstrap
                .clone()
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        openConnections.add(channel);
                        channel.pipeline()
                                .addLast(new HttpClientCodec())
                                .addLast(new HttpObjectAggregator(MAX_REPLY_BYTES))
                                .addLast(new ReplyReader(reply));
                    }
                })
                .connect(transport.address(socket));
        Channel channel = connecting.channel();
        connecting.addListener(connected -> {
            if (connected.isSuccess()) {
                channel.writeAndFlush(request);
            } else {
                request.release();
                reply.completeExceptionally(notRunning());
            }
        });
        var deadline = channel.eventLoop()
                .schedule(
                        () -> reply.completeExceptionally(timedOut(timeout)), timeout.toNanos(), TimeUnit.NANOSECONDS);
        reply.whenComplete((done, failure) -> {
            deadline.cancel(false);
            channel.close();
        });
        return reply;
    }

    /** Creates a request with content. The caller owns it. */
    static FullHttpRequest request(AdminRequest forwarded) {
        AdminCaller caller = forwarded.caller();
        FullHttpRequest request = new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1,
                HttpMethod.valueOf(forwarded.method()),
                forwarded.target(),
                Unpooled.wrappedBuffer(forwarded.body()));
        request.headers()
                .set(HttpHeaderNames.HOST, "localhost")
                .set(HttpHeaderNames.CONTENT_LENGTH, forwarded.body().length);
        if (!caller.equals(AdminCaller.UNKNOWN)) {
            request.headers().set(AdminCaller.FIELD_NAME, caller.text());
        }
        forwarded.fields().forEach(request.headers()::set);
        return request;
    }

    /** Copies an answer. */
    static AdminReply reply(FullHttpResponse response) {
        return new AdminReply(
                response.status().code(),
                response.headers().get(HttpHeaderNames.CONTENT_TYPE, AdminReply.JSON),
                ByteBufUtil.getBytes(response.content()),
                response.headers().get(AdminReply.ERROR_FIELD),
                Map.of());
    }

    static AdminException notRunning() {
        return new AdminException(503, DOWN, "the worker does not answer; 'process' in /v1/status shows its state");
    }

    static AdminException timedOut(Duration timeout) {
        return new AdminException(504, TIMEOUT, "the worker did not answer within " + timeout.toSeconds() + " s");
    }

    static AdminException broken() {
        return new AdminException(
                502, FAILED, "the connection to the worker was closed before the answer was complete");
    }

    private static final class ReplyReader extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final CompletableFuture<AdminReply> reply;

        ReplyReader(CompletableFuture<AdminReply> reply) {
            this.reply = reply;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            if (response.decoderResult().isFailure()) {
                fail();
                return;
            }
            reply.complete(AdminClient.reply(response));
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            fail();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            fail();
        }

        private void fail() {
            reply.completeExceptionally(broken());
        }
    }
}
