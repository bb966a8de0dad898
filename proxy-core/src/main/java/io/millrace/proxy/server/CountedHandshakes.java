package io.millrace.proxy.server;

import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.tls.HandshakeListener;

/**
 * Counts the TLS handshake of one connection, and stores its results in the connection. Confined to the
 * connection's event loop.
 */
final class CountedHandshakes implements HandshakeListener {
    private final LoopCounters counters;
    private final ClientConnection client;

    CountedHandshakes(LoopCounters counters, ClientConnection client) {
        this.counters = counters;
        this.client = client;
    }

    @Override
    public void succeeded(ClientConnection.Tls agreed) {
        client.tls(agreed);
        counters.increment(
                agreed.version().equals("TLSv1.3") ? Counter.TLS_HANDSHAKES_1_3 : Counter.TLS_HANDSHAKES_1_2);
    }

    @Override
    public void failed(Failure failure) {
        counters.increment(Counter.CLIENT_CONNECTIONS_REFUSED_TLS);
        counters.increment(
                switch (failure) {
                    case UNKNOWN_NAME -> Counter.TLS_FAILURES_UNKNOWN_NAME;
                    case CLIENT_CERTIFICATE -> Counter.TLS_FAILURES_CLIENT_CERTIFICATE;
                    case NOTHING_IN_COMMON -> Counter.TLS_FAILURES_NOTHING_IN_COMMON;
                    case CLIENT -> Counter.TLS_FAILURES_CLIENT;
                    case TIMEOUT -> Counter.TLS_FAILURES_TIMEOUT;
                    case PROTOCOL -> Counter.TLS_FAILURES_PROTOCOL;
                });
    }
}
