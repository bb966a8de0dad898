package io.millrace.proxy.server;

import io.millrace.proxy.observe.FaultLog;
import java.util.function.IntSupplier;

/**
 * {@code limits.connections}: each event loop may have its part of it. Of connections beyond, which are closed at once, the log has a line
 * at most once a minute. Thread-safe.
 */
public final class ConnectionLimit {
    private final IntSupplier all;
    private final int loops;
    private final FaultLog faults;

    /**
     * @param all the most connections of all event loops, 0 for no limit; asked at each connection
     * @param loops number of event loops
     */
    public ConnectionLimit(IntSupplier all, int loops, FaultLog faults) {
        this.all = all;
        this.loops = loops;
        this.faults = faults;
    }

    /** The most connections of one event loop. */
    public int ofLoop() {
        int limit = all.getAsInt();
        return limit <= 0 ? Integer.MAX_VALUE : Math.max(1, limit / loops);
    }

    /** A connection beyond it was closed. */
    public void refused() {
        faults.reportSparing(
                "a client's connection is closed at once, since limits.connections is reached",
                () -> all.getAsInt() + " in all, " + ofLoop() + " for each of " + loops + " event loops");
    }
}
