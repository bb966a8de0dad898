package io.millrace.proxy.fetch;

import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.dns.ServiceTarget;
import io.millrace.proxy.fetch.http1.ConnectionPreface;
import io.millrace.proxy.fetch.response.OriginResponseDecoder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get one connection: ask where the service is if records may say so, resolve the name, connect to its addresses, shake hands over TLS. An address has {@value #NEXT_ADDRESS_MILLIS} ms before
 * the next one is tried beside it, or until it fails; the first connection that is ready wins (RFC 8305 s5). Addresses that failed, or were slower than a later
 * one, are tried last for a while.
 *
 * <p>Where there are service records their targets are tried one after the other (RFC 2782), as if they were addresses of one name.
 *
 * <p>The whole of it has one deadline.
 *
 * <p>Confined to one event loop.
 */
final class ConnectAttempt {

    /** Most addresses tried, of all targets together; a name with more is tried at its first ones. */
    private static final int ADDRESSES_MAX = 8;

    /** The "Connection Attempt Delay" of RFC 8305 s5. */
    private static final long NEXT_ADDRESS_MILLIS = 250;

    private final OriginPool pool;
    private final FetchSettings settings;
    private final Deadline deadline;
    private final Deadline nextAddress;
    /** Being connected, each with its address, in the order in which they were begun. */
    private final Map<Channel, Place> open = new LinkedHashMap<>(2);
    /** Where else the service is, by its records. */
    private final ArrayDeque<ServiceTarget> targets = new ArrayDeque<>(0);

    private final byte @Nullable [] preface;
    /** Null where the connection is not encrypted. */
    private @Nullable SslContext sslContext;

    private @Nullable PooledCall call;
    private final List<Place> places = new ArrayList<>(2);
    private int tried;
    /** Whether it is being asked for the addresses of one more host. */
    private boolean resolving;

    private String lastProblem = "name resolution";
    private boolean ended;

    /** An address of a host that is asked for by that name. */
    private record Place(String host, InetSocketAddress address) {}

    ConnectAttempt(OriginPool pool, PooledCall call) {
        this.pool = pool;
        this.call = call;
        settings = call.request().settings();
        preface = call.request().preface();
        deadline = new Deadline(pool.eventLoop(), this::timedOut);
        nextAddress = new Deadline(pool.eventLoop(), this::more);
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
        OriginTlsConfig.Context tls = pool.tls();
        if (tls != null) {
            try {
                sslContext = pool.client().sslContext(tls, pool.http2());
            } catch (SSLException e) {
                String problem = "TLS settings: " + e.getMessage();
                // The caller that starts an attempt does not expect its end meanwhile.
                pool.eventLoop().execute(() -> fail(OriginFailure.Reason.TLS, problem));
                return;
            }
        }
        Origin origin = pool.origin();
        Future<List<ServiceTarget>> services =
                origin.usesSrv() ? pool.client().addresses().services(origin.service(), origin.host()) : null;
        if (services == null) {
            resolve(origin.host(), origin.port());
        } else if (services.isDone()) {
            located(services.getNow());
        } else {
            services.addListener((Future<List<ServiceTarget>> future) -> located(future.getNow()));
        }
    }

    /** Where the service is, by its records; nowhere else than its name says where there are none. */
    private void located(List<ServiceTarget> found) {
        if (ended) {
            return;
        }
        for (ServiceTarget target : found) {
            if (!target.isNone() && target.port() > 0) {
                targets.add(target);
            }
        }
        if (found.isEmpty()) {
            resolve(pool.origin().host(), pool.origin().port());
        } else if (targets.isEmpty()) {
            fail(OriginFailure.Reason.DNS, "its service record says that it is nowhere");
        } else {
            nextTarget();
        }
    }

    private void nextTarget() {
        ServiceTarget target = targets.remove();
        resolve(target.host(), target.port());
    }

    private void resolve(String host, int port) {
        resolving = true;
        Future<List<InetAddress>> resolved = pool.client().addresses().resolve(host);
        if (resolved.isDone()) {
            resolved(host, port, resolved);
        } else {
            resolved.addListener((Future<List<InetAddress>> future) -> resolved(host, port, future));
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
        Place place = open.get(of);
        if (ended || place == null) {
            open.remove(of);
            connection.closeUnused();
            return;
        }
        pool.client().addresses().worked(place.host(), place.address().getAddress());
        PooledCall first = call;
        call = null;
        end(of);
        pool.connected(connection, first);
    }

    /** Whether HTTP/2 is spoken on a connection that stands, and was secured where it is to be. */
    boolean isHttp2(Channel of) {
        return switch (pool.http2()) {
            case OFF -> false;
            case PRIOR_KNOWLEDGE -> true;
            case ALPN -> {
                SslHandler tls = of.pipeline().get(SslHandler.class);
                yield tls != null && ApplicationProtocolNames.HTTP_2.equals(tls.applicationProtocol());
            }
        };
    }

    /** From the connection: requests can be sent in HTTP/2. */
    void readyForHttp2(Channel of) {
        Place place = open.get(of);
        if (ended || place == null) {
            open.remove(of);
            of.close();
            return;
        }
        pool.client().addresses().worked(place.host(), place.address().getAddress());
        PooledCall first = call;
        call = null;
        end(of);
        MultiplexedConnection made = new MultiplexedConnection(pool, settings);
        of.pipeline().addLast(made.handler());
        pool.connected(made, first);
    }

    /** From the connection: TCP stands, and TLS failed or the origin closed before requests could be sent. */
    void notReady(Channel of, OriginFailure.Reason reason, String problem) {
        Place place = open.remove(of);
        if (place != null) {
            noneFrom(place, reason, problem);
        }
    }

    private void resolved(String host, int port, Future<List<InetAddress>> future) {
        resolving = false;
        if (ended) {
            return;
        }
        if (!future.isSuccess() || future.getNow().isEmpty()) {
            Throwable cause = future.cause();
            lastProblem = "name resolution: " + (cause == null ? "no address" : text(cause));
            moreOrFail(OriginFailure.Reason.DNS, lastProblem);
            return;
        }
        List<InetAddress> all = pool.allowed(future.getNow());
        if (all.isEmpty()) {
            fail(OriginFailure.Reason.DESTINATION, "no address that requests may go to");
            return;
        }
        for (InetAddress address : all) {
            if (places.size() < ADDRESSES_MAX) {
                places.add(new Place(host, new InetSocketAddress(address, port)));
            }
        }
        moreOrFail(OriginFailure.Reason.CONNECT_REFUSED, lastProblem);
    }

    private boolean hasMore() {
        return tried < places.size() || (!targets.isEmpty() && places.size() < ADDRESSES_MAX);
    }

    /** Tries one more address, of the next target where those of the ones before were tried. */
    private void more() {
        if (tried < places.size()) {
            tryNext();
        } else if (!resolving) {
            nextTarget();
        }
    }

    private void moreOrFail(OriginFailure.Reason reason, String problem) {
        if (hasMore()) {
            more();
        } else if (open.isEmpty() && !resolving) {
            fail(reason, problem);
        }
    }

    private void tryNext() {
        Place place = places.get(tried);
        InetSocketAddress address = place.address();
        tried++;
        if (hasMore()) {
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
                    notConnected(place, connect.cause());
                }
            });
            return;
        }
        open.put(connect.channel(), place);
        connect.addListener(future -> {
            if (!future.isSuccess() && open.remove(connect.channel()) != null) {
                notConnected(place, future.cause());
            }
        });
    }

    private void notConnected(Place place, Throwable cause) {
        OriginFailure.Reason reason = cause instanceof ChannelException
                ? OriginFailure.Reason.INTERNAL
                : OriginFailure.Reason.CONNECT_REFUSED;
        noneFrom(place, reason, "connecting to " + place.address() + ": " + text(cause));
    }

    private ChannelInitializer<SocketChannel> initializer() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel made) {
                if (preface != null) {
                    made.pipeline().addLast(new ConnectionPreface(preface));
                }
                if (sslContext != null) {
                    made.pipeline().addLast(newSslHandler(sslContext, made));
                }
                OriginResponseDecoder decoder = new OriginResponseDecoder();
                made.pipeline().addLast(decoder, new OriginConnection(pool, ConnectAttempt.this, made, decoder));
            }
        };
    }

    private SslHandler newSslHandler(SslContext context, SocketChannel made) {
        SslHandler handler =
                context.newHandler(made.alloc(), pool.tlsName(), pool.origin().port());
        // The attempt's own deadline covers the handshake.
        handler.setHandshakeTimeoutMillis(0);
        return handler;
    }

    /** There will be no connection to this address: the next one is tried, or those under way are all there is. */
    private void noneFrom(Place place, OriginFailure.Reason reason, String problem) {
        pool.client().addresses().failed(place.host(), place.address().getAddress());
        lastProblem = problem;
        moreOrFail(reason, problem);
    }

    private void timedOut() {
        String where = open.isEmpty()
                ? lastProblem
                : "connecting to " + open.values().iterator().next().address();
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
        for (Map.Entry<Channel, Place> each : open.entrySet()) {
            if (each.getKey().equals(winner)) {
                isSlow = false;
                continue;
            }
            if (isSlow) {
                Place slow = each.getValue();
                pool.client().addresses().failed(slow.host(), slow.address().getAddress());
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
