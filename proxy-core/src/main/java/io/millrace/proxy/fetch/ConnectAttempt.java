package io.millrace.proxy.fetch;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get one connection: resolve the name, try its addresses one after the other, shake hands over TLS.
 *
 * <p>The whole of it has one deadline. What is left of it is divided evenly among the addresses that remain, so that the last one gets its chance when the first
 * ones do not answer.
 *
 * <p>Confined to one event loop.
 */
final class ConnectAttempt {

    /** Most addresses tried; a name with more is tried at its first ones. */
    private static final int ADDRESSES_MAX = 8;

    private final OriginPool pool;
    private final FetchSettings settings;
    private final Deadline deadline;
    private final long nanosAtEnd;
    private @Nullable PooledCall call;
    private List<InetAddress> addresses = List.of();
    private int tried;
    private @Nullable Channel channel;
    private OriginFailure.Reason lastReason = OriginFailure.Reason.CONNECT_TIMEOUT;
    private String lastProblem = "name resolution";
    private boolean ended;

    ConnectAttempt(OriginPool pool, PooledCall call) {
        this.pool = pool;
        this.call = call;
        settings = call.request().settings();
        deadline = new Deadline(pool.eventLoop(), this::timedOut);
        nanosAtEnd = deadline.now() + settings.connectTimeoutNanos();
    }

    FetchSettings settings() {
        return settings;
    }

    void start() {
        deadline.set(settings.connectTimeoutNanos());
        Future<List<InetAddress>> resolved =
                pool.client().addresses().resolve(pool.origin().host());
        if (resolved.isDone()) {
            resolved(resolved);
        } else {
            resolved.addListener((Future<List<InetAddress>> future) -> resolved(future));
        }
    }

    /** The call does not wait any more; the connection is made all the same, for others. */
    void withdraw() {
        call = null;
    }

    /** Gives up without a report: the client is closed. */
    void abandon() {
        call = null;
        fail(OriginFailure.Reason.CANCELLED, "the client was closed");
    }

    /** From the connection: requests can be sent. */
    void ready(OriginConnection connection) {
        if (ended) {
            connection.closeUnused();
            return;
        }
        ended = true;
        deadline.cancel();
        PooledCall first = call;
        call = null;
        pool.connected(connection, first);
    }

    /** From the connection: TCP stands, and TLS failed or the origin closed before requests could be sent. */
    void notReady(Channel of, OriginFailure.Reason reason, String problem) {
        if (of == channel) {
            fail(reason, problem);
        }
    }

    private void resolved(Future<List<InetAddress>> future) {
        if (ended) {
            return;
        }
        if (!future.isSuccess() || future.getNow().isEmpty()) {
            Throwable cause = future.cause();
            fail(OriginFailure.Reason.DNS, "name resolution: " + (cause == null ? "no address" : text(cause)));
            return;
        }
        List<InetAddress> all = future.getNow();
        addresses = all.size() > ADDRESSES_MAX ? all.subList(0, ADDRESSES_MAX) : all;
        tryNext();
    }

    private void tryNext() {
        InetSocketAddress address =
                new InetSocketAddress(addresses.get(tried), pool.origin().port());
        tried++;
        long remaining = nanosAtEnd - deadline.now();
        deadline.set(Math.max(remaining, 0) / (addresses.size() - tried + 1));
        lastReason = OriginFailure.Reason.CONNECT_TIMEOUT;
        lastProblem = "connecting to " + address;
        ChannelFuture connect =
                pool.client().bootstrap().clone().handler(initializer()).connect(address);
        channel = connect.channel();
        connect.addListener(future -> {
            if (!future.isSuccess()) {
                connectFailed(connect.channel(), address, future.cause());
            }
        });
    }

    private ChannelInitializer<SocketChannel> initializer() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel made) {
                if (pool.origin().isSecure()) {
                    made.pipeline().addLast(newSslHandler(made));
                }
                OriginResponseDecoder decoder = new OriginResponseDecoder(settings.responseHeadMax());
                made.pipeline().addLast(decoder, new OriginConnection(pool, ConnectAttempt.this, made, decoder));
            }
        };
    }

    private SslHandler newSslHandler(SocketChannel made) {
        SslHandler handler = pool.client()
                .sslContext()
                .newHandler(made.alloc(), pool.tlsName(), pool.origin().port());
        // The attempt's own deadline covers the handshake.
        handler.setHandshakeTimeoutMillis(0);
        return handler;
    }

    private void connectFailed(Channel of, InetSocketAddress address, Throwable cause) {
        if (ended || of != channel) {
            return;
        }
        channel = null;
        lastReason = cause instanceof ChannelException
                ? OriginFailure.Reason.INTERNAL
                : OriginFailure.Reason.CONNECT_REFUSED;
        lastProblem = "connecting to " + address + ": " + text(cause);
        nextOrFail();
    }

    private void timedOut() {
        if (ended) {
            return;
        }
        Channel late = channel;
        channel = null;
        if (late != null) {
            late.close();
        }
        lastReason = OriginFailure.Reason.CONNECT_TIMEOUT;
        lastProblem += " took longer than " + PooledOriginClient.millis(settings.connectTimeoutNanos());
        nextOrFail();
    }

    private void nextOrFail() {
        if (tried < addresses.size() && nanosAtEnd - deadline.now() > 0) {
            tryNext();
        } else {
            fail(lastReason, lastProblem);
        }
    }

    private void fail(OriginFailure.Reason reason, String problem) {
        if (ended) {
            return;
        }
        ended = true;
        deadline.cancel();
        Channel open = channel;
        channel = null;
        if (open != null) {
            open.close();
        }
        PooledCall first = call;
        call = null;
        pool.connectFailed(first, reason, pool.origin() + ": " + problem);
    }

    private static String text(Throwable cause) {
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
