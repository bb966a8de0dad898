package io.millrace.launcher.history;

import io.millrace.proxy.admin.history.HistorySource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The history of the workers' counters, in a file of a configured size. If the file cannot be used, nothing is recorded
 * until the setting {@code admin.history} changes or the launcher restarts. The proxy is not affected.
 *
 * <p>Thread-safe; blocks.
 */
public final class History implements HistorySource, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(History.class);

    private final Path file;
    private final Lock lock = new ReentrantLock();
    private @Nullable HistoryRing ring;
    private long bytes;
    /** True if the last attempt to write failed. Only the first of consecutive failures is logged. */
    private boolean failing;

    private History(Path file) {
        this.file = file;
    }

    /**
     * Opens or creates the file.
     *
     * @param bytes size of the file; 0 to record nothing
     */
    public static History open(Path file, long bytes) {
        History history = new History(file);
        history.resize(bytes);
        return history;
    }

    /**
     * Changes the size of the file. Keeps as many of the latest figures as fit. With size 0, nothing is recorded and
     * the file is not changed.
     *
     * @return notes for the operator; empty if the size is in force
     */
    public List<String> resize(long newBytes) {
        lock.lock();
        try {
            if (newBytes == bytes && (ring != null || newBytes == 0)) {
                return List.of();
            }
            closeRing();
            bytes = newBytes;
            ring = newBytes == 0 ? null : HistoryRing.open(file, Layout.ofSize(newBytes));
            return List.of();
        } catch (IOException e) {
            LOG.error("admin.history: no figures are recorded, because {} cannot be used: {}", file, e.toString());
            return List.of("admin.history: " + file + " cannot be used, no figures are recorded: " + e);
        } finally {
            lock.unlock();
        }
    }

    private void closeRing() throws IOException {
        HistoryRing open = ring;
        ring = null;
        if (open != null) {
            open.close();
        }
    }

    /** Whether figures are recorded. */
    public boolean isOn() {
        lock.lock();
        try {
            return ring != null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds increases of counters to the time step of each archive that contains {@code atSeconds}.
     *
     * @param atSeconds seconds since 1970
     */
    void add(long atSeconds, Figures figures) {
        lock.lock();
        try {
            if (ring != null) {
                ring.add(atSeconds, figures);
                failing = false;
            }
        } catch (IOException e) {
            if (!failing) {
                failing = true;
                LOG.warn("{}: figures of the past cannot be written: {}", file, e.toString());
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public List<Archive> archives() {
        lock.lock();
        try {
            return ring == null ? List.of() : ring.archives();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public List<Point> read(long stepSeconds, long fromSeconds, long toSeconds) throws IOException {
        Map<Long, Figures> steps = Map.of();
        lock.lock();
        try {
            if (ring != null) {
                for (Archive archive : ring.archives()) {
                    if (archive.stepSeconds() == stepSeconds) {
                        steps = ring.read(archive, fromSeconds, toSeconds);
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        List<Point> points = new ArrayList<>(steps.size());
        steps.forEach((at, figures) -> points.add(point(at, figures)));
        return points;
    }

    private static Point point(long at, Figures figures) {
        return new Point(
                at,
                figures.measuredMillis(),
                figures.count(Figures.REQUESTS),
                figures.count(Figures.HITS),
                figures.count(Figures.SENT_BYTES),
                figures.count(Figures.ORIGIN_BYTES),
                figures.count(Figures.ORIGIN_REQUESTS),
                figures.count(Figures.ORIGIN_FAILURES),
                figures.count(Figures.ERRORS),
                figures.histogram(Figures.HIT_LATENCY),
                figures.histogram(Figures.MISS_LATENCY),
                figures.histogram(Figures.ORIGIN_LATENCY));
    }

    @Override
    public List<Long> boundsMicros() {
        return MetricsText.boundsMicros();
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closeRing();
        } catch (IOException e) {
            LOG.warn("{}: the file cannot be closed: {}", file, e.toString());
        } finally {
            lock.unlock();
        }
    }
}
