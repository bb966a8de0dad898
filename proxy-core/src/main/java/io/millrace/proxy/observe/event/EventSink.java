package io.millrace.proxy.observe.event;

/** Receives operational events. Implementations are thread-safe and do not block, because event loops call them. */
@FunctionalInterface
public interface EventSink {
    /** Drops every event. */
    EventSink NONE = event -> {};

    /** Receives one event. */
    void record(Event event);
}
