package io.millrace.proxy.server;

import io.millrace.proxy.observe.FaultLog;
import java.util.function.IntSupplier;

/**
 * The limit {@code limits.connections} of client connections, of which each event loop has an equal share.
 * Further connections are closed immediately, which is logged at a limited rate. Thread-safe.
 */
public final class ConnectionLimit {
    private final IntSupplier totalLimit;
    private final int loops;
    private final FaultLog faults;

    /**
     * @param totalLimit limit of connections of all event loops, 0 for none; read at each connection
     * @param loops number of event loops
     */
    public ConnectionLimit(IntSupplier totalLimit, int loops, FaultLog faults) {
        this.totalLimit = totalLimit;
        this.loops = loops;
        this.faults = faults;
    }

    /** Limit of connections of one event loop. */
    public int ofLoop() {
        int limit = totalLimit.getAsInt();
        return limit <= 0 ? Integer.MAX_VALUE : Math.max(1, limit / loops);
    }

    /** Logs that a connection was closed because of the limit. */
    public void refused() {
        faults.reportFrequent(
                "client connections are closed immediately, because limits.connections is reached",
                () -> totalLimit.getAsInt() + " in all, " + ofLoop() + " for each of " + loops + " event loops");
    }
}
