package io.millrace.proxy.fetch;

import io.millrace.proxy.dns.DnsStatistics;
import io.netty.channel.EventLoop;

/**
 * Sends requests to origins from one event loop, over connections of that loop's own.
 *
 * <p>Connections are kept per origin and TLS name and reused, the one used last first. At most {@link FetchSettings#connectionsMax()} are open per origin; further
 * calls wait, at most {@link FetchSettings#queueMax()} of them. Tunnels are counted apart, at most {@link FetchSettings#tunnelsMax()}, and do not wait. A call that meets the end of a reused connection before any byte of a response is repeated once
 * on a fresh connection when its method is idempotent and none of its content was sent (RFC 9112 s9.3.1).
 *
 * <p>Confined to one event loop: every method is called on it.
 */
public interface OriginClient {

    /** Starts a client of an event loop; epoll or NIO follows from the loop. */
    static OriginClientBuilder builder(EventLoop eventLoop) {
        return new OriginClientBuilder(eventLoop);
    }

    /**
     * Starts a request.
     *
     * @param request what to send where
     * @param handler hears of the response; never called before this method returns
     */
    OriginCall fetch(OriginRequest request, OriginResponseHandler handler);

    /** What this client did so far; a live view. */
    OriginStatistics statistics();

    /** What became of the names it resolved; a live view. */
    DnsStatistics dns();

    /** Closes every connection; calls under way and calls started later fail with {@link OriginFailure.Reason#CANCELLED}. */
    void close();
}
