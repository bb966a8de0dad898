package io.millrace.launcher.process;

import java.io.IOException;

/** Starts worker processes. */
public interface WorkerStarter {
    /**
     * Starts the worker with this number; it connects to the control socket.
     *
     * @throws IOException if the JVM cannot be started
     */
    Process start(long generation) throws IOException;

    /**
     * Discards the class archive, which only speeds up starts. Called when a worker has crashed or hung during or just
     * after its start, or has exited before it connected.
     *
     * @return whether there was an archive, so that the next start may succeed
     */
    default boolean distrust() {
        return false;
    }

    /** Called when {@code worker}, which this object has started, is ready. */
    default void cameUp(ProcessHandle worker) {}
}
