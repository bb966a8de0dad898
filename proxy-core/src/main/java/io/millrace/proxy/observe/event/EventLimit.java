package io.millrace.proxy.observe.event;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Passes a limited number of events of each kind per minute to another sink. The next event that passes contains the
 * number of suppressed events of its kind. Without this limit, a client that purges thousands of URLs would occupy the
 * receiver, and displace all earlier purges there within seconds. The receiver itself must ensure that frequent kinds
 * do not displace rare kinds.
 *
 * <p>Thread-safe.
 */
public final class EventLimit implements EventSink {
    /** Number of events of a kind that pass in a minute. */
    public static final int EVENTS_PER_MINUTE = 30;

    private static final long MINUTE_NANOS = 60_000_000_000L;

    private final EventSink target;
    private final LongSupplier nanoTime;
    private final Lock lock = new ReentrantLock();
    private final Window[] windows = new Window[EventKind.values().length];

    /** The events of one kind in the present minute. */
    private static final class Window {
        private long beganNanos;
        private int passed;
        private long suppressed;
    }

    /** @param nanoTime as {@link System#nanoTime} */
    public EventLimit(EventSink target, LongSupplier nanoTime) {
        this.target = target;
        this.nanoTime = nanoTime;
    }

    @Override
    public void record(Event event) {
        long before = admit(event.kind());
        if (before >= 0) {
            target.record(before == 0 ? event : event.withMore(event.more() + before));
        }
    }

    /** Returns the number of events suppressed before this event; -1 if this event is suppressed too. */
    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    private long admit(EventKind kind) {
        long now = nanoTime.getAsLong();
        lock.lock();
        try {
            Window window = windows[kind.ordinal()];
            if (window == null) {
                window = new Window();
                window.beganNanos = now;
                windows[kind.ordinal()] = window;
            }
            if (now - window.beganNanos >= MINUTE_NANOS) {
                window.beganNanos = now;
                window.passed = 0;
            }
            if (window.passed == EVENTS_PER_MINUTE) {
                window.suppressed++;
                return -1;
            }
            window.passed++;
            long before = window.suppressed;
            window.suppressed = 0;
            return before;
        } finally {
            lock.unlock();
        }
    }
}
