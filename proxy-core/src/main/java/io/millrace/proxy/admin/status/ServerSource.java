package io.millrace.proxy.admin.status;

import java.util.List;

/** What the serving process is doing, and its drain. Thread-safe; may read files. */
public interface ServerSource {
    /** The process now. */
    ServerReport report();

    /**
     * Begins a drain, or ends one: every answer says {@code Connection: close} and {@code /readyz} says draining, while
     * connections are accepted as before.
     *
     * @param undo whether to end it
     */
    ServerReport drain(boolean undo);

    /**
     * The threads, those that have used the CPU most first.
     *
     * @param depth frames of each stack, 0 or more
     */
    ThreadReport threads(int depth);

    /**
     * The serving process. Immutable.
     *
     * @param state {@code starting}, {@code running} or {@code draining}
     * @param isDraining whether an operator drains it
     * @param pid process id
     * @param uptimeSeconds since the proxy began
     * @param cpuSeconds of the process since its start
     * @param residentBytes memory as the kernel counts it; 0 where it does not tell
     * @param threads of the JVM
     * @param descriptors open files and sockets; 0 where that is not told
     * @param loops one for each event loop
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
     * @param thread its thread's name
     * @param clientConnections open now
     * @param originConnections open now
     * @param requests answered since the start
     * @param hits of them from the cache
     */
    record Loop(String thread, long clientConnections, long originConnections, long requests, long hits) {}

    /**
     * Threads of a moment. Immutable.
     *
     * @param threads at most this many
     * @param left how many more there are
     */
    record ThreadReport(List<ThreadView> threads, int left) {}

    /**
     * A thread. Immutable.
     *
     * @param name its name
     * @param state such as {@code runnable} or {@code waiting}
     * @param cpuMillis of CPU since its start; -1 where that is not told
     * @param stack the frames on top
     */
    record ThreadView(String name, String state, long cpuMillis, List<String> stack) {}
}
