package io.millrace.store.engine;

import io.millrace.store.StoreStatistics;
import java.util.concurrent.atomic.LongAdder;

/**
 * What happened in a store, as told by {@link StoreStatistics.Counters}.
 *
 * <p>Thread-safe.
 */
final class StoreCounters {
    final LongAdder ramHits = new LongAdder();
    final LongAdder ramMisses = new LongAdder();
    final LongAdder diskHits = new LongAdder();
    final LongAdder diskMisses = new LongAdder();
    final LongAdder opensRefused = new LongAdder();
    final LongAdder writesCompleted = new LongAdder();
    final LongAdder writesFailed = new LongAdder();
    final LongAdder updates = new LongAdder();
    final LongAdder removals = new LongAdder();
    final LongAdder recordsDamaged = new LongAdder();
    final LongAdder objectsRefilled = new LongAdder();
    final LongAdder bytesScrubbed = new LongAdder();
    final LongAdder recordsDamagedByScrub = new LongAdder();
    final LongAdder removalsRefused = new LongAdder();
    final LongAdder claimsRefused = new LongAdder();
    final LongAdder rangesRefused = new LongAdder();

    StoreStatistics.Counters snapshot(long segmentsReclaimed) {
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
