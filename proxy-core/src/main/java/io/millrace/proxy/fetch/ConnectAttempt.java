package io.millrace.proxy.fetch;

import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.dns.ServiceTarget;
import io.millrace.proxy.fetch.http1.ConnectionPreface;
import io.millrace.proxy.fetch.response.OriginResponseDecoder;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to make one connection to an origin. Steps: query DNS SRV records if configured, resolve the name,
 * connect to an address, TLS handshake. If an address fails or takes {@value #NEXT_ADDRESS_MILLIS} ms, the next address
 * is tried in parallel; the first ready connection wins (RFC 8305 s5). For a while, later attempts try failed and slow
 * addresses last.
 *
 * <p>An origin on a Unix domain socket has one address, its path, and no name to resolve.
 *
 * <p>Targets of SRV records are tried one after the other (RFC 2782), like addresses of one name.
 *
 * <p>One deadline covers all steps.
 *
 * <p>Confined to one event loop.
 */
final class ConnectAttempt {

    /** Limit of addresses to try, over all targets. */
    private static final int ADDRESSES_MAX = 8;

    /** The "Connection Attempt Delay" of RFC 8305 s5. */
    private static final long NEXT_ADDRESS_MILLIS = 250;

    private final OriginPool pool;
    private final FetchSettings settings;
    private final Deadline deadline;
    private final Deadline nextAddress;
    /** Unfinished channels with their addresses, in order of their start. */
    private final Map<Channel, Candidate> open = new LinkedHashMap<>(2);
    /** Further targets of the SRV records. */
    private final ArrayDeque<ServiceTarget> targets = new ArrayDeque<>(0);

    private final byte @Nullable [] preface;
    /** Local address of the connection, if it is made from a client's address; null otherwise. */
    private final @Nullable InetAddress client;

    /** Null for a connection in clear text. */
    private @Nullable SslContext sslContext;

    private @Nullable PooledCall call;
    private final List<Candidate> candidates = new ArrayList<>(2);
    /** Number of {@link #candidates} that were tried. */
    private int tried;
    /** True if a resolution of a host name is in progress. */
    private boolean resolving;

    /** The last failure, for the message if the attempt times out. */
    private String lastProblem = "name resolution";

    private boolean ended;

    /** An address with the host name from which it was resolved, or a Unix domain socket with its path. */
    private record Candidate(String host, SocketAddress address) {
        /** The IP address; null for a Unix domain socket. */
        @Nullable
        InetAddress ip() {
            return address instanceof InetSocketAddress inet ? inet.getAddress() : null;
        }

        /** The address for messages. */
        @Override
        public String toString() {
            return ip() == null ? host : address.toString();
        }
    }

    ConnectAttempt(OriginPool pool, PooledCall call) {
        this.pool = pool;
        this.call = call;
        settings = call.request().settings();
        preface = call.request().preface();
        client = call.request().client();
        deadline = new Deadline(pool.eventLoop(), this::timedOut);
        nextAddress = new Deadline(pool.eventLoop(), this::tryMore);
    }

    FetchSettings settings() {
        return settings;
    }

    /** Returns true if the connection can serve only one client, because of its PROXY header or its local address. */
    boolean isForOneRequest() {
        return preface != null || client != null;
    }

    /** Returns the local address for a connection to an address, with port 0; null if the system chooses it. */
    private @Nullable InetSocketAddress localFor(Candidate candidate) {
        InetAddress ip = candidate.ip();
        if (ip == null) {
            return null;
        }
        if (client == null) {
            return pool.source().towards(ip);
        }
        // A client on this machine has an address that other machines cannot answer to.
        return client.isLoopbackAddress() && !ip.isLoopbackAddress() ? null : new InetSocketAddress(client, 0);
    }

    void start() {
        deadline.set(settings.connectTimeoutNanos());
        OriginTlsConfig.Context tls = pool.tls();
        if (tls != null) {
            try {
                sslContext = pool.client().sslContext(tls, pool.http2());
            } catch (SSLException e) {
                String problem = "TLS settings: " + e.getMessage();
                // The caller of {@code start} does not expect the end of the attempt within the call.
                pool.eventLoop().execute(() -> fail(OriginFailure.Reason.TLS, problem));
                return;
            }
        }
        Origin origin = pool.origin();
        String socket = origin.socket();
        if (socket != null) {
            candidates.add(new Candidate("unix:" + socket, pool.client().socketAddress(socket)));
            tryNext();
            return;
        }
        Future<List<ServiceTarget>> services =
                origin.usesSrv() ? pool.client().addresses().services(origin.service(), origin.host()) : null;
        if (services == null) {
            resolve(origin.host(), origin.port());
        } else if (services.isDone()) {
            servicesFound(services.getNow());
        } else {
            services.addListener((Future<List<ServiceTarget>> future) -> servicesFound(future.getNow()));
        }
    }

    /** Continues with the targets of SRV records; with the origin's host if there are none. */
    private void servicesFound(List<ServiceTarget> found) {
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
            fail(OriginFailure.Reason.DNS, "the service record of the name says that the service does not exist");
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

    /** Detaches the call that has waited for this connection. The connection is still made, for other calls. */
    void withdraw() {
        call = null;
    }

    /** Ends the attempt without a report to its call, because the origin client is closed. */
    void abandon() {
        call = null;
        fail(OriginFailure.Reason.CANCELLED, "the origin client was closed");
    }

    /** Called by the connection when it can send requests. */
    void ready(Channel channel, OriginConnection connection) {
        Candidate candidate = open.get(channel);
        if (ended || candidate == null) {
            open.remove(channel);
            connection.closeUnused();
            return;
        }
        noteWorked(candidate);
        PooledCall waitingCall = call;
        call = null;
        end(channel);
        pool.connected(connection, waitingCall);
    }

    /** Returns true if an established connection uses HTTP/2. TLS must be complete. */
    boolean isHttp2(Channel channel) {
        return switch (pool.http2()) {
            case OFF -> false;
            case PRIOR_KNOWLEDGE -> true;
            case ALPN -> {
                SslHandler tls = channel.pipeline().get(SslHandler.class);
                yield tls != null && ApplicationProtocolNames.HTTP_2.equals(tls.applicationProtocol());
            }
        };
    }

    /** Called by the connection when it can send requests by HTTP/2. */
    void readyForHttp2(Channel channel) {
        Candidate candidate = open.get(channel);
        if (ended || candidate == null) {
            open.remove(channel);
            channel.close();
            return;
        }
        noteWorked(candidate);
        PooledCall waitingCall = call;
        call = null;
        end(channel);
        MultiplexedConnection connection = new MultiplexedConnection(pool, settings);
        channel.pipeline().addLast(connection.handler());
        pool.connected(connection, waitingCall);
    }

    /** Called by the connection when TLS failed, or when the origin closed before requests could be sent. */
    void notReady(Channel channel, OriginFailure.Reason reason, String problem) {
        Candidate candidate = open.remove(channel);
        if (candidate != null) {
            addressFailed(candidate, reason, problem);
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
            tryMoreOrFail(OriginFailure.Reason.DNS, lastProblem);
            return;
        }
        List<InetAddress> all = pool.allowed(future.getNow());
        if (all.isEmpty()) {
            fail(OriginFailure.Reason.DESTINATION, "all addresses of the host are denied");
            return;
        }
        if (client != null) {
            all = new ArrayList<>(all);
            all.removeIf(address -> address instanceof Inet6Address != client instanceof Inet6Address);
            if (all.isEmpty()) {
                lastProblem = host + " has no address of the family of the client's address " + client.getHostAddress()
                        + " (listen[].transparent)";
            }
        }
        for (InetAddress address : all) {
            if (candidates.size() < ADDRESSES_MAX) {
                candidates.add(new Candidate(host, new InetSocketAddress(address, port)));
            }
        }
        tryMoreOrFail(OriginFailure.Reason.CONNECT_REFUSED, lastProblem);
    }

    private boolean hasMore() {
        return tried < candidates.size() || (!targets.isEmpty() && candidates.size() < ADDRESSES_MAX);
    }

    /** Tries the next address. If none is left, resolves the next target. */
    private void tryMore() {
        if (tried < candidates.size()) {
            tryNext();
        } else if (!resolving) {
            nextTarget();
        }
    }

    private void tryMoreOrFail(OriginFailure.Reason reason, String problem) {
        if (hasMore()) {
            tryMore();
        } else if (open.isEmpty() && !resolving) {
            fail(reason, problem);
        }
    }

    private void tryNext() {
        Candidate candidate = candidates.get(tried);
        tried++;
        if (hasMore()) {
            nextAddress.set(TimeUnit.MILLISECONDS.toNanos(NEXT_ADDRESS_MILLIS));
        } else {
            nextAddress.clear();
        }
        InetAddress ip = candidate.ip();
        Bootstrap bootstrap = (ip == null
                        ? pool.client().socketBootstrap()
                        : pool.client().bootstrap())
                .clone()
                .handler(initializer());
        InetSocketAddress local = localFor(candidate);
        if (local != null && pool.client().isEpoll()) {
            // Lets the kernel choose the local port when the remote address is known. So one local port can serve
            // several destinations.
            bootstrap.option(EpollChannelOption.IP_BIND_ADDRESS_NO_PORT, true);
            if (client != null) {
                // Permits an address of another machine.
                bootstrap.option(EpollChannelOption.IP_TRANSPARENT, true);
            }
        }
        ChannelFuture connect =
                local == null ? bootstrap.connect(candidate.address()) : bootstrap.connect(candidate.address(), local);
        if (connect.isDone() && !connect.isSuccess()) {
            // No socket could be created. Netty would notify listeners on another thread.
            pool.eventLoop().execute(() -> {
                if (!ended) {
                    notConnected(candidate, connect.cause());
                }
            });
            return;
        }
        open.put(connect.channel(), candidate);
        connect.addListener(future -> {
            if (!future.isSuccess() && open.remove(connect.channel()) != null) {
                notConnected(candidate, future.cause());
            }
        });
    }

    private void notConnected(Candidate candidate, Throwable cause) {
        OriginFailure.Reason reason = cause instanceof ChannelException
                ? OriginFailure.Reason.INTERNAL
                : OriginFailure.Reason.CONNECT_REFUSED;
        InetSocketAddress local = localFor(candidate);
        String key = client == null ? "source_address" : "listen[].transparent";
        String from = local == null ? "" : " from " + local.getAddress().getHostAddress() + " (" + key + ")";
        addressFailed(candidate, reason, "connecting to " + candidate + from + ": " + text(cause));
    }

    private ChannelInitializer<Channel> initializer() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(pool.client().writes());
                if (preface != null) {
                    channel.pipeline().addLast(new ConnectionPreface(preface));
                }
                if (sslContext != null) {
                    channel.pipeline().addLast(newSslHandler(sslContext, channel));
                }
                OriginResponseDecoder decoder = new OriginResponseDecoder();
                channel.pipeline().addLast(decoder, new OriginConnection(pool, ConnectAttempt.this, channel, decoder));
            }
        };
    }

    private SslHandler newSslHandler(SslContext context, Channel channel) {
        SslHandler handler = context.newHandler(
                channel.alloc(), pool.tlsName(), pool.origin().port());
        // The deadline of the attempt covers the handshake.
        handler.setHandshakeTimeoutMillis(0);
        return handler;
    }

    /** Handles a failed address: tries the next one, or waits for the remaining attempts. */
    private void addressFailed(Candidate candidate, OriginFailure.Reason reason, String problem) {
        noteFailed(candidate);
        lastProblem = problem;
        tryMoreOrFail(reason, problem);
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
        PooledCall waitingCall = call;
        call = null;
        end(null);
        pool.connectFailed(waitingCall, reason, pool.origin() + ": " + problem);
    }

    /**
     * Ends the attempt and closes all unfinished channels. Addresses that were started before the winner count as slow.
     * Addresses that were started later had less time, so they do not count as slow.
     *
     * @param winner the first ready channel; null for none, and then all unfinished addresses count as slow
     */
    private void end(@Nullable Channel winner) {
        ended = true;
        deadline.cancel();
        nextAddress.cancel();
        boolean isSlow = !pool.client().isClosed();
        List<Channel> unfinished = new ArrayList<>(0);
        for (Map.Entry<Channel, Candidate> each : open.entrySet()) {
            if (each.getKey().equals(winner)) {
                isSlow = false;
                continue;
            }
            if (isSlow) {
                noteFailed(each.getValue());
            }
            unfinished.add(each.getKey());
        }
        open.clear();
        unfinished.forEach(Channel::close);
    }

    private void noteWorked(Candidate candidate) {
        InetAddress ip = candidate.ip();
        if (ip != null) {
            pool.client().addresses().worked(candidate.host(), ip);
        }
    }

    private void noteFailed(Candidate candidate) {
        InetAddress ip = candidate.ip();
        if (ip != null) {
            pool.client().addresses().failed(candidate.host(), ip);
        }
    }

    private static String text(Throwable cause) {
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
