package io.millrace.worker.control;

import java.nio.file.Path;

/**
 * Names of the sockets and files that launcher and worker share in their private directory (mode 0700). Immutable.
 *
 * @param directory the private directory
 */
public record ControlPaths(Path directory) {
    /** Control messages; the launcher listens. */
    public Path control() {
        return directory.resolve("control.sock");
    }

    /** Descriptors, one per message; the launcher listens. */
    public Path descriptors() {
        return directory.resolve("descriptors.sock");
    }

    /** The admin socket of the {@code generation}th worker; the worker listens, the launcher forwards to it. */
    public Path workerAdmin(long generation) {
        return directory.resolve("worker-" + generation + ".sock");
    }

    /** Process id and start time of the running worker, for a launcher that finds its predecessor dead. */
    public Path workerIdentity() {
        return directory.resolve("worker.pid");
    }

    /** Exists while an operator drains the workers of this launcher. */
    public Path drainMark() {
        return directory.resolve("server.draining");
    }

    /** Directory of the warm-up of the {@code generation}th worker while it runs. */
    public Path warmUp(long generation) {
        return directory.resolve("warm-up-" + generation);
    }

    /** Directory of a rehearsal while it runs. */
    public Path rehearsal() {
        return directory.resolve("rehearsal");
    }
}
