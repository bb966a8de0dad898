package io.millrace.store.admission;

import io.millrace.store.disk.KeepPolicy;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The admission and retention policy of one volume, learned from the reuse of similar objects.
 *
 * <p>Objects are grouped into classes. The class of a new object is the recent request count of its key. The class of
 * an old object also contains its reads in the last pass through the ring. The history provides the reuse rate of each
 * class within one pass. An old object is kept if its rate is not far below the rate of new objects, which would take
 * its space. A new object is admitted if its rate is not far below the lowest rate that was kept. An object that was
 * requested only once is not kept.
 *
 * <p>Until the ring is full for the first time all new objects are admitted.
 *
 * <p>Rates are updated with each segment begun, and periodically while all new objects are refused.
 *
 * <p>Thread-safe; {@link #segmentBegun} and {@link #worth} are confined to the volume's writer thread.
 */
public final class SpacePolicy implements KeepPolicy {
    /** Upper limits of the classes by request count. */
    private static final int[] FREQUENCY_STEPS = {1, 2, 3, 5, 8, 12, FrequencySketch.COUNT_MAX};

    private static final int STEPS = 8;
    private static final int HITS_MAX = 3;
    private static final int CLASSES = STEPS * (HITS_MAX + 2);
    /** Minimum reuse rate of a kept old object, as a fraction of the rate of new objects. */
    private static final double KEPT_FROM = 0.2;
    /** Minimum reuse rate of an admitted new object, as a fraction of the lowest kept rate. */
    private static final double TAKEN_FROM = 0.2;
    /** Assumed reuse rate of new objects before there is data. */
    private static final double EXPECTED_OF_NEW = 0.05;
    /** Like {@link #EXPECTED_OF_NEW}, for old objects, per step of request count. */
    private static final double EXPECTED_OF_OLD = 0.06;

    private static final double NOTHING_KEPT = 2;
    /** Number of refusals after which the admitted classes are recomputed. */
    private static final int REFUSED_BEFORE_A_LOOK = 64;
    /** Bytes of volume per long of the sketch. */
    private static final int BYTES_PER_LONG = 512;
    /** Bytes of volume per slot of the history. */
    private static final int BYTES_PER_SLOT = 512;

    private final AdmissionRule rule;
    private final int segments;
    private final FrequencySketch sketch;
    private final ReuseHistory history;
    private final LongAdder refused = new LongAdder();
    private final ReentrantLock summing = new ReentrantLock();
    private final AtomicInteger refusedSince = new AtomicInteger();
    /** Lowest rate kept in the last segment; confined to the volume's thread, like the next fields. */
    private double leastKept = NOTHING_KEPT;

    private double chanceOfNew;
    private final double[] chances = new double[CLASSES];
    private volatile long objects;
    /** Minimum rate of admitted new objects. */
    private volatile double enough;

    private volatile boolean full;
    /** Bit set of the admitted classes of new objects. */
    private volatile int taken = -1;

    /** Creates a policy without data, for a volume of this many bytes. */
    public SpacePolicy(AdmissionRule rule, long bytes, int segments) {
        this.rule = rule;
        this.segments = segments;
        this.sketch = new FrequencySketch(bytes / BYTES_PER_LONG);
        this.history = new ReuseHistory(CLASSES, segments, bytes / BYTES_PER_SLOT);
    }

    /** Returns the number of segments of the volume. */
    public int segments() {
        return segments;
    }

    /** Counts a request for the key, for a hit or a miss. Any thread. */
    public void requested(long keyHash) {
        sketch.count(keyHash);
        history.requested(keyHash);
    }

    /** Returns true if a new object of the key is admitted; its request was already counted. Any thread. */
    public boolean admits(long keyHash) {
        if (!full) {
            return true;
        }
        int frequency = sketch.frequency(keyHash);
        int step = step(frequency);
        history.decided(keyHash, step);
        boolean admitted =
                switch (rule) {
                    case ALWAYS -> true;
                    case SECOND_HIT -> frequency >= 2;
                    case FREQUENCY -> ((taken >>> step) & 1) != 0;
                };
        if (!admitted) {
            refused.increment();
            if (refusedSince.incrementAndGet() >= REFUSED_BEFORE_A_LOOK) {
                refusedSince.set(0);
                look();
            }
        }
        return admitted;
    }

    /** Returns the number of new objects that were refused. Any thread. */
    public long refused() {
        return refused.sum();
    }

    private static int step(int frequency) {
        int step = 0;
        while (frequency > FREQUENCY_STEPS[step]) {
            step++;
        }
        return step;
    }

    @Override
    public void segmentBegun(long objectsNow) {
        sketch.age(objectsNow);
        objects = objectsNow;
        enough = leastKept == NOTHING_KEPT ? 0 : TAKEN_FROM * leastKept;
        leastKept = NOTHING_KEPT;
        summing.lock();
        try {
            history.segmentBegun(objectsNow);
            choose();
            chanceOfNew = history.chance(0, STEPS, EXPECTED_OF_NEW);
            for (int cls = STEPS; cls < CLASSES; cls++) {
                chances[cls] = history.chance(cls, cls + 1, EXPECTED_OF_OLD * (1 + cls % STEPS));
            }
        } finally {
            summing.unlock();
        }
        full = true;
    }

    /**
     * Recomputes the admitted classes. No segment is begun while all objects are refused, so results of refused objects
     * would otherwise have no effect.
     */
    private void look() {
        if (summing.tryLock()) {
            try {
                history.sumUp(objects);
                choose();
            } finally {
                summing.unlock();
            }
        }
    }

    private void choose() {
        int bits = 0;
        for (int step = 0; step < STEPS; step++) {
            if (history.chance(step, step + 1, EXPECTED_OF_NEW) >= enough) {
                bits |= 1 << step;
            }
        }
        taken = bits;
    }

    @Override
    public int worth(long keyHash, int hits) {
        int frequency = sketch.frequency(keyHash);
        int step = step(frequency);
        int cls = STEPS * (1 + Math.min(hits, HITS_MAX)) + step;
        double chance = chances[cls];
        history.decided(keyHash, cls);
        if ((hits == 0 && frequency < 2) || chance < KEPT_FROM * chanceOfNew) {
            return 0;
        }
        leastKept = Math.min(leastKept, chance);
        return Math.max(1, (int) (chance * WORTH_MAX));
    }
}
