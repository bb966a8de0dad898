package io.millrace.proxy.fetch;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The numbers of connections to each host and port, over all event loops. Only hosts with a connection pool have an
 * entry.
 *
 * <p>Thread-safe.
 */
public final class ConnectionTotals {
    private final ConcurrentMap<Endpoint, ConnectionTotal> totals = new ConcurrentHashMap<>();

    /**
     * The table key: host and port of an origin, or its socket path with port 0. Connections with and without TLS share
     * one limit.
     */
    private record Endpoint(String host, int port) {
        static Endpoint of(Origin origin) {
            String socket = origin.socket();
            return socket != null ? new Endpoint(socket, 0) : new Endpoint(origin.host(), origin.port());
        }
    }

    /** Registers a pool, and returns the connection count of its host. */
    ConnectionTotal join(Origin origin, ConnectionTotal.Member member) {
        return totals.compute(Endpoint.of(origin), (endpoint, known) -> {
            ConnectionTotal total = known == null ? new ConnectionTotal() : known;
            total.join(member);
            return total;
        });
    }

    /** Removes a pool that has no connections. */
    void leave(Origin origin, ConnectionTotal.Member member) {
        totals.computeIfPresent(Endpoint.of(origin), (endpoint, total) -> total.leave(member) ? null : total);
    }

    /**
     * Returns the number of connections of all event loops to an origin's host and port, including connections being
     * made.
     */
    int connections(Origin origin) {
        ConnectionTotal total = totals.get(Endpoint.of(origin));
        return total == null ? 0 : total.places();
    }
}
