package io.millrace.launcher.fleet;

import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.fleet.FleetService.Outcome;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Passes purges and nodes of the fleet to the serving worker. Methods that declare IOException block for at most 30 s.
 */
interface WorkerPurges {
    /** The worker still applies an earlier batch, so the batch must be sent again later. */
    final class BusyException extends IOException {
        private static final long serialVersionUID = 1L;

        BusyException() {
            super("the worker still applies earlier purges");
        }
    }

    /**
     * Returns an outcome with the position of the worker in the stream; null if it has no position.
     *
     * @throws IOException if no worker answers
     */
    @Nullable
    Outcome position() throws IOException, InterruptedException;

    /**
     * Begins to apply a batch.
     *
     * @return completes on any thread when the batch is durable, within 30 s: with null if the batch does not continue
     *     at the worker's position; with a {@link BusyException} if the worker still applies an earlier batch; with
     *     another IOException if no worker answers, or the storage cannot be written
     */
    CompletableFuture<@Nullable Outcome> apply(FleetBatch batch);

    /** Returns a name that identifies the serving worker; empty while no worker serves. */
    String target();

    /**
     * Makes the worker read the file that lists the nodes that take requests.
     *
     * @throws IOException if no worker answers
     */
    void reloadMembers() throws IOException, InterruptedException;
}
