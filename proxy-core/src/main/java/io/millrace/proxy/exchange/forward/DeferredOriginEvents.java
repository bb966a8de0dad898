package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.fetch.OriginCall;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What an origin says while something must be done first: kept in order until then. At most one receive buffer, as reading
 * stops meanwhile.
 *
 * <p>Confined to one event loop.
 */
public final class DeferredOriginEvents {
    private final List<ByteBuf> contents = new ArrayList<>();
    private @Nullable Queue<Runnable> events;

    /** Begins to hold. */
    public void hold(@Nullable OriginCall call) {
        events = new ArrayDeque<>();
        if (call != null) {
            call.pauseReading();
        }
    }

    public boolean isHolding() {
        return events != null;
    }

    /** Keeps a piece of content, whose ownership it takes, and what is to be done with it; only while holding. */
    public void keep(ByteBuf content, Runnable event) {
        keep(event);
        contents.add(content);
    }

    /** Keeps the event; only while holding. */
    public void keep(Runnable event) {
        Queue<Runnable> queue = events;
        if (queue == null) {
            throw new IllegalStateException("nothing is held");
        }
        queue.add(event);
    }

    /** Carries out what was held, and holds no more. */
    public void release() {
        Queue<Runnable> queue = events;
        events = null;
        contents.clear();
        while (queue != null && !queue.isEmpty()) {
            queue.remove().run();
        }
    }

    /** Holds no more; what was held is not carried out. */
    public void drop() {
        events = null;
        contents.forEach(ByteBuf::release);
        contents.clear();
    }
}
