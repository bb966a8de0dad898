package io.millrace.store.engine.curve;

import io.millrace.store.StoreStatistics;
import io.millrace.store.StoreStatistics.CurveGroup;
import io.millrace.store.StoreStatistics.CurvePoint;
import io.millrace.store.StoreStatistics.CurveStage;
import io.millrace.store.curve.CurveReport;
import io.millrace.store.curve.MissRatioCurve;
import io.millrace.store.memory.AccessFeed;
import io.millrace.store.memory.RamTier;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Simulates the hit ratio of the RAM tier at other sizes, from sampled requests. The simulation runs on a thread of its
 * own.
 *
 * <p>Thread-safe.
 */
public final class CurveRecorder {
    private static final Logger LOG = LoggerFactory.getLogger(CurveRecorder.class);

    private static final long DRAIN_MILLIS = 100;
    /**
     * Maximum number of requests that are taken from the queue every 100 ms: 1,000 per second. One request takes up to
     * 10 us in all simulated caches together (measured with the C1 compiler). The simulation therefore uses at most 1 %
     * of a core.
     */
    private static final int REQUESTS_PER_DRAIN = 100;

    private static final int DRAINS_PER_REPORT = 10;
    private static final int DRAINS_PER_DECAY = 100;
    /** Factor for all counts every ten seconds. It halves them in 15 minutes: 0.5 to the power of 1/90. */
    private static final double DECAY = 0.992_328;

    private final RamTier<?> ram;
    private final AccessFeed feed;
    private final LongSupplier hits;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ScheduledExecutorService thread;
    private volatile StoreStatistics.@Nullable HitRatioCurve report;

    /**
     * Creates a recorder. The simulation is off until {@link #simulate} starts it.
     *
     * @param hits number of RAM hits since the start
     */
    public CurveRecorder(RamTier<?> ram, LongSupplier hits) {
        this.ram = ram;
        this.feed = ram.accesses();
        this.hits = hits;
    }

    /** Implements {@link io.millrace.store.CacheStore#simulateSizes}. May wait for the end of one drain. */
    public void simulate(@Nullable Function<byte[], String> groupOf) {
        lock.lock();
        try {
            if (groupOf != null && thread == null && ram.isEnabled()) {
                start(groupOf);
            } else if (groupOf == null && thread != null) {
                stop(thread);
                thread = null;
            }
        } finally {
            lock.unlock();
        }
    }

    private void start(Function<byte[], String> groupOf) {
        Run run = new Run(new MissRatioCurve(ram.bytesLimit(), groupOf));
        ScheduledExecutorService started =
                Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("millrace-store-curve", true));
        report = run.view();
        feed.sampleBelow(run.curve.threshold());
        var unused = started.scheduleWithFixedDelay(run, DRAIN_MILLIS, DRAIN_MILLIS, TimeUnit.MILLISECONDS);
        thread = started;
    }

    private void stop(ScheduledExecutorService running) {
        running.shutdownNow();
        boolean interrupted = false;
        try {
            while (!running.awaitTermination(1, TimeUnit.SECONDS)) {
                LOG.warn("the simulation of RAM sizes has not ended yet");
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        feed.stop();
        report = null;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the latest result; null while the simulation is off. */
    public StoreStatistics.@Nullable HitRatioCurve report() {
        return report;
    }

    /** One simulation. Confined to its thread. */
    private final class Run implements Runnable {
        private final MissRatioCurve curve;
        /** Sampled requests that the feed had lost before this simulation, because its queue was full. */
        private final long lostAtStart = feed.lost();

        private final long sinceMillis = System.currentTimeMillis();
        private final long requestsAtStart = requests();
        private long requestsAtLastDrain = requestsAtStart;
        private long hitsAtLastDrain = hits.getAsLong();
        /** Requests and hits of the RAM tier; old ones count less. */
        private double recentRequests;

        private double recentHits;
        private long lostAtLastDrain = lostAtStart;
        private int drains;

        Run(MissRatioCurve curve) {
            this.curve = curve;
        }

        private long requests() {
            return hits.getAsLong() + feed.absent();
        }

        private long lost() {
            return feed.lost() - lostAtStart;
        }

        @Override
        public void run() {
            try {
                drain();
            } catch (RuntimeException | Error e) {
                feed.stop();
                report = null;
                LOG.error("the simulation of RAM sizes failed and is off; to restart it, set cache.curve again", e);
                throw e;
            }
        }

        private void drain() {
            long lostNow = feed.lost();
            long requestsNow = requests();
            boolean isFull = feed.drain(REQUESTS_PER_DRAIN, curve::request) == REQUESTS_PER_DRAIN;
            if (isFull || lostNow != lostAtLastDrain) {
                // The number of requests since the last drain cannot correct the counts, because some of their samples
                // were lost or are still in the queue.
                curve.expectNothing();
                curve.reduceLoad();
            } else {
                curve.expect(requestsNow - requestsAtLastDrain);
            }
            long hitsNow = hits.getAsLong();
            recentRequests += requestsNow - requestsAtLastDrain;
            recentHits += hitsNow - hitsAtLastDrain;
            hitsAtLastDrain = hitsNow;
            requestsAtLastDrain = requestsNow;
            lostAtLastDrain = lostNow;
            feed.sampleBelow(curve.threshold());
            drains++;
            if (drains % DRAINS_PER_REPORT == 0) {
                report = view();
            }
            if (drains == DRAINS_PER_DECAY) {
                drains = 0;
                curve.ramBytes(ram.bytesLimit());
                curve.decay(DECAY);
                recentRequests *= DECAY;
                recentHits *= DECAY;
                feed.sampleBelow(curve.threshold());
            }
        }

        private StoreStatistics.HitRatioCurve view() {
            CurveReport estimate = curve.report(lost());
            return new StoreStatistics.HitRatioCurve(
                    CurveStage.valueOf(estimate.stage().name()),
                    sinceMillis,
                    requestsAtLastDrain - requestsAtStart,
                    recentRequests <= 0 ? 0 : Math.min(1, recentHits / recentRequests),
                    ram.evictsByRecency(),
                    estimate.ramBytes(),
                    estimate.sampleRate(),
                    estimate.sampledKeys(),
                    estimate.requests(),
                    estimate.lost(),
                    points(estimate),
                    groups(estimate));
        }
    }

    private static List<CurvePoint> points(CurveReport estimate) {
        List<CurvePoint> points = new ArrayList<>();
        for (CurveReport.Point point : estimate.points()) {
            points.add(new CurvePoint(
                    point.scale(),
                    point.bytes(),
                    point.tinyLfu().requestHitRatio(),
                    point.tinyLfu().byteHitRatio(),
                    point.lru().requestHitRatio(),
                    point.lru().byteHitRatio(),
                    point.s3Fifo().requestHitRatio(),
                    point.s3Fifo().byteHitRatio()));
        }
        return List.copyOf(points);
    }

    private static List<CurveGroup> groups(CurveReport estimate) {
        List<CurveGroup> groups = new ArrayList<>();
        for (CurveReport.Group group : estimate.groups()) {
            groups.add(new CurveGroup(group.name(), group.requests(), group.hitRatios()));
        }
        return List.copyOf(groups);
    }
}
