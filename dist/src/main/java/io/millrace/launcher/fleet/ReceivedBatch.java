package io.millrace.launcher.fleet;

import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.fleet.FleetService.Outcome;
import io.millrace.proxy.purge.fleet.FleetPosition;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Received messages that the worker applies together. Immutable, except for the answer.
 *
 * @param sent the batch as the worker receives it
 * @param positions the positions of all messages
 * @param own the positions of this node's own messages
 * @param lastLossNotice sequence number of the newest notice that the stream may have lost messages; -1 if none
 * @param answer the answer of the worker, as in {@link WorkerPurges#apply}
 */
record ReceivedBatch(
        FleetBatch sent,
        List<FleetPosition> positions,
        List<FleetPosition> own,
        long lastLossNotice,
        CompletableFuture<@Nullable Outcome> answer) {

    /** Returns the same messages with the answer to a later attempt to apply them. */
    ReceivedBatch again(CompletableFuture<@Nullable Outcome> next) {
        return new ReceivedBatch(sent, positions, own, lastLossNotice, next);
    }

    /** Returns true if the worker has answered, so that {@link #outcome} does not block. */
    boolean isAnswered() {
        return answer.isDone();
    }

    /** Waits for the answer. Returns false if it did not arrive within the time. */
    boolean awaitAnswer(long millis) throws InterruptedException {
        try {
            answer.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /**
     * Returns the worker's answer. Returns null if the worker did not apply the batch, because the worker's position in
     * the stream differs from the batch's start. Blocks until the answer arrives.
     *
     * @throws IOException if no worker answered, or the storage could not be written
     */
    @Nullable
    Outcome outcome() throws IOException, InterruptedException {
        return outcome(answer);
    }

    /** Waits for the answer of a worker, as {@link #outcome()} does. */
    static @Nullable Outcome outcome(CompletableFuture<@Nullable Outcome> answer)
            throws IOException, InterruptedException {
        try {
            return answer.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getMessage(), e);
        }
    }
}
