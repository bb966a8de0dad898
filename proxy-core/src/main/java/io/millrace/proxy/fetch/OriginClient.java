package io.millrace.proxy.fetch;

import io.millrace.proxy.dns.DnsStatistics;
import io.millrace.proxy.dns.HostAddresses;
import io.netty.channel.EventLoop;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to origins from one event loop, over connections of that loop.
 *
 * <p>Connections are kept per origin and TLS name and reused, the most recently used first. At most
 * {@link FetchSettings#connectionsMax()} are open per origin; further calls wait, at most
 * {@link FetchSettings#queueMax()} of them. Tunnels are counted separately, at most {@link FetchSettings#tunnelsMax()},
 * and do not wait. If a reused connection ends before any byte of a response, the call is retried once on a new
 * connection. This requires an idempotent method and that no content was sent (RFC 9112 s9.3.1).
 *
 * <p>Confined to one event loop: call every method on it.
 */
public interface OriginClient {

    /** Returns a builder of a client for an event loop. The loop determines whether epoll or NIO is used. */
    static OriginClientBuilder builder(EventLoop eventLoop) {
        return new OriginClientBuilder(eventLoop);
    }

    /**
     * Starts a request.
     *
     * @param request the request, without its content
     * @param handler receives the response; never called before this method returns
     */
    OriginCall fetch(OriginRequest request, OriginResponseHandler handler);

    /** The counts of this client; a live view. */
    OriginStatistics statistics();

    /** The counts of this client's name resolutions; a live view. */
    DnsStatistics dns();

    /** Returns the cached addresses of host names. */
    default List<HostAddresses.Known> knownHosts() {
        return List.of();
    }

    /** Removes the cached addresses of a host name (in lower case), or of all host names if {@code host} is null. */
    default void forgetHosts(@Nullable String host) {}

    /** Closes every connection. Calls in progress and later calls fail with {@link OriginFailure.Reason#CANCELLED}. */
    void close();
}
