package io.millrace.proxy.exchange;

import io.millrace.proxy.clients.ClientCounts.Kind;
import io.millrace.proxy.clients.ClientCounts.Result;
import io.millrace.proxy.clients.ClientLimits;
import io.millrace.proxy.exchange.decide.ExchangeSettings;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.Counter;
import org.jspecify.annotations.Nullable;

/**
 * One request's place among what its client has in progress. A request is counted once it waits for something; one that is answered
 * at once never is. Confined to the exchange's event loop.
 */
final class ClientShare {
    private final ExchangeLoop home;
    private @Nullable IpAddress counted;
    private Kind kind = Kind.REQUESTS;

    ClientShare(ExchangeLoop home) {
        this.home = home;
    }

    /** Counts the request unless it is counted; false when its client has as many of the kind as it may. */
    boolean take(Kind wanted, RequestHead request, ClientStream stream) {
        return take(wanted, request, stream, home.settings().clients().of(wanted));
    }

    /** Counts a request whose answer has begun and is not taken at once, whatever the limit is. */
    void takeAnyway(RequestHead request, ClientStream stream) {
        if (home.settings().clients().requests() > 0) {
            take(Kind.REQUESTS, request, stream, Integer.MAX_VALUE);
        }
    }

    private boolean take(Kind wanted, RequestHead request, ClientStream stream, int limit) {
        if (counted != null || limit <= 0) {
            return true;
        }
        ExchangeSettings settings = home.settings();
        ClientLimits limits = settings.clients();
        IpAddress client = limits.client(
                settings.access().namedClient(request, stream.connection().remoteIp()));
        Result result = home.clients().admit(wanted, client, limit);
        if (result == Result.ADDED) {
            counted = client;
            kind = wanted;
        } else if (result == Result.REFUSED) {
            home.counters()
                    .increment(wanted == Kind.TUNNELS ? Counter.DENIED_CLIENT_TUNNELS : Counter.DENIED_CLIENT_REQUESTS);
        }
        return result != Result.REFUSED;
    }

    /** The request is over. Idempotent. */
    void give() {
        IpAddress client = counted;
        if (client != null) {
            counted = null;
            home.clients().counts().remove(kind, client);
        }
    }

    /** What a refused client is told. */
    static String text(Kind kind) {
        return kind == Kind.TUNNELS
                ? "more tunnels at the same time than limits.per_client.tunnels"
                : "more requests at the same time than limits.per_client.requests";
    }
}
