package io.millrace.proxy.admin.status;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The launcher's part of {@code GET /v1/status}. Immutable.
 *
 * @param launcherPid the launcher's process id
 * @param workerPid the process id of the worker that accepts, 0 when there is none
 * @param workerRestarts how many workers were started after the first
 * @param workerState the worker as the launcher sees it, such as {@code ready} or {@code backing-off}
 * @param warmUp of the worker that is to take over; null when none warms up
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
     * @param workerPid its process id
     * @param seconds for which it has done so
     * @param limitSeconds the longest time that it takes
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
