package io.millrace.launcher.history;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that reads the counters of the workers every 10 seconds, and adds the increases to the history. A replaced
 * worker is read until it ends, so that its last requests are counted too.
 *
 * <p>{@link #start} and {@link #close} may be called on any thread; the rest is confined to the sampler's thread.
 */
public final class Sampler implements AutoCloseable {
    /** Time between two samples. */
    public static final long PERIOD_SECONDS = 10;

    private static final Logger LOG = LoggerFactory.getLogger(Sampler.class);

    /** Limit of workers that are read. More exist only after many replacements in a short time. */
    private static final int WORKERS_MAX = 8;

    /** Reads the metrics of a worker. Blocks. */
    @FunctionalInterface
    public interface Metrics {
        /** Returns Prometheus' text format. */
        String read(Path socket) throws IOException, InterruptedException;
    }

    private final History history;
    private final Metrics metrics;
    private final Supplier<@Nullable Path> serving;
    private final LongSupplier clockMillis;
    private final long startedMillis;
    /** The last sample of each worker, by its admin socket. */
    private final Map<Path, Figures> lastSamples = new HashMap<>();

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread created = new Thread(task, "launcher-history");
        created.setDaemon(true);
        return created;
    });
    private long lastMillis;

    /**
     * Creates a sampler that is not started.
     *
     * @param serving returns the admin socket of the serving worker; null while there is none
     * @param clockMillis time of day, epoch milliseconds
     */
    public Sampler(History history, Metrics metrics, Supplier<@Nullable Path> serving, LongSupplier clockMillis) {
        this.history = history;
        this.metrics = metrics;
        this.serving = serving;
        this.clockMillis = clockMillis;
        startedMillis = clockMillis.getAsLong();
        lastMillis = startedMillis;
    }

    /** Starts sampling. Samples are taken at times of day that are multiples of the period. */
    public void start() {
        long periodMillis = TimeUnit.SECONDS.toMillis(PERIOD_SECONDS);
        long first = periodMillis - Math.floorMod(clockMillis.getAsLong(), periodMillis);
        var unused = thread.scheduleAtFixedRate(this::sampleSafely, first, periodMillis, TimeUnit.MILLISECONDS);
    }

    private void sampleSafely() {
        try {
            sample();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.warn("a sample of the history failed and is left out", e);
        }
    }

    /** Takes one sample. */
    void sample() throws InterruptedException {
        Path current = history.isOn() ? serving.get() : null;
        if (current == null) {
            if (!history.isOn()) {
                lastSamples.clear();
            }
            lastMillis = clockMillis.getAsLong();
            return;
        }
        Figures increase = new Figures();
        boolean isServing = addIncrease(current, increase);
        for (Path other : Map.copyOf(lastSamples).keySet()) {
            if (!other.equals(current) && !addIncrease(other, increase)) {
                lastSamples.remove(other);
            }
        }
        forgetTooMany(current);
        long now = clockMillis.getAsLong();
        // The clock may have been set, or the machine suspended. Then the real time between the samples is not known.
        long elapsed = Math.min(now - lastMillis, TimeUnit.SECONDS.toMillis(2 * PERIOD_SECONDS));
        lastMillis = now;
        if (elapsed <= 0) {
            return;
        }
        increase.measured(isServing ? elapsed : 0);
        // The increase is added to the step that contains the middle of the time between both samples.
        history.add(TimeUnit.MILLISECONDS.toSeconds(now - elapsed / 2), increase);
    }

    private void forgetTooMany(Path current) {
        Iterator<Path> sockets = lastSamples.keySet().iterator();
        while (lastSamples.size() > WORKERS_MAX && sockets.hasNext()) {
            if (!sockets.next().equals(current)) {
                sockets.remove();
            }
        }
    }

    /** Adds the increases of a worker's counters since its last sample. Returns false if the worker does not answer. */
    private boolean addIncrease(Path socket, Figures increase) throws InterruptedException {
        try {
            MetricsText.Sample sample = MetricsText.parse(metrics.read(socket));
            Figures before = lastSamples.put(socket, sample.figures());
            if (before != null) {
                increase.add(sample.figures().since(before));
            } else if (sample.startedSeconds() * 1000 >= startedMillis) {
                // The worker is younger than this launcher, so none of its counts is in the history yet.
                increase.add(sample.figures());
            }
            return true;
        } catch (IOException e) {
            LOG.debug("no sample of the worker at {}", socket, e);
            return false;
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
        try {
            if (!thread.awaitTermination(PERIOD_SECONDS, TimeUnit.SECONDS)) {
                LOG.debug("the last sample of the history is not complete");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
