package io.millrace.launcher.fleet;

import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.fleet.FleetService.Outcome;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Passes purges of other nodes to the serving worker. Methods block for at most 30 s. */
interface WorkerPurges {
    /**
     * Returns the position of the worker in the stream; null if it has none.
     *
     * @throws IOException if no worker answers
     */
    @Nullable
    Outcome position() throws IOException, InterruptedException;

    /**
     * Applies a batch. Returns null if the batch does not continue at the worker's position.
     *
     * @throws IOException if no worker answers, or the storage cannot be written
     */
    @Nullable
    Outcome apply(FleetBatch batch) throws IOException, InterruptedException;
}
