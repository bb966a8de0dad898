package io.millrace.proxy.observe.trace;

/**
 * A receiver of finished spans. One thread of the proxy calls a sink, never an event loop. A sink that blocks delays
 * the following spans; when the rings of the event loops are full, further spans are dropped and counted.
 */
public interface SpanSink extends AutoCloseable {
    /** Receives a span. The view is valid during the call; {@link SpanView#copy} makes an object that stays valid. */
    void accept(SpanView span);

    /** Called after each reading of the rings, about every 20 ms, also if there were no spans. */
    default void endOfRound() {}

    /** Passes on the spans that are left, and releases all resources. May block for some seconds. */
    @Override
    void close();
}
