package io.millrace.proxy.server;

import io.millrace.proxy.observe.FaultLog;
import java.util.function.IntSupplier;

/**
 * The limit {@code limits.connections} of client connections, of which each event loop has an equal share.
 * Further connections are closed immediately, which is logged at a limited rate. Thread-safe.
 */
public final class ConnectionLimit {
    private final IntSupplier all;
    private final int loops;
    private final FaultLog faults;

    /**
     * @param all limit of connections of all event loops, 0 for none; read at each connection
     * @param loops number of event loops
     */
    public ConnectionLimit(IntSupplier all, int loops, FaultLog faults) {
        this.all = all;
        this.loops = loops;
        this.faults = faults;
    }

    /** Limit of connections of one event loop. */
    public int ofLoop() {
        int limit = all.getAsInt();
        return limit <= 0 ? Integer.MAX_VALUE : Math.max(1, limit / loops);
    }

    /** Logs that a connection was closed because of the limit. */
    public void refused() {
        faults.reportFrequent(
                "client connections are closed immediately, because limits.connections is reached",
                () -> all.getAsInt() + " in all, " + ofLoop() + " for each of " + loops + " event loops");
    }
}
