package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.purge.record.PurgeRecord;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The latest counts of purges and dry runs in this process. Thread-safe. */
final class PurgeCounts {
    /** Limit of running counts; listings of the cache use the same thread. */
    static final int RUNNING_MAX = 4;

    /** Limit of counts whose results are kept. */
    static final int KEPT_MAX = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Counted> counts = new LinkedHashMap<>();

    /** A purge or dry run with its count. Immutable. */
    record Counted(PurgeRecord record, PurgeCount count) {}

    /**
     * Starts a count.
     *
     * @throws AdminException if too many counts run
     */
    void start(PurgeRecord record, PurgeCount count) throws AdminException {
        lock.lock();
        try {
            long running = counts.values().stream()
                    .filter(one -> !one.count().isOver())
                    .count();
            if (running >= RUNNING_MAX) {
                throw new AdminException(
                        429,
                        "too-many-counts",
                        running + " counts of purges are in progress, limit=" + RUNNING_MAX
                                + "; try again when one has ended");
            }
            counts.put(record.id(), new Counted(record, count));
            if (counts.size() > KEPT_MAX) {
                counts.values().stream()
                        .filter(one -> one.count().isOver())
                        .findFirst()
                        .ifPresent(one -> counts.remove(one.record().id()));
            }
        } finally {
            lock.unlock();
        }
        count.start();
    }

    @Nullable
    Counted find(String id) {
        lock.lock();
        try {
            return counts.get(id);
        } finally {
            lock.unlock();
        }
    }
}
