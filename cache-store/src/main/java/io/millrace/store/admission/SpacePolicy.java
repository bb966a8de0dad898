package io.millrace.store.admission;

import io.millrace.store.disk.KeepPolicy;
import io.millrace.store.frequency.FrequencySketch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The admission and retention policy of one volume, learned from the reuse of similar objects.
 *
 * <p>Objects are grouped into classes. The class of a new object is the recent request count of its key. The class of
 * an old object also depends on its reads in the last pass through the ring of segments. {@link ReuseHistory} provides
 * the reuse rate of each class: the fraction of objects requested again within one pass. An old object is kept if the
 * rate of its class is not far below the rate of new objects, which would take its space. A new object is admitted if
 * the rate of its class is not far below the lowest rate among the objects kept recently. An object that was requested
 * only once is not kept.
 *
 * <p>Until the ring is full for the first time all new objects are admitted.
 *
 * <p>Rates are updated when a segment begins, and after every {@value #REFUSALS_PER_UPDATE} refused objects.
 *
 * <p>Thread-safe; {@link #segmentBegun} and {@link #rating} are confined to the volume's writer thread.
 */
public final class SpacePolicy implements KeepPolicy {
    /**
     * Highest request count of each step. A step is a range of request counts, and new objects of one step form a
     * class.
     */
    private static final int[] FREQUENCY_STEPS = {1, 2, 3, 5, 8, 12, FrequencySketch.COUNT_MAX};

    private static final int STEPS = 8;
    private static final int HITS_MAX = 3;
    private static final int CLASSES = STEPS * (HITS_MAX + 2);
    /** Fraction of the reuse rate of new objects that an old object must reach to be kept. */
    private static final double KEPT_RATE_FRACTION_MIN = 0.2;
    /** Fraction of the lowest kept reuse rate that a new object must reach to be admitted. */
    private static final double ADMITTED_RATE_FRACTION_MIN = 0.2;
    /** Assumed reuse rate of new objects before there is data. */
    private static final double ASSUMED_RATE_OF_NEW = 0.05;
    /**
     * Assumed reuse rate of old objects before there is data. It is multiplied by 1 plus the index of the step that
     * contains the object's request count.
     */
    private static final double ASSUMED_RATE_OF_OLD = 0.06;

    /** Value of {@link #lowestKeptRate} while no object was kept; higher than any rate, because rates are at most 1. */
    private static final double NOTHING_KEPT = 2;
    /** Number of refusals after which the admitted classes are recomputed. */
    private static final int REFUSALS_PER_UPDATE = 64;
    /** Bytes of the volume for each long of {@link #sketch}, the approximate counter of requests. */
    private static final int BYTES_PER_LONG = 512;
    /** Counts per object of the volume after which the sketch halves its counters. */
    private static final int COUNTS_PER_OBJECT = 60;
    /** Maximum number of longs of the sketch that one call halves. */
    private static final int LONGS_HALVED_PER_CALL = 1 << 19;
    /** Bytes of the volume for each slot of {@link #history}. */
    private static final int BYTES_PER_SLOT = 512;

    private final AdmissionRule rule;
    private final int segments;
    private final FrequencySketch sketch;
    private final ReuseHistory history;
    private final LongAdder refused = new LongAdder();
    /** Serializes the updates of the results in {@link #history}. */
    private final ReentrantLock summing = new ReentrantLock();

    private final AtomicInteger refusalsSinceUpdate = new AtomicInteger();
    /**
     * Lowest reuse rate among the objects kept since the last segment began. This field and the next two are confined
     * to the volume's writer thread.
     */
    private double lowestKeptRate = NOTHING_KEPT;

    private double rateOfNew;
    private final double[] ratesOfOld = new double[CLASSES];
    private volatile long objects;
    /** Minimum reuse rate of admitted new objects. */
    private volatile double admittedRateMin;

    private volatile boolean full;
    /** Bit set of the admitted steps: bit n is set if new objects of step n are admitted. */
    private volatile int admittedSteps = -1;

    /** Creates a policy without data, for a volume of this many bytes. */
    public SpacePolicy(AdmissionRule rule, long bytes, int segments) {
        this.rule = rule;
        this.segments = segments;
        this.sketch = new FrequencySketch(bytes / BYTES_PER_LONG, COUNTS_PER_OBJECT, LONGS_HALVED_PER_CALL);
        this.history = new ReuseHistory(CLASSES, segments, bytes / BYTES_PER_SLOT);
    }

    /** Returns the number of segments of the volume. */
    public int segments() {
        return segments;
    }

    /** Counts a request for the key, for a hit or a miss. Any thread. */
    public void recordRequest(long keyHash) {
        sketch.count(keyHash);
        history.recordRequest(keyHash);
    }

    /** Returns true if every new object is admitted, because the volume was never full. Any thread. */
    public boolean isAdmittingAll() {
        return !full;
    }

    /** Returns true if a new object with this key is admitted. Call {@link #recordRequest} first. Any thread. */
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
                    case FREQUENCY -> ((admittedSteps >>> step) & 1) != 0;
                };
        if (!admitted) {
            refused.increment();
            if (refusalsSinceUpdate.incrementAndGet() >= REFUSALS_PER_UPDATE) {
                refusalsSinceUpdate.set(0);
                updateWhileRefusing();
            }
        }
        return admitted;
    }

    /** Returns the number of new objects that were refused. Any thread. */
    public long refusals() {
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
        admittedRateMin = lowestKeptRate == NOTHING_KEPT ? 0 : ADMITTED_RATE_FRACTION_MIN * lowestKeptRate;
        lowestKeptRate = NOTHING_KEPT;
        summing.lock();
        try {
            history.segmentBegun(objectsNow);
            updateAdmittedSteps();
            rateOfNew = history.reuseRate(0, STEPS, ASSUMED_RATE_OF_NEW);
            for (int cls = STEPS; cls < CLASSES; cls++) {
                ratesOfOld[cls] = history.reuseRate(cls, cls + 1, ASSUMED_RATE_OF_OLD * (1 + cls % STEPS));
            }
        } finally {
            summing.unlock();
        }
        full = true;
    }

    /**
     * Recomputes which new objects are admitted. While all new objects are refused, no segment begins, so
     * {@link #segmentBegun} is not called. Without this method the policy would then never learn that refused objects
     * are requested again.
     */
    private void updateWhileRefusing() {
        if (summing.tryLock()) {
            try {
                history.addRecentResults(objects);
                updateAdmittedSteps();
            } finally {
                summing.unlock();
            }
        }
    }

    private void updateAdmittedSteps() {
        int bits = 0;
        for (int step = 0; step < STEPS; step++) {
            if (history.reuseRate(step, step + 1, ASSUMED_RATE_OF_NEW) >= admittedRateMin) {
                bits |= 1 << step;
            }
        }
        admittedSteps = bits;
    }

    @Override
    public int rating(long keyHash, int hits) {
        int frequency = sketch.frequency(keyHash);
        int step = step(frequency);
        int cls = STEPS * (1 + Math.min(hits, HITS_MAX)) + step;
        double rate = ratesOfOld[cls];
        history.decided(keyHash, cls);
        if ((hits == 0 && frequency < 2) || rate < KEPT_RATE_FRACTION_MIN * rateOfNew) {
            return 0;
        }
        lowestKeptRate = Math.min(lowestKeptRate, rate);
        return Math.max(1, (int) (rate * RATING_MAX));
    }
}
