package io.millrace.proxy.admin;

import tools.jackson.core.JsonGenerator;

/**
 * The launcher's part of {@code GET /v1/status}. Immutable.
 *
 * @param launcherPid the launcher's process id
 * @param workerPid the process id of the worker that accepts, 0 when there is none
 * @param workerRestarts how many workers were started after the first
 * @param workerState the worker as the launcher sees it, such as {@code ready} or {@code backing-off}
 */
public record ProcessStatus(long launcherPid, long workerPid, long workerRestarts, String workerState) {
    /** Writes the member {@code process}. */
    void write(JsonGenerator json) {
        json.writeObjectPropertyStart("process");
        json.writeNumberProperty("launcher_pid", launcherPid);
        json.writeNumberProperty("worker_pid", workerPid);
        json.writeNumberProperty("worker_restarts", workerRestarts);
        json.writeStringProperty("worker_state", workerState);
        json.writeEndObject();
    }
}
