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
 * Reads the counters of the workers every 10 seconds, and adds their increases to the history. A worker that drains after
 * a roll is read until it ends, so that no request of a roll is missing.
 *
 * <p>{@link #start} and {@link #close} may be called on any thread; the rest is confined to the sampler's thread.
 */
public final class Sampler implements AutoCloseable {
    /** Time between two samples. */
    public static final long PERIOD_SECONDS = 10;

    private static final Logger LOG = LoggerFactory.getLogger(Sampler.class);

    /** Limit of workers that are read. More drain at the same time only after many rolls in a row. */
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
    private final Map<Path, Figures> known = new HashMap<>();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread made = new Thread(task, "launcher-history");
        made.setDaemon(true);
        return made;
    });
    private long lastMillis;

    /**
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

    /** Starts the samples, at whole multiples of their period. */
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
                known.clear();
            }
            lastMillis = clockMillis.getAsLong();
            return;
        }
        Figures increase = new Figures();
        boolean isServing = addIncrease(current, increase);
        for (Path other : Map.copyOf(known).keySet()) {
            if (!other.equals(current) && !addIncrease(other, increase)) {
                known.remove(other);
            }
        }
        forgetTooMany(current);
        long now = clockMillis.getAsLong();
        // After a pause of the machine, or a step of its clock, the time between is not known.
        long elapsed = Math.min(now - lastMillis, TimeUnit.SECONDS.toMillis(2 * PERIOD_SECONDS));
        lastMillis = now;
        if (elapsed <= 0) {
            return;
        }
        increase.measured(isServing ? elapsed : 0);
        // The counts belong to the time since the last sample, most of which is in the step of its middle.
        history.add(TimeUnit.MILLISECONDS.toSeconds(now - elapsed / 2), increase);
    }

    private void forgetTooMany(Path current) {
        Iterator<Path> sockets = known.keySet().iterator();
        while (known.size() > WORKERS_MAX && sockets.hasNext()) {
            if (!sockets.next().equals(current)) {
                sockets.remove();
            }
        }
    }

    /** Adds what a worker has counted since its last sample. Returns false if it does not answer. */
    private boolean addIncrease(Path socket, Figures increase) throws InterruptedException {
        try {
            MetricsText.Sample sample = MetricsText.parse(metrics.read(socket));
            Figures before = known.put(socket, sample.figures());
            if (before != null) {
                increase.add(sample.figures().since(before));
            } else if (sample.startedSeconds() * 1000 >= startedMillis) {
                // This launcher started the worker, so that all of its counts are new.
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
