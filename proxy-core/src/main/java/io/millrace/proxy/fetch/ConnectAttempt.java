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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get one connection: resolve the name, connect to its addresses, shake hands over TLS. An address has {@value #NEXT_ADDRESS_MILLIS} ms before
 * the next one is tried beside it, or until it fails; the first connection that is ready wins (RFC 8305 s5). Addresses that failed, or were slower than a later
 * one, are tried last for a while.
 *
 * <p>The whole of it has one deadline.
 *
 * <p>Confined to one event loop.
 */
final class ConnectAttempt {

    /** Most addresses tried; a name with more is tried at its first ones. */
    private static final int ADDRESSES_MAX = 8;

    /** The "Connection Attempt Delay" of RFC 8305 s5. */
    private static final long NEXT_ADDRESS_MILLIS = 250;

    private final OriginPool pool;
    private final FetchSettings settings;
    private final Deadline deadline;
    private final Deadline nextAddress;
    /** Being connected, each with its address, in the order in which they were begun. */
    private final Map<Channel, InetSocketAddress> open = new LinkedHashMap<>(2);

    private final byte @Nullable [] preface;

    private @Nullable PooledCall call;
    private List<InetAddress> addresses = List.of();
    private int tried;
    private String lastProblem = "name resolution";
    private boolean ended;

    ConnectAttempt(OriginPool pool, PooledCall call) {
        this.pool = pool;
        this.call = call;
        settings = call.request().settings();
        preface = call.request().preface();
        deadline = new Deadline(pool.eventLoop(), this::timedOut);
        nextAddress = new Deadline(pool.eventLoop(), this::tryNext);
    }

    FetchSettings settings() {
        return settings;
    }

    /** Whether the connection begins with what only the call that it is made for may begin with. */
    boolean hasPreface() {
        return preface != null;
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
    void ready(Channel of, OriginConnection connection) {
        InetSocketAddress address = open.get(of);
        if (ended || address == null) {
            open.remove(of);
            connection.closeUnused();
            return;
        }
        pool.client().addresses().worked(pool.origin().host(), address.getAddress());
        PooledCall first = call;
        call = null;
        end(of);
        pool.connected(connection, first);
    }

    /** From the connection: TCP stands, and TLS failed or the origin closed before requests could be sent. */
    void notReady(Channel of, OriginFailure.Reason reason, String problem) {
        InetSocketAddress address = open.remove(of);
        if (address != null) {
            noneFrom(address, reason, problem);
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
        List<InetAddress> all = pool.allowed(future.getNow());
        if (all.isEmpty()) {
            fail(OriginFailure.Reason.DESTINATION, "no address that requests may go to");
            return;
        }
        addresses = all.size() > ADDRESSES_MAX ? all.subList(0, ADDRESSES_MAX) : all;
        tryNext();
    }

    private void tryNext() {
        InetSocketAddress address =
                new InetSocketAddress(addresses.get(tried), pool.origin().port());
        tried++;
        if (tried < addresses.size()) {
            nextAddress.set(TimeUnit.MILLISECONDS.toNanos(NEXT_ADDRESS_MILLIS));
        } else {
            nextAddress.clear();
        }
        ChannelFuture connect =
                pool.client().bootstrap().clone().handler(initializer()).connect(address);
        if (connect.isDone() && !connect.isSuccess()) {
            // There is no socket, and Netty would tell listeners so on a thread of its own.
            pool.eventLoop().execute(() -> {
                if (!ended) {
                    notConnected(address, connect.cause());
                }
            });
            return;
        }
        open.put(connect.channel(), address);
        connect.addListener(future -> {
            if (!future.isSuccess() && open.remove(connect.channel()) != null) {
                notConnected(address, future.cause());
            }
        });
    }

    private void notConnected(InetSocketAddress address, Throwable cause) {
        OriginFailure.Reason reason = cause instanceof ChannelException
                ? OriginFailure.Reason.INTERNAL
                : OriginFailure.Reason.CONNECT_REFUSED;
        noneFrom(address, reason, "connecting to " + address + ": " + text(cause));
    }

    private ChannelInitializer<SocketChannel> initializer() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel made) {
                if (preface != null) {
                    made.pipeline().addLast(new ConnectionPreface(preface));
                }
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

    /** There will be no connection to this address: the next one is tried, or those under way are all there is. */
    private void noneFrom(InetSocketAddress address, OriginFailure.Reason reason, String problem) {
        pool.client().addresses().failed(pool.origin().host(), address.getAddress());
        lastProblem = problem;
        if (tried < addresses.size()) {
            tryNext();
        } else if (open.isEmpty()) {
            fail(reason, problem);
        }
    }

    private void timedOut() {
        String where = open.isEmpty()
                ? lastProblem
                : "connecting to " + open.values().iterator().next();
        fail(
                OriginFailure.Reason.CONNECT_TIMEOUT,
                where + " took longer than " + PooledOriginClient.millis(settings.connectTimeoutNanos()));
    }

    private void fail(OriginFailure.Reason reason, String problem) {
        if (ended) {
            return;
        }
        PooledCall first = call;
        call = null;
        end(null);
        pool.connectFailed(first, reason, pool.origin() + ": " + problem);
    }

    /**
     * No connection is wanted any more from what is still under way. What was begun before the winner was slow; what was begun after it had less
     * time, which says nothing.
     *
     * @param winner null when there is none: then all were slow
     */
    private void end(@Nullable Channel winner) {
        ended = true;
        deadline.cancel();
        nextAddress.cancel();
        boolean isSlow = !pool.client().isClosed();
        List<Channel> late = new ArrayList<>(0);
        for (Map.Entry<Channel, InetSocketAddress> each : open.entrySet()) {
            if (each.getKey().equals(winner)) {
                isSlow = false;
                continue;
            }
            if (isSlow) {
                pool.client()
                        .addresses()
                        .failed(pool.origin().host(), each.getValue().getAddress());
            }
            late.add(each.getKey());
        }
        open.clear();
        late.forEach(Channel::close);
    }

    private static String text(Throwable cause) {
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
