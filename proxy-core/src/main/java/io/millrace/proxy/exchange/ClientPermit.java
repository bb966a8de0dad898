package io.millrace.proxy.exchange;

import io.millrace.proxy.clients.ClientCounts.Kind;
import io.millrace.proxy.clients.ClientCounts.Result;
import io.millrace.proxy.clients.ClientLimits;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.Counter;
import org.jspecify.annotations.Nullable;

/**
 * The count of one request or tunnel against the limits of its client. A request is counted when it starts to wait for
 * the store or an origin. A request that is answered immediately is not counted. Confined to the exchange's event loop.
 */
final class ClientPermit {
    private final ExchangeLoop exchangeLoop;
    /** The client address under which the request is counted; null while it is not counted. */
    private @Nullable IpAddress counted;

    private Kind kind = Kind.REQUESTS;

    ClientPermit(ExchangeLoop exchangeLoop) {
        this.exchangeLoop = exchangeLoop;
    }

    /** Counts the request if it is not counted yet. Returns false if the client has reached its limit for this kind. */
    boolean acquire(Kind wanted, RequestHead request, ClientStream stream) {
        return acquire(
                wanted, request, stream, exchangeLoop.settings().clients().of(wanted));
    }

    /**
     * Counts a request without checking the limit: its response has begun, but the client does not receive it
     * immediately.
     */
    void acquireUnchecked(RequestHead request, ClientStream stream) {
        if (exchangeLoop.settings().clients().requests() > 0) {
            acquire(Kind.REQUESTS, request, stream, Integer.MAX_VALUE);
        }
    }

    private boolean acquire(Kind wanted, RequestHead request, ClientStream stream, int limit) {
        if (counted != null || limit <= 0) {
            return true;
        }
        ExchangeSettings settings = exchangeLoop.settings();
        ClientLimits limits = settings.clients();
        IpAddress client = limits.client(
                settings.access().namedClient(request, stream.connection().remoteIp()));
        Result result = exchangeLoop.clients().admit(wanted, client, limit);
        if (result == Result.ADDED) {
            counted = client;
            kind = wanted;
        } else if (result == Result.REFUSED) {
            exchangeLoop
                    .counters()
                    .increment(wanted == Kind.TUNNELS ? Counter.DENIED_CLIENT_TUNNELS : Counter.DENIED_CLIENT_REQUESTS);
        }
        return result != Result.REFUSED;
    }

    /** Ends the count of the request. Idempotent. */
    void release() {
        IpAddress client = counted;
        if (client != null) {
            counted = null;
            exchangeLoop.clients().counts().remove(kind, client);
        }
    }

    /** Returns the reason text for a refused client. */
    static String text(Kind kind) {
        return kind == Kind.TUNNELS
                ? "more tunnels at the same time than limits.per_client.tunnels"
                : "more requests at the same time than limits.per_client.requests";
    }
}
