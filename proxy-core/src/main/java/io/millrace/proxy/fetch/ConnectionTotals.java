package io.millrace.proxy.fetch;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The numbers of connections to each host and port, shared by the origin clients of all event loops. A host without a
 * pool has no entry.
 *
 * <p>Thread-safe.
 */
public final class ConnectionTotals {
    private final ConcurrentMap<Place, ConnectionTotal> totals = new ConcurrentHashMap<>();

    /** Host and port of an origin, or its socket with port 0. Requests with and without TLS use the same limit. */
    private record Place(String host, int port) {
        static Place of(Origin origin) {
            String socket = origin.socket();
            return socket != null ? new Place(socket, 0) : new Place(origin.host(), origin.port());
        }
    }

    /** Registers a pool, and returns the numbers of its host. */
    ConnectionTotal join(Origin origin, ConnectionTotal.Member member) {
        return totals.compute(Place.of(origin), (place, known) -> {
            ConnectionTotal total = known == null ? new ConnectionTotal() : known;
            total.join(member);
            return total;
        });
    }

    /** Removes a pool, which has no connections. */
    void leave(Origin origin, ConnectionTotal.Member member) {
        totals.computeIfPresent(Place.of(origin), (place, total) -> total.leave(member) ? null : total);
    }

    /** Returns the connections of all event loops to an origin's host and port, those being made included. */
    int connections(Origin origin) {
        ConnectionTotal total = totals.get(Place.of(origin));
        return total == null ? 0 : total.places();
    }
}
