package io.millrace.proxy;

import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.tls.HandshakeListener;

/** Counts TLS handshakes of one event loop, and confined to it. */
final class CountedHandshakes implements HandshakeListener {
    private final LoopCounters counters;

    CountedHandshakes(LoopCounters counters) {
        this.counters = counters;
    }

    @Override
    public void succeeded(String protocol) {
        counters.increment(protocol.equals("TLSv1.3") ? Counter.TLS_HANDSHAKES_1_3 : Counter.TLS_HANDSHAKES_1_2);
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
