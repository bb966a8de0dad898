package io.millrace.launcher.process;

import java.io.IOException;

/** Starts worker processes. */
public interface WorkerStarter {
    /**
     * Starts the {@code generation}th worker; it will connect to the control socket.
     *
     * @throws IOException when the JVM cannot be started
     */
    Process start(long generation) throws IOException;

    /**
     * A worker crashed, or hung, in its start or just after, or ended before it connected: what only makes starts faster is left out from now on.
     *
     * @return whether there was something to leave out, so that the next start may go better
     */
    default boolean distrust() {
        return false;
    }

    /** {@code worker}, which this has started, is ready. */
    default void cameUp(ProcessHandle worker) {}
}
