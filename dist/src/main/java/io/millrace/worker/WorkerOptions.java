package io.millrace.worker;

import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.DefaultPaths;
import java.nio.file.Path;

/**
 * The command-line arguments of a worker process. The worker receives everything else over the control socket.
 * Immutable.
 *
 * @param control paths of the sockets between launcher and worker
 * @param defaultPaths default paths for settings without a path
 * @param generation number of the worker
 * @param beatIntervalNanos interval of heartbeats in nanoseconds
 */
record WorkerOptions(ControlPaths control, DefaultPaths defaultPaths, long generation, long beatIntervalNanos) {
    private static final int ARGUMENTS = 6;

    private static final String USAGE =
            "usage: CONTROL_DIR STATE_DIR CACHE_DIR LOG_DIR GENERATION BEAT_INTERVAL_NANOS; millrace run starts the worker";

    static WorkerOptions parse(String[] arguments) {
        if (arguments.length != ARGUMENTS) {
            throw new IllegalArgumentException(USAGE);
        }
        return new WorkerOptions(
                new ControlPaths(Path.of(arguments[0])),
                new DefaultPaths(Path.of(arguments[1]), Path.of(arguments[2]), Path.of(arguments[3])),
                Long.parseLong(arguments[4]),
                Long.parseLong(arguments[5]));
    }
}
