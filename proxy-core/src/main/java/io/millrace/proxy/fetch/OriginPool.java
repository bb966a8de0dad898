package io.millrace.proxy.fetch;

import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.memory.SlowClients;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop to one origin, and the calls that wait for one of them.
 *
 * <p>A connection is being made, carries a call, or is idle. The most recently used idle connection is taken first, so
 * that other idle connections can reach their idle deadline. A call without a connection gets a new connection, or
 * waits if the origin has reached its limit. Waiting calls are served in order of arrival, as soon as a connection
 * becomes free or a new connection may be made.
 *
 * <p>Each connection also has a place of the process-wide limit ({@link PoolPlaces}).
 *
 * <p>Confined to one event loop.
 */
final class OriginPool {

    /**
     * The properties that make two connections interchangeable: the destination, the permitted and the local addresses,
     * the TLS settings with the name in the certificate, and the protocol. Connections for tunnels and for requests
     * with Upgrade have their own pool, so that they never take a place from other requests. CONNECT to a parent proxy
     * uses the pool of ordinary requests. Connections whose local address is the client's address (transparent proxy)
     * share one pool and its limits; each carries one request.
     */
    record Key(
            Origin origin,
            String tlsName,
            OriginTlsConfig.@Nullable Context tls,
            @Nullable AddressCheck addresses,
            OriginConfig.Http2 http2,
            SourceAddress source,
            boolean fromClient,
            boolean tunnel) {
        /**
         * @param queriesSrvRecords true if DNS SRV records are queried; if false, an explicit default port and
         *     an omitted port are equivalent
         */
        static Key of(OriginRequest request, boolean queriesSrvRecords) {
            Origin origin =
                    queriesSrvRecords ? request.origin() : request.origin().withoutSrv();
            String tlsName = origin.isSecure() ? request.tlsName() : "";
            OriginTlsConfig.Context tls = origin.isSecure() ? request.tls().context() : null;
            return new Key(
                    origin,
                    tlsName,
                    tls,
                    request.addresses(),
                    request.http2(),
                    request.source(),
                    request.client() != null,
                    request.mayBecomeTunnel());
        }

        /** Uses only the components in which most pools differ, as {@link Origin#hashCode} does. */
        @Override
        public int hashCode() {
            return 31 * origin.hashCode() + tlsName.hashCode();
        }
    }

    /** Denominator of a limit: an origin is crowded when at most 1/8 of its permitted connections is free. */
    private static final int CROWDED_PARTS = 8;

    private final PooledOriginClient client;
    private final Key key;
    private final OriginStatistics statistics;
    private final ArrayDeque<OriginConnection> idle = new ArrayDeque<>();
    /** HTTP/2 connections that accept calls, the oldest first. */
    private final ArrayDeque<MultiplexedConnection> multiplexed = new ArrayDeque<>(0);
    /** Calls that wait for a connection being made for another call, and will share it if it is HTTP/2. */
    private final ArrayDeque<PooledCall> sharing = new ArrayDeque<>(0);

    private final WaitingCalls waiting;
    /** Number of connections that carry calls. */
    private int active;

    /** Number of connections that are being made. */
    private int connecting;

    /** Number of HTTP/2 connections without calls. */
    private int idleMultiplexed;
    /**
     * True if the last connection used HTTP/1.1 although HTTP/2 was offered. Then no call waits to share a connection
     * being made.
     */
    private boolean lastWasHttp1;

    /** True while {@link #serveWaiting} runs. */
    private boolean serving;

    private final Runnable serveTask = this::serveNow;
    private boolean serveQueued;
    private final PoolPlaces places;

    OriginPool(PooledOriginClient client, Key key) {
        this.client = client;
        this.key = key;
        statistics = client.statistics();
        waiting = new WaitingCalls(client.eventLoop(), statistics, this::expireWaiting);
        places = new PoolPlaces(this, client.totals(), key.tunnel());
    }

    Origin origin() {
        return key.origin();
    }

    String tlsName() {
        return key.tlsName();
    }

    /** TLS settings of the connections; null for clear text. */
    OriginTlsConfig.@Nullable Context tls() {
        return key.tls();
    }

    /** The local addresses of the connections. */
    SourceAddress source() {
        return key.source();
    }

    /** Returns the addresses to which connections are permitted. */
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

    /** Finds or makes a connection for a call, queues the call, or fails it. */
    void acquire(PooledCall call) {
        if (isMultiplexing() && (startStream(call) || share(call))) {
            return;
        }
        if (isBelowLimit(call.request().settings()) && serve(call)) {
            places.releaseUnused();
        } else if (key.tunnel()) {
            // Tunnels are long-lived, so a call that waits for the end of a tunnel would usually time out.
            call.failed(
                    OriginFailure.Reason.TUNNEL_LIMIT,
                    key.origin() + ": " + (connecting + active) + " tunnels are open, limit="
                            + call.request().settings().tunnelsMax() + " (origin.tunnels_max)",
                    true);
            removeIfEmpty();
        } else {
            enqueue(call);
        }
    }

    /**
     * Serves a call with an idle or a new connection. Requires that this event loop is below its limit. Returns false
     * if the process-wide limit permits no new connection.
     */
    private boolean serve(PooledCall call) {
        FetchSettings settings = call.request().settings();
        boolean needsOwnConnection = call.request().needsOwnConnection();
        while (idle.size() > 1 && places.isOver(settings) && closeOldest()) {
            places.releaseUnused();
        }
        OriginConnection connection = needsOwnConnection ? null : takeIdle(settings);
        if (connection != null) {
            activate(connection, call);
            return true;
        }
        if (needsOwnConnection) {
            makePlace(settings);
        }
        if (!takePlace(settings)) {
            return false;
        }
        connect(call);
        return true;
    }

    /** The number of connections, including idle connections and connections that are being made. */
    int connections() {
        return connecting + active + idle.size() + idleMultiplexed;
    }

    /** Returns true if a call waits for a connection. */
    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    /**
     * Takes a place of the process-wide limit for one more connection. If none is free, closes an idle connection that
     * the call cannot use, and uses the place of that connection.
     */
    private boolean takePlace(FetchSettings settings) {
        return places.take(settings) || closeOldest();
    }

    /** Closes the least recently used idle connection. Returns false when there is none. */
    private boolean closeOldest() {
        OriginConnection oldest = idle.pollFirst();
        if (oldest == null) {
            return false;
        }
        statistics.connectionsIdle--;
        oldest.closeUnused();
        return true;
    }

    /** Called when a place was granted: the first waiting call gets it. */
    void onPlace() {
        serveWaiting();
        removeIfEmpty();
    }

    /**
     * Closes an idle connection for another pool that waits for a place. If there is no idle connection, and that pool
     * has too few places, drains an HTTP/2 connection.
     */
    void yieldPlace() {
        if (!places.isAwaited()) {
            return;
        }
        if (closeOldest()) {
            removeIfEmpty();
            return;
        }
        for (MultiplexedConnection each : multiplexed) {
            if (!each.isActive()) {
                each.closeUnused();
                return;
            }
        }
        MultiplexedConnection shared = multiplexed.peekFirst();
        if (shared != null && places.claimYield()) {
            shared.drain();
        }
        client.onWaiting();
    }

    /**
     * Retries a call whose connection or stream has ended. The new connection takes the place of the ended one. With
     * HTTP/2 the call may use an existing connection, or a connection that is being made.
     */
    void retry(PooledCall call) {
        statistics.retries++;
        if (isMultiplexing() && (startStream(call) || share(call))) {
            return;
        }
        FetchSettings settings = call.request().settings();
        if ((!isMultiplexing() || lastWasHttp1 || isBelowLimit(settings)) && takePlace(settings)) {
            connect(call);
        } else {
            enqueue(call);
        }
    }

    private boolean isMultiplexing() {
        return key.http2() != OriginConfig.Http2.OFF;
    }

    /** HTTP/2 setting of the connections. */
    OriginConfig.Http2 http2() {
        return key.http2();
    }

    /** Starts a call on a stream of an HTTP/2 connection. Returns false when no connection has capacity. */
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

    /**
     * Lets a call wait for a connection that is being made for another call. Returns false when it cannot share one.
     */
    private boolean share(PooledCall call) {
        if (connecting == 0
                || lastWasHttp1
                || sharing.size()
                        >= (long) connecting * call.request().settings().http2StreamsMax()) {
            return false;
        }
        sharing.addLast(call);
        return true;
    }

    /** Called when an HTTP/2 connection was made: starts its call, and then the calls that share it. */
    void connected(MultiplexedConnection connection, @Nullable PooledCall call) {
        connecting--;
        statistics.connectionsConnecting--;
        statistics.connects++;
        statistics.http2Connects++;
        lastWasHttp1 = false;
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
        endWait();
        if (places.isAwaitedByOther()) {
            // The other pool asked for a place while this connection was being made.
            yieldPlace();
        }
        if (client.isClosed() && !connection.isActive()) {
            connection.closeUnused();
        }
    }

    /** Leaves the queue for places when no call of this pool waits any more. */
    private void endWait() {
        if (waiting.isEmpty()) {
            places.withdraw();
        }
    }

    /** Serves the calls that waited to share a connection, like new calls. */
    private void acquireShared() {
        for (int left = sharing.size(); left > 0; left--) {
            PooledCall call = sharing.pollFirst();
            if (call == null) {
                return;
            }
            acquire(call);
        }
    }

    /** Called when the first call starts on an idle HTTP/2 connection. */
    void becameActive(MultiplexedConnection connection) {
        idleMultiplexed--;
        active++;
        statistics.connectionsIdle--;
        statistics.connectionsActive++;
    }

    /** Called when the last call on an HTTP/2 connection has ended. */
    void onIdle(MultiplexedConnection connection) {
        active--;
        idleMultiplexed++;
        statistics.connectionsActive--;
        statistics.connectionsIdle++;
    }

    /** Called when an HTTP/2 connection accepts no more calls. Its current calls continue. */
    void retire(MultiplexedConnection connection) {
        multiplexed.remove(connection);
    }

    /**
     * Called when an HTTP/2 connection was closed. Its calls are notified later and may be retried on another
     * connection.
     */
    void closed(MultiplexedConnection connection) {
        statistics.http2Connections--;
        if (connection.isActive()) {
            active--;
            statistics.connectionsActive--;
        } else {
            idleMultiplexed--;
            statistics.connectionsIdle--;
        }
        serveLater();
    }

    /** Serves waiting calls after the current task. */
    void serveLater() {
        if (!serveQueued) {
            serveQueued = true;
            eventLoop().execute(serveTask);
        }
    }

    private void serveNow() {
        serveQueued = false;
        afterClose();
    }

    /** Called when an HTTP/1.1 connection was made: starts its call, or the next waiting one if its call has ended. */
    void connected(OriginConnection connection, @Nullable PooledCall call) {
        connecting--;
        statistics.connectionsConnecting--;
        statistics.connects++;
        lastWasHttp1 = true;
        if (call != null) {
            active++;
            statistics.connectionsActive++;
            call.start(connection);
        } else {
            offer(connection);
        }
        acquireShared();
    }

    /** Called when no connection could be made. */
    void connectFailed(@Nullable PooledCall call, OriginFailure.Reason reason, String message) {
        connecting--;
        statistics.connectionsConnecting--;
        statistics.connectFailures++;
        client.faults().report(reason, message);
        if (call != null) {
            call.failed(reason, message, true);
        }
        PooledCall shared;
        while (connecting == 0 && (shared = sharing.pollFirst()) != null) {
            shared.failed(reason, message, true);
        }
        serveWaiting();
        removeIfEmpty();
    }

    /** Called when a connection has completed its call and can carry another. */
    void release(OriginConnection connection) {
        active--;
        statistics.connectionsActive--;
        offer(connection);
    }

    /**
     * Called when a connection that carried a call was closed. The caller then ends or {@link #retry retries} the call,
     * and calls {@link #afterClose}.
     */
    void closedActive() {
        active--;
        statistics.connectionsActive--;
    }

    /** Called when an idle connection was closed. */
    void closedIdle(OriginConnection connection) {
        if (idle.removeLastOccurrence(connection)) {
            statistics.connectionsIdle--;
        }
        afterClose();
    }

    /** Uses the place of a closed connection for waiting calls of this or of another event loop. */
    void afterClose() {
        places.passUnusedToOthers();
        serveWaiting();
        removeIfEmpty();
    }

    /** Called when a waiting call was cancelled. */
    void withdraw(PooledCall call) {
        if (waiting.remove(call)) {
            // The next call may have a higher limit.
            serveWaiting();
        } else {
            sharing.remove(call);
        }
        removeIfEmpty();
    }

    /** Closes idle connections. Waiting calls fail. */
    void close() {
        waiting.cancelTimer();
        PooledCall call;
        places.withdraw();
        while ((call = waiting.poll()) != null) {
            call.failed(
                    OriginFailure.Reason.CANCELLED,
                    key.origin() + ": the origin client was closed while the request waited for a connection",
                    true);
        }
        while ((call = sharing.pollFirst()) != null) {
            call.failed(
                    OriginFailure.Reason.CANCELLED,
                    key.origin() + ": the origin client was closed while the request waited for a connection",
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
        removeIfEmpty();
    }

    /**
     * Closes idle connections, the least recently used first, until a request that needs its own connection fits below
     * the limit.
     */
    private void makePlace(FetchSettings settings) {
        boolean closed = true;
        while (closed && isFull(settings)) {
            closed = closeOldest();
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

    /** Passes an unused connection to the first waiting call, keeps it idle, or closes it. */
    private void offer(OriginConnection connection) {
        if (connection.isForOneRequest()) {
            connection.closeUnused();
            afterClose();
            return;
        }
        if (!isBelowLimit(connection.settings())) {
            // The limit was lowered since the connection was made, or the request has a lower limit than others.
            // Waiting calls may still use the place of this connection.
            connection.closeUnused();
            afterClose();
            return;
        }
        if (places.shouldYield()) {
            connection.closeUnused();
            afterClose();
            return;
        }
        PooledCall next = waiting.poll();
        if (next != null && next.request().needsOwnConnection()) {
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
            endWait();
        } else if (client.isClosed()
                || key.tunnel()
                || isFull(connection.settings())
                || places.isAwaited()
                || places.isOver(connection.settings())
                || idle.size() >= connection.settings().idleConnectionsMax()) {
            connection.closeUnused();
            removeIfEmpty();
        } else {
            idle.addLast(connection);
            statistics.connectionsIdle++;
            connection.keepIdle();
        }
    }

    /** Returns true if the limit permits one more connection with a call. */
    private boolean isBelowLimit(FetchSettings settings) {
        return connecting + active < limit(settings);
    }

    /**
     * Returns true if the number of connections has reached the limit. The number can be above the limit if the limit
     * was lowered.
     */
    private boolean isFull(FetchSettings settings) {
        return connections() >= limit(settings);
    }

    /**
     * Returns true if a connection that has just become idle may be kept. This requires that the number of idle
     * connections is within the limit, and that no other event loop gets the place of the connection. If another event
     * loop has too few places ({@link PoolPlaces#shouldYield}), it gets this place even if calls wait here. A third
     * event loop may already be draining an HTTP/2 connection for it. The place is yielded nevertheless, because the
     * calls on that connection may take long.
     */
    boolean keepsIdle(FetchSettings settings) {
        if ((places.isAwaited() && waiting.isEmpty()) || places.shouldYield() || places.isOver(settings)) {
            return false;
        }
        return idle.size() + idleMultiplexed <= settings.idleConnectionsMax();
    }

    private int limit(FetchSettings settings) {
        return key.tunnel() ? settings.tunnelsMax() : settings.connectionsMax();
    }

    /** Returns how urgently other calls need the connection of a running call. */
    SlowClients.OriginDemand demand(FetchSettings settings) {
        if (!waiting.isEmpty() || places.isAwaited()) {
            return SlowClients.OriginDemand.AWAITED;
        }
        boolean crowded = isCrowded(connecting + active, settings.connectionsMax())
                || (settings.connectionsTotalMax() > 0
                        && isCrowded(places.placesOfAllLoops(), settings.connectionsTotalMax()));
        return crowded ? SlowClients.OriginDemand.CROWDED : SlowClients.OriginDemand.NONE;
    }

    private static boolean isCrowded(long used, long limit) {
        return CROWDED_PARTS * used >= (CROWDED_PARTS - 1) * limit;
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
                    key.origin() + ": " + limitText(settings) + " are in use and " + waiting.size()
                            + " requests are already waiting, limit=" + settings.queueMax(),
                    true);
            removeIfEmpty();
            return;
        }
        waiting.add(call, settings.queueTimeoutNanos());
        if (isBelowLimit(settings)) {
            statistics.waitsOfProcess++;
        } else {
            statistics.waitsOfLoop++;
        }
        client.onWaiting();
        awaitPlace();
    }

    /**
     * Waits for a place of the process-wide limit for the first waiting call. Does nothing if this event loop has
     * reached its own limit, because the call then waits for a connection of this event loop.
     */
    private void awaitPlace() {
        PooledCall first = waiting.first();
        if (first == null) {
            return;
        }
        FetchSettings settings = first.request().settings();
        if (isBelowLimit(settings) && settings.connectionsTotalMax() > 0) {
            places.await(settings.connectionsTotalMax());
        }
    }

    /** Returns a text with the limit that is reached, for messages. */
    private String limitText(FetchSettings settings) {
        return isBelowLimit(settings)
                ? settings.connectionsTotalMax() + " connections of all event loops (connections_total_max)"
                : settings.connectionsMax() + " connections";
    }

    /**
     * Serves waiting calls one after the other. An attempt that fails immediately calls this method again; the guard
     * prevents recursion.
     */
    private void serveWaiting() {
        if (serving) {
            return;
        }
        serving = true;
        try {
            PooledCall first;
            while (!client.isClosed()
                    && (first = waiting.first()) != null
                    && (isBelowLimit(first.request().settings()) || hasStream())) {
                waiting.poll();
                if ((!isMultiplexing() || !startStream(first)) && !serve(first)) {
                    waiting.putBack(first);
                    places.await(first.request().settings().connectionsTotalMax());
                    return;
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
        for (PooledCall call : waiting.takeExpired()) {
            FetchSettings settings = call.request().settings();
            call.failed(
                    OriginFailure.Reason.QUEUE_TIMEOUT,
                    key.origin() + ": none of " + limitText(settings) + " became free within "
                            + PooledOriginClient.millis(settings.queueTimeoutNanos()),
                    true);
        }
        serveWaiting();
        removeIfEmpty();
    }

    /** Removes this pool from the client when it has no connections and no waiting calls. */
    private void removeIfEmpty() {
        places.releaseUnused();
        if (connections() == 0 && waiting.isEmpty() && !places.isWaiting()) {
            waiting.cancelTimer();
            client.forget(key, this);
            places.leave();
        }
    }
}
