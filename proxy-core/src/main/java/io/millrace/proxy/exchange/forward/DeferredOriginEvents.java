package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.fetch.OriginCall;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A queue of origin events that must wait for another operation, such as a durable invalidation. It holds at most one
 * receive buffer of content, because reading from the origin is paused.
 *
 * <p>Confined to one event loop.
 */
public final class DeferredOriginEvents {
    /** The content of {@link #events}. Created at the first piece, because few responses wait. */
    private @Nullable List<ByteBuf> contents;

    private @Nullable Queue<Runnable> events;

    /** Begins to defer events, and pauses reading. */
    public void hold(@Nullable OriginCall call) {
        events = new ArrayDeque<>();
        if (call != null) {
            call.pauseReading();
        }
    }

    public boolean isHolding() {
        return events != null;
    }

    /** Defers a piece of content, with the event that processes it. Takes ownership. Call only while holding. */
    public void keep(ByteBuf content, Runnable event) {
        keep(event);
        List<ByteBuf> kept = contents;
        if (kept == null) {
            kept = new ArrayList<>();
            contents = kept;
        }
        kept.add(content);
    }

    /** Defers an event. Call only while holding. */
    public void keep(Runnable event) {
        Queue<Runnable> queue = events;
        if (queue == null) {
            throw new IllegalStateException("keep() was called without hold()");
        }
        queue.add(event);
    }

    /** Runs the deferred events in order and stops deferring. */
    public void release() {
        Queue<Runnable> queue = events;
        events = null;
        contents = null;
        while (queue != null && !queue.isEmpty()) {
            queue.remove().run();
        }
    }

    /** Stops deferring and discards the deferred events. */
    public void drop() {
        events = null;
        List<ByteBuf> kept = contents;
        contents = null;
        if (kept != null) {
            kept.forEach(ByteBuf::release);
        }
    }
}
