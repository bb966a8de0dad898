package io.millrace.proxy.admin;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.IdleStateHandler;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Initializes the connections of one listener, and refuses connections above its limit. TCP and Unix sockets have
 * separate limits, so that TCP clients cannot lock out operators. {@link TcpSlots} contains the limits of TCP.
 *
 * <table>
 *   <caption>Limits</caption>
 *   <tr><td>connections on a Unix domain socket</td><td>{@value #MAX_CONNECTIONS}</td></tr>
 *   <tr><td>request line, bytes</td><td>{@value #MAX_LINE_BYTES}</td></tr>
 *   <tr><td>header section, bytes</td><td>{@value #MAX_HEADER_BYTES}</td></tr>
 *   <tr><td>idle time, seconds</td><td>{@value #IDLE_SECONDS}</td></tr>
 *   <tr><td>time to receive a request, seconds</td><td>{@value #REQUEST_SECONDS}</td></tr>
 *   <tr><td>time to receive a request on TCP without a token, from the start of the connection, seconds</td><td>{@value #UNAUTHENTICATED_SECONDS}</td></tr>
 *   <tr><td>delay of the answer to a wrong token, seconds</td><td>{@value #WRONG_TOKEN_SECONDS}</td></tr>
 * </table>
 *
 * <p>Confined to one event loop.
 */
final class AdminPipeline extends ChannelInitializer<Channel> {
    static final int MAX_CONNECTIONS = 64;
    /**
     * Limit of a request line in bytes. A request to {@code explain} contains a percent-encoded URL, which may be
     * longer than limits.request_header permits.
     */
    static final int MAX_LINE_BYTES = 128 << 10;

    static final int MAX_HEADER_BYTES = 16 << 10;
    static final int IDLE_SECONDS = 60;
    static final int REQUEST_SECONDS = 30;

    static final int UNAUTHENTICATED_SECONDS = 5;
    static final int WRONG_TOKEN_SECONDS = 1;

    private final ChannelGroup openConnections;
    private final AdminRoutes routes;
    private final Executor blockingCalls;
    private final @Nullable TcpGuard guard;
    private final AdminTimes times;
    private final AtomicInteger connections = new AtomicInteger();
    private final TcpRefusals refusals;
    private final TcpSlots slots;
    private final AdminCallers callers;
    private final ChangesInProgress changes;

    /**
     * Creates the initializer of a listener.
     *
     * @param openConnections receives every connection until it closes
     * @param refusals counts refused TCP requests
     * @param changes counts the requests that change state
     */
    AdminPipeline(
            ChannelGroup openConnections,
            AdminRoutes routes,
            Executor blockingCalls,
            @Nullable TcpGuard guard,
            AdminTimes times,
            TcpRefusals refusals,
            ChangesInProgress changes,
            AdminTransport transport) {
        this.openConnections = openConnections;
        this.routes = routes;
        this.blockingCalls = blockingCalls;
        this.guard = guard;
        this.times = times;
        this.refusals = refusals;
        this.changes = changes;
        this.slots = new TcpSlots(refusals);
        this.callers = new AdminCallers(transport, guard != null);
    }

    @Override
    protected void initChannel(Channel channel) {
        openConnections.add(channel);
        TcpGuard tcp = guard;
        if (tcp != null) {
            RequestDeadline deadline = new RequestDeadline(times.unauthenticated(), true);
            TcpSlots.Slot slot = slots.enter(channel);
            TcpLimits limits = new TcpLimits(tcp, slot, refusals, times.wrongToken());
            SslHandler tls = tcp.newTlsHandler(channel.alloc(), times.unauthenticated());
            if (tls != null) {
                channel.pipeline().addLast(tls);
            }
            addTo(channel, deadline, new TokenGate(tcp, slot, deadline, times.request()), limits);
            return;
        }
        if (connections.incrementAndGet() > MAX_CONNECTIONS) {
            connections.decrementAndGet();
            channel.close();
            return;
        }
        channel.closeFuture().addListener(closed -> connections.decrementAndGet());
        addTo(channel, new RequestDeadline(times.request(), false), null, null);
    }

    private void addTo(
            Channel channel, RequestDeadline deadline, @Nullable TokenGate gate, @Nullable TcpLimits limits) {
        AdminConnection connection = new AdminConnection(routes, blockingCalls, limits, deadline, callers, changes);
        HttpDecoderConfig decoding =
                new HttpDecoderConfig().setMaxInitialLineLength(MAX_LINE_BYTES).setMaxHeaderSize(MAX_HEADER_BYTES);
        channel.pipeline()
                .addLast(new IdleStateHandler(0, 0, IDLE_SECONDS, TimeUnit.SECONDS))
                .addLast(deadline)
                .addLast(new HttpServerCodec(decoding));
        if (gate != null) {
            channel.pipeline().addLast(gate);
        }
        channel.pipeline().addLast(new BodyLimit(connection)).addLast(connection);
    }
}
