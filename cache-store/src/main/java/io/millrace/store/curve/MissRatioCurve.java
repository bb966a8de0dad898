package io.millrace.store.curve;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Simulates RAM tiers of several sizes with a sample of the keys. Source: miniature simulation (Waldspurger et al.,
 * ATC 2017).
 *
 * <pre>
 *   request ── hash below the threshold? ──> caches of 1/4 to 8 times the size, each scaled by the sample rate
 * </pre>
 *
 * <p>All requests for a sampled key are simulated, and none for other keys. The size of a simulated cache is the size
 * that it represents, multiplied by the sample rate. The rate starts at 1 and is lowered by a quarter when more than
 * {@value #KEYS_MAX} keys would be in the simulation, as in SHARDS with a fixed size (Waldspurger et al., FAST 2015).
 * So the simulation takes at most 8 MiB of memory.
 *
 * <p>Popular keys may be over- or under-represented in the sample. The difference between the expected and the actual
 * number of sampled requests counts as hits (SHARDS-adj). Byte ratios have no such correction.
 *
 * <p>All simulated caches begin empty. {@link SimulationColdStart} decides when the figures are usable. It divides the
 * time until then into windows, and the counts mostly describe the latest window.
 *
 * <p>Confined to one thread at a time. Uses no clock and no I/O.
 */
public final class MissRatioCurve {
    /** Maximum number of keys in the simulation. */
    public static final int KEYS_MAX = 10_240;
    /** Minimum number of keys that remain when the rate is lowered because of too many requests. */
    static final int KEYS_MIN = 1024;

    /** The simulated sizes, as multiples of the present size. */
    private static final double[] SCALES = {0.25, 0.5, 1, 2, 4, 8};

    /** Index of the present size. */
    private static final int PRESENT = 2;
    /** Divisor: the cold start begins again after the size of the RAM tier has changed by more than this fraction. */
    private static final int WARM_UP_AGAIN_DIVISOR = 10;

    /** Maximum number of groups that are counted separately. */
    static final int GROUPS_MAX = 64;

    private static final int GROUPS_SHOWN = 10;
    /** Factor of the sample rate when it is lowered. */
    private static final double STEP = 0.75;
    /** Limit of {@link #steps}: the rate is then 10 to the power of -10. */
    private static final int STEPS_MAX = 80;
    /** The rate is raised when fewer keys than the maximum divided by this number are in the simulation. */
    private static final int FEW_KEYS_DIVISOR = 2;
    /** Number of periods without a change of the rate after which it may be raised. */
    private static final int CALM_PERIODS = 12;

    private final Function<byte[], String> groupOf;
    private final GroupCounts groups = new GroupCounts(GROUPS_MAX, SCALES.length);
    private final SampledKeys keys = new SampledKeys(KEYS_MAX);
    private final KeyHolders holders = new KeyHolders(keys, groups);
    private final List<TinyLfuCache> tinyLfu = new ArrayList<>();
    private final List<SimulatedCache> lru = new ArrayList<>();
    private final List<SimulatedCache> s3Fifo = new ArrayList<>();
    private final HitCounts counts = new HitCounts(SCALES.length);
    /** The sample rate is {@link #STEP} to this power. */
    private int steps;
    /**
     * Like {@link #steps}, for the keys whose requests are counted. After the sample rate was raised, this field stays
     * higher for one period, in which the added keys fill the caches.
     */
    private int countedSteps;
    /** Requests for keys with a hash below this limit are simulated. */
    private long threshold = Long.MAX_VALUE;

    /** Requests for keys with a hash below this limit are also counted. */
    private long countedThreshold = Long.MAX_VALUE;
    /** Calls of {@link #decay} since the last change of the rate. */
    private int calmPeriods;

    private long ramBytes;
    private SimulationColdStart coldStart = new SimulationColdStart();
    /** Size of the RAM tier when the cold start began. */
    private long warmUpRamBytes;

    /**
     * Creates an empty simulation.
     *
     * @param ramBytes present size of the RAM tier, in bytes
     * @param groupOf returns the name of the group of a key, such as its host; called once for each new key
     */
    public MissRatioCurve(long ramBytes, Function<byte[], String> groupOf) {
        this.groupOf = groupOf;
        this.ramBytes = ramBytes;
        warmUpRamBytes = ramBytes;
        for (int i = 0; i < SCALES.length; i++) {
            tinyLfu.add(new TinyLfuCache(holders));
            lru.add(new LruCache(keys, holders));
            s3Fifo.add(new S3FifoCache(keys, holders));
        }
        resizeCaches();
    }

    /**
     * Returns the limit of sampled hashes: a key is sampled if its hash is below. It changes with the sample rate. All
     * hashes but one are below {@link Long#MAX_VALUE}.
     */
    public long threshold() {
        return threshold;
    }

    private void setThresholds() {
        threshold = threshold(steps);
        countedThreshold = threshold(countedSteps);
    }

    private static long threshold(int steps) {
        // The range of hashes has 2 to the power of 64 values; half of them are negative.
        return steps == 0 ? Long.MAX_VALUE : (long) Math.scalb(rate(steps) - 0.5, Long.SIZE);
    }

    /** Returns the share of the keys that is sampled. */
    public double sampleRate() {
        return rate(steps);
    }

    private static double rate(int steps) {
        return Math.pow(STEP, steps);
    }

    /** Returns the number of keys in the simulation. */
    public int keys() {
        return keys.count();
    }

    /**
     * Sets the present size of the RAM tier. Small changes are ignored, because each change evicts. After a change by
     * more than a tenth the figures are not usable until the caches have adapted.
     *
     * @param bytes size in bytes
     */
    public void ramBytes(long bytes) {
        // The limit of the tier changes with the use of other memory. A change by less than a 64th has no noticeable
        // effect on a hit ratio.
        if (Math.abs(bytes - ramBytes) > ramBytes / 64) {
            ramBytes = bytes;
            resizeCaches();
        }
        if (Math.abs(ramBytes - warmUpRamBytes) > warmUpRamBytes / WARM_UP_AGAIN_DIVISOR) {
            warmUpRamBytes = ramBytes;
            coldStart = new SimulationColdStart();
            counts.decay(SimulationColdStart.WEIGHT_BEFORE);
            groups.decay(SimulationColdStart.WEIGHT_BEFORE);
            tinyLfu.get(PRESENT).forgetEvictions();
        }
    }

    private void resizeCaches() {
        for (int i = 0; i < SCALES.length; i++) {
            long bytes = (long) (ramBytes * SCALES[i] * sampleRate());
            tinyLfu.get(i).resize(bytes);
            lru.get(i).resize(bytes);
            s3Fifo.get(i).resize(bytes);
        }
    }

    /**
     * Simulates one request. A hash that is not sampled is ignored.
     *
     * @param hash hash of the key
     * @param size bytes that the object occupies in the RAM tier
     * @param keyBytes the key; borrowed during the call
     */
    public void request(long hash, int size, byte[] keyBytes) {
        if (hash >= threshold) {
            return;
        }
        int weight = Math.max(1, size);
        SampledKey key = keys.find(hash);
        if (key == null) {
            while (keys.isFull()) {
                lowerRate();
            }
            if (hash >= threshold) {
                return;
            }
            key = keys.add(hash, groups.addKey(groupOf.apply(keyBytes)), weight);
        }
        // Counts as a holder, so that the key is not removed before a cache holds it.
        holders.retain(key);
        if (key.size != weight) {
            changeSize(key, weight);
        }
        boolean counted = hash < countedThreshold;
        if (counted) {
            counts.request(weight);
            groups.request(key.group);
        }
        for (int i = 0; i < SCALES.length; i++) {
            boolean hit = tinyLfu.get(i).access(key);
            boolean hitLru = lru.get(i).access(key);
            boolean hitS3 = s3Fifo.get(i).access(key);
            if (counted) {
                counts.hits(i, weight, hit, hitLru, hitS3);
                if (hit) {
                    groups.hit(key.group, i);
                }
            }
        }
        holders.release(key);
    }

    private void changeSize(SampledKey key, int weight) {
        int more = weight - key.size;
        key.size = weight;
        for (int i = 0; i < SCALES.length; i++) {
            tinyLfu.get(i).sizeChanged(key, more);
            lru.get(i).sizeChanged(key, more);
            s3Fifo.get(i).sizeChanged(key, more);
        }
    }

    /**
     * Adds the number of all requests, from which the expected number of sampled requests is computed.
     *
     * @param requests all requests, sampled or not, since the previous call
     */
    public void expect(long requests) {
        counts.expect(requests * rate(countedSteps));
    }

    /** Continues after sampled requests were lost: the requests since the previous call cannot be corrected. */
    public void expectNothing() {
        counts.expectActual();
    }

    /**
     * Lowers the sample rate if enough keys remain. Called when more sampled requests arrive than the thread can
     * simulate.
     */
    public void reduceLoad() {
        if (keys.count() >= 2 * KEYS_MIN) {
            lowerRate();
        }
    }

    private void lowerRate() {
        if (steps == STEPS_MAX) {
            throw new IllegalStateException("the hashes of the keys are not distributed evenly");
        }
        steps++;
        calmPeriods = 0;
        if (countedSteps < steps) {
            countedSteps = steps;
            // Converts all counts to the values that the new rate would have given.
            counts.scale(STEP);
            groups.decay(STEP);
        }
        setThresholds();
        long limit = threshold;
        for (int id = 0; id < keys.capacity(); id++) {
            SampledKey key = keys.byId(id);
            if (key != null && key.hash >= limit) {
                remove(key);
            }
        }
        resizeCaches();
    }

    private void remove(SampledKey key) {
        holders.retain(key);
        for (int i = 0; i < SCALES.length; i++) {
            tinyLfu.get(i).remove(key);
            lru.get(i).remove(key);
            s3Fifo.get(i).remove(key);
        }
        holders.release(key);
    }

    /**
     * Ends a period: lowers the weight of old requests, and may raise the sample rate. Called periodically. The rate is
     * raised after {@value #CALM_PERIODS} calls without a change of the rate, if few keys are in the simulation. During
     * the cold start the factor is not used.
     *
     * @param factor factor for all counts until now, from 0 to 1
     */
    public void decay(double factor) {
        if (coldStart.isOver()) {
            counts.decay(factor);
            groups.decay(factor);
        } else if (coldStart.endPeriod(
                points(), counts.requests(), tinyLfu.get(PRESENT).hasEvicted())) {
            counts.decay(SimulationColdStart.WEIGHT_BEFORE);
            groups.decay(SimulationColdStart.WEIGHT_BEFORE);
        }
        if (countedSteps > steps) {
            // Keys that were added by the previous increase have had one period to fill the caches.
            countedSteps--;
            counts.scale(1 / STEP);
            groups.decay(1 / STEP);
        }
        calmPeriods++;
        if (steps > 0 && calmPeriods >= CALM_PERIODS && keys.count() < KEYS_MAX / FEW_KEYS_DIVISOR) {
            steps--;
            calmPeriods = 0;
            resizeCaches();
        }
        setThresholds();
    }

    /**
     * Returns the present estimate.
     *
     * @param lost value of {@link CurveReport#lost}
     */
    public CurveReport report(long lost) {
        double rate = rate(countedSteps);
        return new CurveReport(
                coldStart.stage(),
                ramBytes,
                sampleRate(),
                keys.count(),
                Math.round(counts.requests() / rate),
                lost,
                points(),
                groups.top(GROUPS_SHOWN, rate));
    }

    private List<CurveReport.Point> points() {
        List<CurveReport.Point> points = new ArrayList<>();
        for (int i = 0; i < SCALES.length; i++) {
            points.add(counts.point(SCALES[i], (long) (ramBytes * SCALES[i]), i));
        }
        return points;
    }
}
