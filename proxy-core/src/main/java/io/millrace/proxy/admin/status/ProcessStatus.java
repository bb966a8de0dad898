package io.millrace.proxy.admin.status;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The part of {@code GET /v1/status} about the launcher, the parent process of the workers. Immutable.
 *
 * @param launcherPid the launcher's process id
 * @param workerPid process id of the worker that accepts connections; 0 for none
 * @param workerRestarts number of workers started after the first
 * @param workerState state of the worker as the launcher sees it, such as {@code ready} or {@code backing-off}
 * @param warmUp warm-up of the next worker; null for none
 */
public record ProcessStatus(
        long launcherPid,
        long workerPid,
        long workerRestarts,
        String workerState,
        @Nullable WarmUp warmUp) {
    /**
     * A worker that warms up before it takes over. Immutable.
     *
     * @param workerPid process id
     * @param seconds duration of the warm-up so far
     * @param limitSeconds limit of the duration
     */
    public record WarmUp(long workerPid, long seconds, long limitSeconds) {}

    /** Writes the member {@code process}. */
    public void write(JsonGenerator json) {
        json.writeObjectPropertyStart("process");
        json.writeNumberProperty("launcher_pid", launcherPid);
        json.writeNumberProperty("worker_pid", workerPid);
        json.writeNumberProperty("worker_restarts", workerRestarts);
        json.writeStringProperty("worker_state", workerState);
        if (warmUp != null) {
            json.writeObjectPropertyStart("warming_up");
            json.writeNumberProperty("worker_pid", warmUp.workerPid());
            json.writeNumberProperty("seconds", warmUp.seconds());
            json.writeNumberProperty("limit_seconds", warmUp.limitSeconds());
            json.writeEndObject();
        }
        json.writeEndObject();
    }
}
