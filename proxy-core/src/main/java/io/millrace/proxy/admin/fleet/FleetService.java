package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.purge.fleet.FleetPosition;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Applies purges of other nodes of a fleet. Thread-safe. */
public interface FleetService {
    /** The error code of a batch that is refused because an earlier batch is still being applied. */
    String BUSY = "fleet-busy";

    /** Returns the position in the stream of purges; null for none. */
    @Nullable
    FleetPosition position();

    /** Returns true if {@link #apply} may block, because it reads the identifier of the state directory from a file. */
    boolean mayBlock();

    /**
     * Applies messages in their order, and moves the position to the last one.
     *
     * @return completes when purges and position are durable; with an {@link AdminException} if the batch does not
     *     continue at the position, or the storage cannot be written
     */
    CompletionStage<Outcome> apply(FleetBatch batch);

    /**
     * The result of a batch. Immutable.
     *
     * @param position the new position
     * @param refused messages that could not be applied: identifier and reason
     */
    record Outcome(FleetPosition position, List<String> refused) {}
}
