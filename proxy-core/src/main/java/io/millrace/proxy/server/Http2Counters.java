package io.millrace.proxy.server;

import io.millrace.proxy.http2.Http2Events;
import io.millrace.proxy.http2.frame.Http2Fault;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;

/**
 * Counts the events of an event loop's HTTP/2 connections.
 *
 * <p>Confined to its event loop.
 */
final class Http2Counters implements Http2Events {
    private final LoopCounters counters;
    private final Runnable onAnswered;

    /** @param onAnswered runs for each request that the fast lane answered from RAM */
    Http2Counters(LoopCounters counters, Runnable onAnswered) {
        this.counters = counters;
        this.onAnswered = onAnswered;
    }

    @Override
    public void onConnection() {
        counters.increment(Counter.HTTP2_CONNECTIONS);
    }

    @Override
    public void onRequest() {
        counters.increment(Counter.HTTP2_REQUESTS);
    }

    @Override
    public void onAnswered() {
        onAnswered.run();
    }

    @Override
    public void onFault(Http2Fault fault) {
        counters.increment(
                switch (fault) {
                    case PROTOCOL -> Counter.HTTP2_FAULT_PROTOCOL;
                    case FRAME_SIZE -> Counter.HTTP2_FAULT_FRAME_SIZE;
                    case FLOW_CONTROL -> Counter.HTTP2_FAULT_FLOW_CONTROL;
                    case COMPRESSION -> Counter.HTTP2_FAULT_COMPRESSION;
                    case STREAM_CLOSED -> Counter.HTTP2_FAULT_STREAM_CLOSED;
                    case STREAMS -> Counter.HTTP2_FAULT_STREAMS;
                    case RESETS -> Counter.HTTP2_FAULT_RESETS;
                    case STREAM_FAULTS -> Counter.HTTP2_FAULT_STREAM_FAULTS;
                    case CONTINUATION -> Counter.HTTP2_FAULT_CONTINUATION;
                    case CONTROL_FRAMES -> Counter.HTTP2_FAULT_CONTROL_FRAMES;
                    case STALLED -> Counter.HTTP2_FAULT_STALLED;
                    case TIMEOUT -> Counter.HTTP2_FAULT_TIMEOUT;
                    case MISDIRECTED -> Counter.HTTP2_FAULT_MISDIRECTED;
                });
    }

    @Override
    public void onReset() {
        counters.increment(Counter.HTTP2_RESETS);
    }
}
