package io.millrace.proxy.fetch;

import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
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
            OriginConfig.Http2 http2,
            boolean tunnel) {
        /** @param asksForServices whether service records are asked for: without, a port that is named is the same place as one that is not */
        static Key of(OriginRequest request, boolean asksForServices) {
            Origin origin =
                    asksForServices ? request.origin() : request.origin().withoutSrv();
            String tlsName = origin.isSecure() ? request.tlsName() : "";
            OriginTlsConfig.Context tls = origin.isSecure() ? request.tls().context() : null;
            return new Key(origin, tlsName, tls, request.addresses(), request.http2(), request.mayBecomeTunnel());
        }
    }

    /** An origin with all but one of this many parts of its connections in use is crowded. */
    private static final int CROWDED_PARTS = 8;

    private final PooledOriginClient client;
    private final Key key;
    private final OriginStatistics statistics;
    private final ArrayDeque<OriginConnection> idle = new ArrayDeque<>();
    /** HTTP/2 connections that take calls, the oldest first. */
    private final ArrayDeque<MultiplexedConnection> multiplexed = new ArrayDeque<>(0);
    /** Calls that share a connection which is being made, if it is one of HTTP/2. */
    private final ArrayDeque<PooledCall> sharing = new ArrayDeque<>(0);

    private final ArrayDeque<PooledCall> waiting = new ArrayDeque<>();
    private final Deadline waitingDeadline;
    private int active;
    private int connecting;
    private int idleMultiplexed;
    /** Whether the last connection spoke HTTP/1.1 although HTTP/2 was offered: then none is shared before it stands. */
    private boolean http1;

    private boolean serving;
    private final Runnable afterRoom = this::roomCame;
    private boolean roomQueued;

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
        if (isMultiplexing() && (startStream(call) || share(call))) {
            return;
        }
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

    /**
     * Goes on with a call whose connection or stream had ended: on a fresh connection, which takes that one's place, or in HTTP/2 on one that is
     * there or being made.
     */
    void retry(PooledCall call) {
        statistics.retries++;
        if (isMultiplexing() && (startStream(call) || share(call))) {
            return;
        }
        if (!isMultiplexing() || http1 || hasRoom(call.request().settings())) {
            connect(call);
        } else {
            enqueue(call);
        }
    }

    private boolean isMultiplexing() {
        return key.http2() != OriginConfig.Http2.OFF;
    }

    /** Choice of HTTP/2 for its connections. */
    OriginConfig.Http2 http2() {
        return key.http2();
    }

    /** Begins a call on a stream of an HTTP/2 connection; false when none takes one. */
    private boolean startStream(PooledCall call) {
        for (MultiplexedConnection each : multiplexed) {
            if (each.hasCapacity()) {
                statistics.reuses++;
                each.start(call);
                return true;
            }
        }
        return false;
    }

    /** Lets a call wait for a connection that is being made for another. */
    private boolean share(PooledCall call) {
        if (connecting == 0
                || http1
                || sharing.size()
                        >= (long) connecting * call.request().settings().http2StreamsMax()) {
            return false;
        }
        sharing.addLast(call);
        return true;
    }

    /** An HTTP/2 connection was made: for the call it was made for, and for those that share it. */
    void connected(MultiplexedConnection connection, @Nullable PooledCall call) {
        connecting--;
        statistics.connectionsConnecting--;
        statistics.connects++;
        statistics.http2Connects++;
        http1 = false;
        multiplexed.addLast(connection);
        idleMultiplexed++;
        statistics.connectionsIdle++;
        statistics.http2Connections++;
        connection.keepIdle();
        if (call != null) {
            connection.start(call);
        }
        acquireShared();
        serveWaiting();
        if (client.isClosed() && !connection.isActive()) {
            connection.closeUnused();
        }
    }

    /** Those that shared a connection which is made now, or is not one that can be shared, get what there is for them. */
    private void acquireShared() {
        for (int left = sharing.size(); left > 0; left--) {
            PooledCall call = sharing.pollFirst();
            if (call == null) {
                return;
            }
            acquire(call);
        }
    }

    /** An HTTP/2 connection carries its first call of now. */
    void becameActive(MultiplexedConnection connection) {
        idleMultiplexed--;
        active++;
        statistics.connectionsIdle--;
        statistics.connectionsActive++;
    }

    /** An HTTP/2 connection has carried its last call of now. */
    void becameIdle(MultiplexedConnection connection) {
        active--;
        idleMultiplexed++;
        statistics.connectionsActive--;
        statistics.connectionsIdle++;
    }

    /** An HTTP/2 connection takes no more calls; those that it has go on. */
    void retire(MultiplexedConnection connection) {
        multiplexed.remove(connection);
    }

    /** An HTTP/2 connection is closed. Its calls are told after this, and may go on with another. */
    void closed(MultiplexedConnection connection) {
        statistics.http2Connections--;
        if (connection.isActive()) {
            active--;
            statistics.connectionsActive--;
        } else {
            idleMultiplexed--;
            statistics.connectionsIdle--;
        }
        afterRoom();
    }

    /** Serves those that wait, once what is under way is over. */
    void afterRoom() {
        if (!roomQueued) {
            roomQueued = true;
            eventLoop().execute(afterRoom);
        }
    }

    private void roomCame() {
        roomQueued = false;
        afterClose();
    }

    /** A connection was made: for the call it was made for, or for whoever is next when that call is gone. */
    void connected(OriginConnection connection, @Nullable PooledCall call) {
        connecting--;
        statistics.connectionsConnecting--;
        statistics.connects++;
        http1 = true;
        if (call != null) {
            active++;
            statistics.connectionsActive++;
            call.start(connection);
        } else {
            offer(connection);
        }
        acquireShared();
    }

    /** No connection could be made. */
    void connectFailed(@Nullable PooledCall call, OriginFailure.Reason reason, String message) {
        connecting--;
        statistics.connectionsConnecting--;
        statistics.connectFailures++;
        if (call != null) {
            call.failed(reason, message, true);
        }
        PooledCall shared;
        while (connecting == 0 && (shared = sharing.pollFirst()) != null) {
            shared.failed(reason, message, true);
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
        } else {
            sharing.remove(call);
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
        while ((call = sharing.pollFirst()) != null) {
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
        for (MultiplexedConnection each : new ArrayList<>(multiplexed)) {
            if (!each.isActive()) {
                each.closeUnused();
            }
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
        return connecting + active + idle.size() + idleMultiplexed >= limit(settings);
    }

    /** Whether the unused connections, one that has just become so among them, are no more than are kept. */
    boolean keepsIdle(FetchSettings settings) {
        return idle.size() + idleMultiplexed <= settings.idleConnectionsMax();
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
                    && (hasRoom(first.request().settings()) || hasStream())) {
                pollWaiting();
                if (!isMultiplexing() || !startStream(first)) {
                    serve(first);
                }
            }
        } finally {
            serving = false;
        }
    }

    private boolean hasStream() {
        for (MultiplexedConnection each : multiplexed) {
            if (each.hasCapacity()) {
                return true;
            }
        }
        return false;
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
        if (active == 0 && connecting == 0 && idle.isEmpty() && idleMultiplexed == 0 && waiting.isEmpty()) {
            waitingDeadline.cancel();
            client.forget(key, this);
        }
    }
}
