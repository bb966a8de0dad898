package io.millrace.worker.control;

import java.nio.file.Path;

/**
 * The paths of the sockets and files between launcher and worker. Only the user of launcher and worker can access the
 * directory. Immutable.
 *
 * @param directory directory of all these files, with mode 0700
 */
public record ControlPaths(Path directory) {
    /** Socket for control messages, at which the launcher listens. */
    public Path control() {
        return directory.resolve("control.sock");
    }

    /** Socket over which listening sockets are sent as file descriptors, one per message. The launcher listens. */
    public Path descriptors() {
        return directory.resolve("descriptors.sock");
    }

    /** Admin socket of the worker with this number. The worker listens; the launcher forwards requests to it. */
    public Path workerAdmin(long generation) {
        return directory.resolve("worker-" + generation + ".sock");
    }

    /** File with the hooks of extensions that the worker with this number runs. */
    public Path workerHooks(long generation) {
        return workerHooks(workerAdmin(generation));
    }

    /** Returns the file with the hooks of extensions that the worker with this admin socket runs. */
    public static Path workerHooks(Path adminSocket) {
        return adminSocket.resolveSibling(adminSocket.getFileName() + ".hooks");
    }

    /** File by which a new launcher finds a running worker. See {@code WorkerIdentity}. */
    public Path workerIdentity() {
        return directory.resolve("worker.pid");
    }

    /** File that exists while the proxy is drained on request of the operator. */
    public Path drainMark() {
        return directory.resolve("server.draining");
    }

    /** Directory for temporary files of the warm-up of a worker. */
    public Path warmUp(long generation) {
        return directory.resolve("warm-up-" + generation);
    }

    /** Directory for temporary files of the recording of a class archive. */
    public Path recording() {
        return directory.resolve("recording");
    }
}
