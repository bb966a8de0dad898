package io.millrace.proxy.config.key;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The process that serves, as the launcher starts it; embedded, only event loops and transport count. Immutable.
 *
 * @param javaHome JDK of the worker; null for the launcher's own
 * @param eventLoops 0 for one per core
 * @param transport how sockets are polled
 * @param fastLane whether plain connections are served without channels while they ask for hits in RAM
 * @param heapBytes Java heap of the worker
 * @param heartbeatIntervalMillis how often the worker reports
 * @param heartbeatTimeoutMillis silence after which it is taken for hung
 * @param warmUpLimit longest time that it warms up before it takes over; zero for not at all
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
    private static final int HEAP_RAM_SHARE = 8;

    /** How sockets are polled. */
    public enum Transport {
        /** Epoll where there is one, else NIO. */
        AUTO,
        /** Linux epoll; an error where it is missing. */
        EPOLL,
        /** The JDK's own. */
        NIO
    }

    /** A response in RAM takes some 700 bytes of heap for its key and head, and these may have half of it. */
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
