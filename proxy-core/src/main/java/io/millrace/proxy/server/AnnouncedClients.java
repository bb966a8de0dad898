package io.millrace.proxy.server;

import io.millrace.proxy.net.protocol.ProxyHeaderDecoder;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.LoopCounters;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Handles the results of reading PROXY headers, for the connections of one event loop. Passes on accepted connections.
 * Counts and logs refused connections.
 *
 * <p>Confined to its event loop.
 */
final class AnnouncedClients implements ProxyHeaderDecoder.Events {
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LoopCounters counters;
    private final Serving serve;
    private final FaultLog faults =
            new FaultLog(LoggerFactory.getLogger(AnnouncedClients.class), QUIET_NANOS, System::nanoTime);

    /** Serves a connection after its PROXY header was read, or if the connection has none. */
    interface Serving {
        /**
         * @param client the client's address in the header; null for the remote address of the channel
         * @param secure whether the header states that the client used TLS
         */
        void serve(Channel channel, @Nullable InetSocketAddress client, boolean secure);
    }

    AnnouncedClients(LoopCounters counters, Serving serve) {
        this.counters = counters;
        this.serve = serve;
    }

    @Override
    public void onClient(Channel channel, @Nullable InetSocketAddress client, boolean secure) {
        serve.serve(channel, client, secure);
    }

    @Override
    public void onRefused(ProxyHeaderDecoder.Refusal refusal, @Nullable InetSocketAddress peer) {
        Supplier<String> from =
                () -> peer == null ? "unknown" : peer.getAddress().getHostAddress();
        switch (refusal) {
            case UNTRUSTED -> {
                counters.increment(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_UNTRUSTED);
                faults.reportFrequent(
                        "a PROXY header from an address that access.proxy_protocol_allow does not contain", from);
            }
            case MALFORMED -> {
                counters.increment(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_MALFORMED);
                faults.reportFrequent("a malformed PROXY header, or one over limits.proxy_protocol_header", from);
            }
            case MISSING -> {
                counters.increment(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_MISSING);
                faults.reportFrequent("no PROXY header where listen requires one", from);
            }
            case TIMEOUT -> {
                counters.increment(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_TIMEOUT);
                faults.reportFrequent("no complete PROXY header within timeouts.client_header", from);
            }
        }
    }
}
