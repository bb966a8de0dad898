package io.millrace.proxy.fetch;

import io.millrace.proxy.config.OriginTlsConfig;
import io.millrace.proxy.memory.SlowClients;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop to one origin, and the calls that wait for one of them.
 *
 * <p>A connection is in one of three places: being made, carrying a call, or unused; the unused one that was used last is taken first, so that the others can
 * reach their idle deadline. A call without a connection either has one made for it, or waits when the origin has as many as it may; it is then served, in order
 * of arrival, by whatever comes first: a connection that becomes free, or room to make one.
 *
 * <p>Confined to one event loop.
 */
final class OriginPool {

    /**
     * What makes two connections interchangeable: where they go and may go, whose certificate was checked, and whether they are for HTTP. Connections that
     * are, or may become, tunnels have a pool of their own, so that tunnels never take a place from requests.
     */
    record Key(
            Origin origin,
            String tlsName,
            OriginTlsConfig.@Nullable Context tls,
            @Nullable AddressCheck addresses,
            boolean tunnel) {
        /** @param asksForServices whether service records are asked for: without, a port that is named is the same place as one that is not */
        static Key of(OriginRequest request, boolean asksForServices) {
            Origin origin =
                    asksForServices ? request.origin() : request.origin().atItsPort();
            String tlsName = origin.isSecure() ? request.tlsName() : "";
            OriginTlsConfig.Context tls = origin.isSecure() ? request.tls().context() : null;
            return new Key(origin, tlsName, tls, request.addresses(), request.mayBecomeTunnel());
        }
    }

    /** An origin with all but one of so many parts of its connections in use is crowded. */
    private static final int CROWDED_PARTS = 8;

    private final PooledOriginClient client;
    private final Key key;
    private final OriginStatistics statistics;
    private final ArrayDeque<OriginConnection> idle = new ArrayDeque<>();
    private final ArrayDeque<PooledCall> waiting = new ArrayDeque<>();
    private final Deadline waitingDeadline;
    private int active;
    private int connecting;
    private boolean serving;

    OriginPool(PooledOriginClient client, Key key) {
        this.client = client;
        this.key = key;
        statistics = client.statistics();
        waitingDeadline = new Deadline(client.eventLoop(), this::expireWaiting);
    }

    Origin origin() {
        return key.origin();
    }

    String tlsName() {
        return key.tlsName();
    }

    /** TLS settings of its connections; null where they are not encrypted. */
    OriginTlsConfig.@Nullable Context tls() {
        return key.tls();
    }

    /** Those of a name's addresses that may be connected to. */
    List<InetAddress> allowed(List<InetAddress> all) {
        AddressCheck check = key.addresses();
        if (check == null) {
            return all;
        }
        List<InetAddress> allowed = new ArrayList<>(all);
        allowed.removeIf(address -> !check.allows(address, key.origin().port()));
        return allowed;
    }

    EventLoop eventLoop() {
        return client.eventLoop();
    }

    PooledOriginClient client() {
        return client;
    }

    /** Finds or makes a connection for a call, or lets it wait, or fails it. */
    void acquire(PooledCall call) {
        if (hasRoom(call.request().settings())) {
            serve(call);
        } else if (key.tunnel()) {
            // Tunnels live long: a call that waited for the end of one would mostly wait in vain.
            call.failed(
                    OriginFailure.Reason.TUNNEL_LIMIT,
                    key.origin() + ": " + (connecting + active) + " tunnels are open, limit="
                            + call.request().settings().tunnelsMax() + " (origin.tunnels_max)",
                    true);
            maybeForget();
        } else {
            enqueue(call);
        }
    }

    /** There is room: an unused connection, or a fresh one. */
    private void serve(PooledCall call) {
        boolean own = call.request().isAlone();
        OriginConnection connection = own ? null : takeIdle(call.request().settings());
        if (own) {
            makePlace(call.request().settings());
        }
        if (connection != null) {
            activate(connection, call);
        } else {
            connect(call);
        }
    }

    /** Makes a fresh connection for a call whose reused one had ended; it takes that one's place. */
    void retry(PooledCall call) {
        statistics.retries++;
        connect(call);
    }

    /** A connection was made: for the call it was made for, or for whoever is next when that call is gone. */
    void connected(OriginConnection connection, @Nullable PooledCall call) {
        connecting--;
        statistics.connectionsConnecting--;
        statistics.connects++;
        if (call != null) {
            active++;
            statistics.connectionsActive++;
            call.start(connection);
        } else {
            offer(connection);
        }
    }

    /** No connection could be made. */
    void connectFailed(@Nullable PooledCall call, OriginFailure.Reason reason, String message) {
        connecting--;
        statistics.connectionsConnecting--;
        statistics.connectFailures++;
        if (call != null) {
            call.failed(reason, message, true);
        }
        serveWaiting();
        maybeForget();
    }

    /** A connection has carried its call to the end and can carry another. */
    void release(OriginConnection connection) {
        active--;
        statistics.connectionsActive--;
        offer(connection);
    }

    /** A connection that carried a call is closed; the call is the caller's to end or to {@link #retry}, before {@link #afterClose}. */
    void closedActive() {
        active--;
        statistics.connectionsActive--;
    }

    /** An unused connection is closed. */
    void closedIdle(OriginConnection connection) {
        if (idle.removeLastOccurrence(connection)) {
            statistics.connectionsIdle--;
        }
        afterClose();
    }

    /** Uses the room that a closed connection left. */
    void afterClose() {
        serveWaiting();
        maybeForget();
    }

    /** A waiting call was cancelled. */
    void withdraw(PooledCall call) {
        if (waiting.remove(call)) {
            statistics.callsWaiting--;
        }
        maybeForget();
    }

    /** Closes what is unused and fails what waits. */
    void close() {
        waitingDeadline.cancel();
        PooledCall call;
        while ((call = waiting.pollFirst()) != null) {
            statistics.callsWaiting--;
            call.failed(
                    OriginFailure.Reason.CANCELLED,
                    key.origin() + ": the client was closed while the call waited for a connection",
                    true);
        }
        OriginConnection connection;
        while ((connection = idle.pollLast()) != null) {
            statistics.connectionsIdle--;
            connection.closeUnused();
        }
    }

    /** For a request whose connection serves no other: unused ones give way, the one used longest ago first. */
    private void makePlace(FetchSettings settings) {
        OriginConnection oldest;
        while (isFull(settings) && (oldest = idle.pollFirst()) != null) {
            statistics.connectionsIdle--;
            oldest.closeUnused();
        }
    }

    private @Nullable OriginConnection takeIdle(FetchSettings settings) {
        OriginConnection connection;
        while ((connection = idle.pollLast()) != null) {
            statistics.connectionsIdle--;
            if (connection.isUsable(settings)) {
                return connection;
            }
            connection.closeUnused();
        }
        return null;
    }

    private void activate(OriginConnection connection, PooledCall call) {
        active++;
        statistics.connectionsActive++;
        statistics.reuses++;
        call.start(connection);
    }

    /** Gives an unused connection to the first that waits, or keeps it, or closes it. */
    private void offer(OriginConnection connection) {
        if (connection.isForOneRequest()) {
            connection.closeUnused();
            afterClose();
            return;
        }
        if (!hasRoom(connection.settings())) {
            // Fewer are allowed than when it was made, or than others allow: those who wait may have its place all the
            // same.
            connection.closeUnused();
            afterClose();
            return;
        }
        PooledCall next = pollWaiting();
        if (next != null && next.request().isAlone()) {
            connection.closeUnused();
            connect(next);
        } else if (next != null) {
            if (connection.hasServed()) {
                activate(connection, next);
            } else {
                active++;
                statistics.connectionsActive++;
                next.start(connection);
            }
        } else if (client.isClosed()
                || key.tunnel()
                || isFull(connection.settings())
                || idle.size() >= connection.settings().idleConnectionsMax()) {
            connection.closeUnused();
            maybeForget();
        } else {
            idle.addLast(connection);
            statistics.connectionsIdle++;
            connection.keepIdle();
        }
    }

    /** Whether one more connection may carry a call. */
    private boolean hasRoom(FetchSettings settings) {
        return connecting + active < limit(settings);
    }

    /** Whether there are as many connections as there may be; more where fewer are allowed than before. */
    private boolean isFull(FetchSettings settings) {
        return connecting + active + idle.size() >= limit(settings);
    }

    private int limit(FetchSettings settings) {
        return key.tunnel() ? settings.tunnelsMax() : settings.connectionsMax();
    }

    /** How much others want a connection that carries a call. */
    SlowClients.OriginDemand demand(FetchSettings settings) {
        if (!waiting.isEmpty()) {
            return SlowClients.OriginDemand.AWAITED;
        }
        return (long) CROWDED_PARTS * (connecting + active) >= (long) (CROWDED_PARTS - 1) * settings.connectionsMax()
                ? SlowClients.OriginDemand.CROWDED
                : SlowClients.OriginDemand.NONE;
    }

    private void connect(PooledCall call) {
        connecting++;
        statistics.connectionsConnecting++;
        ConnectAttempt attempt = new ConnectAttempt(this, call);
        call.connecting(attempt);
        attempt.start();
    }

    private void enqueue(PooledCall call) {
        FetchSettings settings = call.request().settings();
        if (waiting.size() >= settings.queueMax()) {
            call.failed(
                    OriginFailure.Reason.QUEUE_FULL,
                    key.origin() + ": " + settings.connectionsMax() + " connections are in use and " + waiting.size()
                            + " calls wait already, limit=" + settings.queueMax(),
                    true);
            maybeForget();
            return;
        }
        call.waitUntil(waitingDeadline.now() + settings.queueTimeoutNanos());
        waiting.addLast(call);
        statistics.callsWaiting++;
        client.onWaiting();
        if (waitingDeadline.remainingNanos() > settings.queueTimeoutNanos()) {
            waitingDeadline.set(settings.queueTimeoutNanos());
        }
    }

    private @Nullable PooledCall pollWaiting() {
        PooledCall next = waiting.pollFirst();
        if (next != null) {
            statistics.callsWaiting--;
        }
        return next;
    }

    /** One after the other: an attempt that fails at once comes back here, and does not begin the next within itself. */
    private void serveWaiting() {
        if (serving) {
            return;
        }
        serving = true;
        try {
            PooledCall first;
            while (!client.isClosed()
                    && (first = waiting.peekFirst()) != null
                    && hasRoom(first.request().settings())) {
                pollWaiting();
                serve(first);
            }
        } finally {
            serving = false;
        }
    }

    private void expireWaiting() {
        long now = waitingDeadline.now();
        long nearest = Long.MAX_VALUE;
        ArrayDeque<PooledCall> expired = new ArrayDeque<>();
        for (Iterator<PooledCall> each = waiting.iterator(); each.hasNext(); ) {
            PooledCall call = each.next();
            long remaining = call.waitsUntil() - now;
            if (remaining <= 0) {
                each.remove();
                statistics.callsWaiting--;
                expired.addLast(call);
            } else {
                nearest = Math.min(nearest, remaining);
            }
        }
        if (nearest != Long.MAX_VALUE) {
            waitingDeadline.set(nearest);
        }
        for (PooledCall call : expired) {
            FetchSettings settings = call.request().settings();
            call.failed(
                    OriginFailure.Reason.QUEUE_TIMEOUT,
                    key.origin() + ": none of " + settings.connectionsMax() + " connections became free within "
                            + PooledOriginClient.millis(settings.queueTimeoutNanos()),
                    true);
        }
        maybeForget();
    }

    private void maybeForget() {
        if (active == 0 && connecting == 0 && idle.isEmpty() && waiting.isEmpty()) {
            waitingDeadline.cancel();
            client.forget(key, this);
        }
    }
}
