package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to another admin server over one Unix domain connection, which stays open between requests. The
 * connection is closed after an answer other than 200, after a timeout, and when the requests go to another socket. The
 * next request then opens a new one. A request that arrives before the answer to the previous one gets a connection of
 * its own.
 *
 * <p>If a connection that was open before a request closes without a complete answer, the request is sent once more
 * over a new connection: the other server may have closed an idle connection at that moment. So only requests that may
 * be sent twice are permitted.
 *
 * <p>Thread-safe. The state is confined to one event loop.
 */
public final class KeptAdminConnection {
    /**
     * Time without a request after which a GET of the idle path is sent. The server closes a connection after 60 s
     * without a request.
     */
    static final Duration IDLE = Duration.ofSeconds(AdminPipeline.IDLE_SECONDS / 3);

    private static final int OK = 200;

    private final EventLoop loop;
    private final AdminClient client;
    private final String idlePath;
    private final Duration idle;
    private final Bootstrap bootstrap;
    private final AdminTransport transport;

    /** The socket of the open connection; null without one, like the next field. */
    private @Nullable Path connectedTo;

    private @Nullable Channel open;
    /** The request without an answer; null for none. */
    private @Nullable Exchange current;

    /**
     * @param openConnections receives every connection until it closes
     * @param client sends requests that arrive while another one has no answer
     * @param idle time without a request after which a GET of {@code idlePath} is sent
     */
    KeptAdminConnection(
            EventLoop loop,
            AdminTransport transport,
            ChannelGroup openConnections,
            AdminClient client,
            String idlePath,
            Duration idle) {
        this.loop = loop;
        this.transport = transport;
        this.client = client;
        this.idlePath = idlePath;
        this.idle = idle;
        bootstrap = new Bootstrap()
                .group(loop)
                .channelFactory(transport.unixClient())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, AdminClient.CONNECT_TIMEOUT_MILLIS)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        openConnections.add(channel);
                        channel.pipeline()
                                .addLast(new IdleStateHandler(0, 0, idle.toNanos(), TimeUnit.NANOSECONDS))
                                .addLast(new HttpClientCodec())
                                .addLast(new HttpObjectAggregator(AdminClient.MAX_REPLY_BYTES))
                                .addLast(new ReplyReader());
                    }
                });
    }

    /** A request, and its answer. Confined to the event loop, except for the answer. */
    private static final class Exchange {
        final Path socket;
        final AdminRequest request;
        final Duration timeout;
        final CompletableFuture<AdminReply> reply = new CompletableFuture<>();
        /** The connection of the request; null before it was sent. */
        @Nullable
        Channel channel;
        /** True if the request may be sent again, because its connection was open before. */
        boolean isRepeatable;

        @Nullable
        ScheduledFuture<?> deadline;

        Exchange(Path socket, AdminRequest request, Duration timeout) {
            this.socket = socket;
            this.request = request;
            this.timeout = timeout;
        }
    }

    /**
     * Sends one request that may be sent twice.
     *
     * @return the answer with any status, or an {@link AdminException}: 503 if no server listens on the socket, 504
     *     after the timeout, 502 if the connection breaks
     */
    public CompletionStage<AdminReply> send(Path socket, String method, String path, byte[] body, Duration timeout) {
        Exchange exchange = new Exchange(socket, new AdminRequest(method, path, path, body, false), timeout);
        try {
            loop.execute(() -> begin(exchange));
        } catch (RejectedExecutionException e) {
            exchange.reply.completeExceptionally(AdminClient.notRunning());
        }
        return exchange.reply;
    }

    private void begin(Exchange exchange) {
        if (current != null) {
            sendApart(exchange);
            return;
        }
        current = exchange;
        exchange.deadline = loop.schedule(
                () -> fail(exchange, AdminClient.timedOut(exchange.timeout)),
                exchange.timeout.toNanos(),
                TimeUnit.NANOSECONDS);
        Channel present = open;
        if (present != null && present.isActive() && exchange.socket.equals(connectedTo)) {
            exchange.isRepeatable = true;
            write(exchange, present);
        } else {
            drop();
            connect(exchange);
        }
    }

    private void sendApart(Exchange exchange) {
        client.send(exchange.socket, exchange.request, exchange.timeout).whenComplete((answer, failure) -> {
            if (failure == null) {
                exchange.reply.complete(answer);
            } else {
                exchange.reply.completeExceptionally(failure);
            }
        });
    }

    private void connect(Exchange exchange) {
        ChannelFuture connecting = bootstrap.connect(transport.address(exchange.socket));
        connecting.addListener(connected -> {
            if (!connected.isSuccess()) {
                fail(exchange, AdminClient.notRunning());
            } else if (current != exchange) {
                // The time limit has passed.
                connecting.channel().close();
            } else {
                connectedTo = exchange.socket;
                open = connecting.channel();
                write(exchange, connecting.channel());
            }
        });
    }

    private static void write(Exchange exchange, Channel to) {
        exchange.channel = to;
        to.writeAndFlush(AdminClient.request(exchange.request));
    }

    /** Closes the open connection. */
    private void drop() {
        Channel before = open;
        open = null;
        connectedTo = null;
        if (before != null) {
            before.close();
        }
    }

    private void complete(Exchange exchange, AdminReply answer, boolean isKept) {
        end(exchange);
        if (!isKept) {
            drop();
        }
        exchange.reply.complete(answer);
    }

    private void fail(Exchange exchange, AdminException failure) {
        if (current == exchange) {
            end(exchange);
            // A late answer must not be taken for the answer to the next request.
            drop();
            exchange.reply.completeExceptionally(failure);
        }
    }

    private void end(Exchange exchange) {
        current = null;
        Objects.requireNonNull(exchange.deadline).cancel(false);
    }

    /** Receives the answers of one connection, and its end. */
    private final class ReplyReader extends SimpleChannelInboundHandler<FullHttpResponse> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            Exchange answered = current;
            boolean isExpected = answered != null && answered.channel == context.channel();
            if (answered == null || !isExpected || response.decoderResult().isFailure()) {
                // There was no request, its time limit has passed, or the answer is not HTTP or not complete.
                context.close();
            } else {
                boolean isKept =
                        HttpUtil.isKeepAlive(response) && response.status().code() == OK;
                complete(answered, AdminClient.reply(response), isKept);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            Path socket = connectedTo;
            if (event instanceof IdleStateEvent && current == null && open == context.channel() && socket != null) {
                begin(new Exchange(socket, new AdminRequest("GET", idlePath, idlePath, new byte[0], false), idle));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (open == context.channel()) {
                open = null;
                connectedTo = null;
            }
            Exchange unanswered = current;
            if (unanswered == null || unanswered.channel != context.channel()) {
                return;
            }
            if (unanswered.isRepeatable) {
                unanswered.isRepeatable = false;
                unanswered.channel = null;
                connect(unanswered);
            } else {
                fail(unanswered, AdminClient.broken());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
