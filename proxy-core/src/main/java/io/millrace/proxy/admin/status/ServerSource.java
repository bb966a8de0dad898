package io.millrace.proxy.admin.status;

import java.util.List;

/** The state of the serving process, and its drain. Thread-safe; may read files. */
public interface ServerSource {
    /** Returns the present state. */
    ServerReport report();

    /**
     * Begins or ends a drain. During a drain, answers have {@code Connection: close} and {@code /readyz} reports
     * draining; connections are still accepted.
     *
     * @param undo whether to end the drain
     */
    ServerReport drain(boolean undo);

    /**
     * Returns the threads, sorted by falling CPU time.
     *
     * @param depth frames of each stack, 0 or more
     */
    ThreadReport threads(int depth);

    /**
     * The serving process. Immutable.
     *
     * @param state {@code starting}, {@code running} or {@code draining}
     * @param isDraining whether an operator has begun a drain
     * @param pid process id
     * @param uptimeSeconds seconds since the start of the proxy
     * @param cpuSeconds CPU time of the process since its start
     * @param residentBytes resident memory; 0 if not known
     * @param threads number of threads of the JVM
     * @param descriptors open files and sockets; 0 if not known
     * @param loops the event loops
     */
    record ServerReport(
            String state,
            boolean isDraining,
            long pid,
            long uptimeSeconds,
            double cpuSeconds,
            long residentBytes,
            int threads,
            long descriptors,
            List<Loop> loops) {}

    /**
     * An event loop. Immutable.
     *
     * @param thread name of the thread
     * @param clientConnections open client connections
     * @param originConnections open origin connections
     * @param requests requests answered since the start
     * @param hits requests answered from the cache
     */
    record Loop(String thread, long clientConnections, long originConnections, long requests, long hits) {}

    /**
     * Threads at one time. Immutable.
     *
     * @param threads the threads with the most CPU time
     * @param notListed number of further threads, which are not listed
     */
    record ThreadReport(List<ThreadView> threads, int notListed) {}

    /**
     * A thread. Immutable.
     *
     * @param name name of the thread
     * @param state such as {@code runnable} or {@code waiting}
     * @param cpuMillis CPU time since its start; -1 if not known
     * @param stack the top frames
     */
    record ThreadView(String name, String state, long cpuMillis, List<String> stack) {}
}
