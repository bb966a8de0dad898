package io.millrace.worker.control;

import java.nio.file.Path;

/**
 * The paths of the sockets and files that launcher and worker share in their private directory (mode 0700). Immutable.
 *
 * @param directory the private directory
 */
public record ControlPaths(Path directory) {
    /** Socket for control messages; the launcher listens. */
    public Path control() {
        return directory.resolve("control.sock");
    }

    /** Socket for descriptors, one per message; the launcher listens. */
    public Path descriptors() {
        return directory.resolve("descriptors.sock");
    }

    /** Admin socket of the worker with this number. The worker listens; the launcher forwards requests to it. */
    public Path workerAdmin(long generation) {
        return directory.resolve("worker-" + generation + ".sock");
    }

    /** File that identifies the running worker, for the launcher that adopts it. See {@code WorkerIdentity}. */
    public Path workerIdentity() {
        return directory.resolve("worker.pid");
    }

    /** File that exists while an operator drains the workers of this launcher. */
    public Path drainMark() {
        return directory.resolve("server.draining");
    }

    /** Directory of the running warm-up of the worker with this number. */
    public Path warmUp(long generation) {
        return directory.resolve("warm-up-" + generation);
    }

    /** Directory of the running recording of a class archive. */
    public Path rehearsal() {
        return directory.resolve("rehearsal");
    }
}
