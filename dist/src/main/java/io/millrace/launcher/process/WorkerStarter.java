package io.millrace.launcher.process;

import java.io.IOException;

/** The starter of worker processes with one configuration. */
public interface WorkerStarter {
    /**
     * Starts the worker with the number {@code generation}. The worker then connects to the control socket.
     *
     * @throws IOException if the JVM cannot be started
     */
    Process start(long generation) throws IOException;

    /**
     * Discards the class archive, which only speeds up starts. Called when a worker has crashed or hung during or just
     * after its start, or has exited before it connected.
     *
     * @return whether there was an archive, which means that the next start may succeed
     */
    default boolean discardArchive() {
        return false;
    }

    /** Called when a worker that this object has started is ready. */
    default void becameReady(ProcessHandle worker) {}
}
