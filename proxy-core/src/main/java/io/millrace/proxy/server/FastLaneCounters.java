package io.millrace.proxy.server;

import io.millrace.proxy.http1.FastLane;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;

/**
 * Counts the events of the fast lane of one event loop. The fast lane answers RAM hits of HTTP/1.1 clients
 * without a Netty channel. A connection is promoted when it gets a channel, and returned when it goes back to the fast
 * lane.
 *
 * <p>Confined to its event loop.
 */
final class FastLaneCounters implements FastLane.Events {
    private final LoopCounters counters;

    FastLaneCounters(LoopCounters counters) {
        this.counters = counters;
    }

    @Override
    public void onOpened() {
        counters.increment(Counter.CLIENT_CONNECTIONS);
        counters.increment(Counter.CLIENT_CONNECTIONS_OPENED);
    }

    @Override
    public void onClosed() {
        counters.decrement(Counter.CLIENT_CONNECTIONS);
    }

    @Override
    public void onReceived(int bytes) {
        counters.add(Counter.CLIENT_RECEIVED_BYTES, bytes);
    }

    @Override
    public void onAnswered() {
        counters.increment(Counter.FAST_LANE_ANSWERED);
    }

    @Override
    public void onPromoted() {
        counters.increment(Counter.FAST_LANE_PROMOTED);
    }

    @Override
    public void onReturned() {
        counters.increment(Counter.FAST_LANE_RETURNED);
    }
}
