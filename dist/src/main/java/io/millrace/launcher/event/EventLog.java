package io.millrace.launcher.event;

import io.millrace.proxy.admin.history.EventSource;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The latest {@value #EVENTS_MAX} events, in memory and in a file that survives restarts. When this number is reached,
 * a new event displaces the oldest event of the kind with the most events. So thousands of purges displace other
 * purges, but not the death of a worker last week. A thread of its own writes the file. Events that are displaced
 * before they are written are missing in the file too.
 *
 * <p>Thread-safe. Recording and reading never block on the file.
 */
public final class EventLog implements EventSink, EventSource, AutoCloseable {
    /** Limit of events in memory. The file has twice as many at most: 6 MiB with texts of full length in ASCII. */
    public static final int EVENTS_MAX = 2000;

    /**
     * Limit of the bytes that are read from the end of the file. A file that this class wrote is shorter, even if all
     * texts are not ASCII.
     */
    private static final int FILE_READ_MAX = 16 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(EventLog.class);
    /** Time limit of {@link #close}. */
    private static final long CLOSE_SECONDS = 5;

    private final EventFile file;
    private final Lock lock = new ReentrantLock();
    private final KeptEvents kept = new KeptEvents(EVENTS_MAX);
    private final Map<EventKind, Long> totals = new EnumMap<>(EventKind.class);
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private final ExecutorService writer = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "launcher-events");
        thread.setDaemon(true);
        return thread;
    });
    /** Number of the last event. */
    private long last;
    /** Number of the last event in the file. Confined to the writer thread after the start. */
    private long written;
    /** Whether the last attempt to write failed; the first failure in succession is logged. */
    private boolean failing;

    private EventLog(EventFile file) {
        this.file = file;
    }

    /** Reads the events of earlier launchers. A file that cannot be read is reported, and does not prevent the start. */
    public static EventLog open(Path path) {
        EventLog log = new EventLog(new EventFile(path, EVENTS_MAX, FILE_READ_MAX, EventFile::open));
        try {
            for (Numbered event : log.file.read()) {
                log.kept.add(event);
                log.last = Math.max(log.last, event.number());
            }
        } catch (IOException e) {
            LOG.warn("the events of earlier launchers cannot be read: {}", e.toString());
        }
        log.written = log.last;
        return log;
    }

    /**
     * Returns true if the event repeats the latest one about an expiring certificate. Every new worker reports such
     * certificates again.
     */
    private boolean isRepeated(Event event) {
        Event previous = event.kind() == EventKind.CERTIFICATE_EXPIRING ? latest(event.kind(), event.subject()) : null;
        return previous != null && previous.text().equals(event.text());
    }

    @Override
    public void record(Event event) {
        if (isRepeated(event)) {
            return;
        }
        lock.lock();
        try {
            last++;
            kept.add(new Numbered(last, event));
            totals.merge(event.kind(), 1 + event.more(), Long::sum);
        } finally {
            lock.unlock();
        }
        if (scheduled.compareAndSet(false, true)) {
            try {
                writer.execute(this::write);
            } catch (RejectedExecutionException e) {
                LOG.debug("the event is not written, because the launcher has ended", e);
            }
        }
    }

    private void write() {
        scheduled.set(false);
        List<Numbered> latest;
        lock.lock();
        try {
            latest = kept.all();
        } finally {
            lock.unlock();
        }
        List<Numbered> added = new ArrayList<>(latest);
        added.removeIf(event -> event.number() <= written);
        if (added.isEmpty()) {
            return;
        }
        try {
            file.append(added, latest);
            written = added.get(added.size() - 1).number();
            failing = false;
        } catch (IOException e) {
            if (!failing) {
                failing = true;
                LOG.warn("{}: events cannot be written and will be lost at the next start: {}", file, e.toString());
            }
        }
    }

    @Override
    public List<Numbered> events(long sinceMillis, long after, Set<EventKind> kinds, int limit) {
        List<Numbered> found = new ArrayList<>();
        lock.lock();
        try {
            for (Numbered numbered : kept.all()) {
                Event event = numbered.event();
                if (event.atMillis() >= sinceMillis
                        && numbered.number() > after
                        && (kinds.isEmpty() || kinds.contains(event.kind()))) {
                    found.add(numbered);
                }
            }
        } finally {
            lock.unlock();
        }
        return List.copyOf(found.subList(Math.max(0, found.size() - limit), found.size()));
    }

    /** Returns the latest event of a kind about a subject; null if there is none. */
    public @Nullable Event latest(EventKind kind, String subject) {
        List<Numbered> events;
        lock.lock();
        try {
            events = kept.of(kind);
        } finally {
            lock.unlock();
        }
        Event found = null;
        for (Numbered numbered : events) {
            found = numbered.event().subject().equals(subject) ? numbered.event() : found;
        }
        return found;
    }

    /** Returns the number of events of each kind since the start, in the text format of Prometheus. */
    public String prometheusText() {
        MetricFamily family = MetricFamily.EVENTS;
        String name = family.metricName();
        StringBuilder text = new StringBuilder();
        text.append("# HELP ").append(name).append(' ').append(family.description());
        text.append("\n# TYPE ").append(name).append(" counter\n");
        lock.lock();
        try {
            for (EventKind kind : EventKind.values()) {
                text.append(name).append("{application=\"millrace\",kind=\"").append(kind.word());
                text.append("\"} ").append(totals.getOrDefault(kind, 0L)).append(".0\n");
            }
        } finally {
            lock.unlock();
        }
        return text.toString();
    }

    /** Writes the remaining events. Blocks. */
    @Override
    public void close() {
        writer.shutdown();
        try {
            if (!writer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("{}: the last events are not written yet", file);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
