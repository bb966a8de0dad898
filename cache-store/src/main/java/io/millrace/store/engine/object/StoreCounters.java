package io.millrace.store.engine.object;

import io.millrace.store.StoreStatistics;
import java.util.concurrent.atomic.LongAdder;

/**
 * The event counters of a store, described in {@link StoreStatistics.Counters}.
 *
 * <p>Thread-safe.
 */
public final class StoreCounters {
    /** Lookups in RAM that found an object. */
    public final LongAdder ramHits = new LongAdder();
    /** Lookups in RAM that found no object. */
    public final LongAdder ramMisses = new LongAdder();
    /** Opens that found an object on a volume. */
    public final LongAdder diskHits = new LongAdder();
    /** Opens that found nothing on a volume. */
    public final LongAdder diskMisses = new LongAdder();
    /** Opens refused because a limit was reached. */
    public final LongAdder opensRefused = new LongAdder();
    /** Objects stored completely. */
    public final LongAdder writesCompleted = new LongAdder();
    /** Failures to store an object, to append a record, or to force a volume to disk. */
    public final LongAdder writesFailed = new LongAdder();
    /** Heads replaced. */
    public final LongAdder updates = new LongAdder();
    /** Objects removed. */
    public final LongAdder removals = new LongAdder();
    /** Damaged records found by reads. */
    public final LongAdder recordsDamaged = new LongAdder();
    /** Objects loaded into RAM after a start, from the saved list of hot objects. */
    public final LongAdder objectsRefilled = new LongAdder();
    /** Bytes verified by the scrubber. */
    public final LongAdder bytesScrubbed = new LongAdder();
    /** Damaged records found by the scrubber. */
    public final LongAdder recordsDamagedByScrub = new LongAdder();
    /** Removals refused because too many were waiting during a handover of the volumes to another process. */
    public final LongAdder removalsRefused = new LongAdder();

    /** Claims of blocks refused at the limit of claims per body. */
    final LongAdder claimsRefused = new LongAdder();
    /** Waits for a byte range refused at the limit of waiting readers per body. */
    final LongAdder rangesRefused = new LongAdder();

    /** Returns the current values of all counters. */
    public StoreStatistics.Counters snapshot(long segmentsReclaimed) {
        return new StoreStatistics.Counters(
                ramHits.sum(),
                ramMisses.sum(),
                diskHits.sum(),
                diskMisses.sum(),
                opensRefused.sum(),
                writesCompleted.sum(),
                writesFailed.sum(),
                updates.sum(),
                removals.sum(),
                recordsDamaged.sum(),
                objectsRefilled.sum(),
                segmentsReclaimed,
                bytesScrubbed.sum(),
                recordsDamagedByScrub.sum(),
                removalsRefused.sum(),
                claimsRefused.sum(),
                rangesRefused.sum());
    }
}
