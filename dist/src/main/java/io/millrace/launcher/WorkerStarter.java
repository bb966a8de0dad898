package io.millrace.launcher;

import java.io.IOException;

/** Starts worker processes. */
interface WorkerStarter {
    /**
     * Starts the {@code generation}th worker; it will connect to the control socket.
     *
     * @throws IOException when the JVM cannot be started
     */
    Process start(long generation) throws IOException;
}
