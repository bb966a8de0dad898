package io.millrace.proxy.server;

import io.millrace.proxy.clients.ClientAdmission;
import io.millrace.proxy.clients.ClientCounts.Kind;
import io.millrace.proxy.clients.ClientCounts.Result;
import io.millrace.proxy.clients.ClientLimits;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import java.util.function.Supplier;

/**
 * Applies {@code limits.per_client.connections} to the connections of one event loop. Counts nothing if that
 * limit is 0.
 *
 * <p>Confined to its event loop.
 */
final class CountedConnections implements ConnectionSet.Clients {
    private final ClientAdmission admission;
    private final Supplier<ClientLimits> limits;
    private final LoopCounters counters;

    /** @param limits returns the current limits; called for each connection */
    CountedConnections(ClientAdmission admission, Supplier<ClientLimits> limits, LoopCounters counters) {
        this.admission = admission;
        this.limits = limits;
        this.counters = counters;
    }

    @Override
    public boolean admit(ClientConnection connection) {
        ClientLimits now = limits.get();
        if (now.connections() <= 0) {
            return true;
        }
        IpAddress client = now.client(connection.remoteIp());
        Result result = admission.admit(Kind.CONNECTIONS, client, now.connections());
        if (result == Result.REFUSED) {
            counters.increment(Counter.CLIENT_CONNECTIONS_REFUSED_CLIENT_LIMIT);
            return false;
        }
        connection.countedAs(result == Result.ADDED ? client : null);
        return true;
    }

    @Override
    public void onClosed(ClientConnection connection) {
        IpAddress client = connection.countedAs();
        if (client != null) {
            connection.countedAs(null);
            admission.counts().remove(Kind.CONNECTIONS, client);
        }
    }
}
