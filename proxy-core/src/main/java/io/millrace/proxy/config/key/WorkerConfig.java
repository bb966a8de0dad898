package io.millrace.proxy.config.key;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the worker process, which the launcher starts. An embedded proxy uses only event loops and transport.
 * Immutable.
 *
 * @param javaHome JDK of the worker; null for the JDK of the launcher
 * @param eventLoops number of event loops; 0 for one per core
 * @param transport I/O mechanism of the sockets
 * @param fastLane whether hits in RAM on new connections use the fast lane, a shorter code path
 * @param heapBytes Java heap of the worker
 * @param heartbeatIntervalMillis interval of the worker's heartbeats
 * @param heartbeatTimeoutMillis time without a heartbeat after which the worker is considered hung
 * @param warmUpLimit longest time of the warm-up before the worker takes over; zero for no warm-up
 */
public record WorkerConfig(
        @Nullable Path javaHome,
        int eventLoops,
        Transport transport,
        boolean fastLane,
        long heapBytes,
        long heartbeatIntervalMillis,
        long heartbeatTimeoutMillis,
        Duration warmUpLimit) {
    private static final long HEAP_BYTES_MIN = 512L << 20;
    /** The heap grows by the size of the RAM tier divided by this number. */
    private static final int HEAP_RAM_SHARE = 8;

    /** I/O mechanism of the sockets. */
    public enum Transport {
        /** Epoll if available, else NIO. */
        AUTO,
        /** Linux epoll; an error if it is not available. */
        EPOLL,
        /** The NIO of the JDK. */
        NIO
    }

    /**
     * Computes the heap size. A response in RAM needs about 700 bytes of heap for its key and head; half of the heap is
     * reserved for these.
     */
    private static long heapBytes(ConfigValues values) {
        long configured = values.get(ConfigKeys.WORKER_HEAP_SIZE);
        return configured > 0 ? configured : HEAP_BYTES_MIN + values.get(ConfigKeys.CACHE_RAM_SIZE) / HEAP_RAM_SHARE;
    }

    public static WorkerConfig from(ConfigValues values) {
        return new WorkerConfig(
                values.find(ConfigKeys.WORKER_JAVA_HOME),
                values.get(ConfigKeys.WORKER_EVENT_LOOPS),
                values.get(ConfigKeys.WORKER_TRANSPORT),
                values.get(ConfigKeys.WORKER_FAST_LANE),
                heapBytes(values),
                values.get(ConfigKeys.WORKER_HEARTBEAT_INTERVAL).toMillis(),
                values.get(ConfigKeys.WORKER_HEARTBEAT_TIMEOUT).toMillis(),
                values.get(ConfigKeys.WORKER_WARM_UP_LIMIT));
    }
}
