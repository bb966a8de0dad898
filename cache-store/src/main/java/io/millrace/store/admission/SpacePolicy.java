package io.millrace.store.admission;

import io.millrace.store.disk.KeepPolicy;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Decides what one volume admits and what reclaim keeps, by the reuse of similar objects before.
 *
 * <p>Objects are put in classes: new ones by how often their key was asked for of late, old ones by that and by how
 * often they were read in the last cycle of the ring buffer. For each class the history tells how many were asked for
 * again within a turn. An old object is kept if its chance is not far below that of new ones, for whom room would be
 * made; a new one is taken if its chance is not far below that of the least one kept. What was asked for once and never
 * again has no claim to be kept.
 *
 * <p>As long as the ring has never been full all new objects are taken.
 *
 * <p>What is known is summed up with each segment begun, and now and then while new objects come and none is taken.
 *
 * <p>Thread-safe; {@link #segmentBegun} and {@link #worth} are confined to the volume's writer thread.
 */
public final class SpacePolicy implements KeepPolicy {
    /** Classes by frequency: these and less. */
    private static final int[] FREQUENCY_STEPS = {1, 2, 3, 5, 8, 12, FrequencySketch.COUNT_MAX};

    private static final int STEPS = 8;
    private static final int HITS_MAX = 3;
    private static final int CLASSES = STEPS * (HITS_MAX + 2);
    /** Chance of an old object, in that of new ones, from which on it is kept. */
    private static final double KEPT_FROM = 0.2;
    /** Chance of a new object, in that of the least one kept, from which on it is taken. */
    private static final double TAKEN_FROM = 0.2;
    /** What is believed of new objects before anything is known. */
    private static final double EXPECTED_OF_NEW = 0.05;
    /** As {@link #EXPECTED_OF_NEW}, of old ones, for each step of frequency. */
    private static final double EXPECTED_OF_OLD = 0.06;

    private static final double NOTHING_KEPT = 2;
    /** Refusals after which it is looked whether they are still right. */
    private static final int REFUSED_BEFORE_A_LOOK = 64;
    /** Bytes of volume for a long of the sketch. */
    private static final int BYTES_PER_LONG = 512;
    /** Bytes of volume for a slot of the history. */
    private static final int BYTES_PER_SLOT = 512;

    private final AdmissionRule rule;
    private final int segments;
    private final FrequencySketch sketch;
    private final ReuseHistory history;
    private final LongAdder refused = new LongAdder();
    private final ReentrantLock summing = new ReentrantLock();
    private final AtomicInteger refusedSince = new AtomicInteger();
    /** Least chance of what was kept of the last segment; confined to the volume's thread, as the next. */
    private double leastKept = NOTHING_KEPT;

    private double chanceOfNew;
    private final double[] chances = new double[CLASSES];
    private volatile long objects;
    /** Chance from which on a new object is taken. */
    private volatile double enough;

    private volatile boolean full;
    /** One bit for each class of new objects that is taken. */
    private volatile int taken = -1;

    /** A policy that knows nothing yet, for a volume of this many bytes. */
    public SpacePolicy(AdmissionRule rule, long bytes, int segments) {
        this.rule = rule;
        this.segments = segments;
        this.sketch = new FrequencySketch(bytes / BYTES_PER_LONG);
        this.history = new ReuseHistory(CLASSES, segments, bytes / BYTES_PER_SLOT);
    }

    /** Segments of the volume that this is about. */
    public int segments() {
        return segments;
    }

    /** The key was asked for, wherever it was found or not. Any thread. */
    public void requested(long keyHash) {
        sketch.count(keyHash);
        history.requested(keyHash);
    }

    /** Whether a new object of the key is taken; its request is counted already. Any thread. */
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

    /** New objects not taken so far. Any thread. */
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

    /** No segment is begun while nothing is taken: what was learnt from the refused must count all the same. */
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
