package io.millrace.proxy.observe.log.live;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.log.output.RecordFacts;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One viewer of the live log with its filter and queue. Guarded by the lock of {@link LiveLog}. */
final class LiveViewer {
    /** Limits of the queue: about as much as a browser can show in a second. */
    static final int RECORDS_MAX = 1000;

    static final int BYTES_MAX = 512 << 10;

    private final String id;
    private final @Nullable Expression<LoggedFacts> filter;
    private final RecordQueue queue = new RecordQueue(BYTES_MAX);
    private long lost;
    /** Number of the last record in an answer. */
    private long delivered;

    /** Time of the last request of this viewer. */
    private long seenNanos;
    /** Time at which the waiting request is answered, even without records. */
    private long waitsUntilNanos;

    private @Nullable CompletableFuture<LiveBatch> waiting;

    LiveViewer(String id, @Nullable Expression<LoggedFacts> filter, long nowNanos) {
        this.id = id;
        this.filter = filter;
        seenNanos = nowNanos;
    }

    /** Returns true if the record fulfils the filter. If the filter throws an exception, the record is lost. */
    boolean wants(RecordFacts facts) {
        try {
            return filter == null || filter.test(facts);
        } catch (RuntimeException e) {
            // A filter that throws an exception must not stop the live log.
            lost++;
            return false;
        }
    }

    /** Adds a record. Returns the number of older records that are lost. */
    int add(byte[] copy) {
        int replaced = queue.add(copy, RECORDS_MAX, delivered);
        lost += replaced;
        return replaced;
    }

    void lost(long records) {
        lost += records;
    }

    /** Begins the wait of a request for records. The caller has answered an earlier waiting request. */
    CompletableFuture<LiveBatch> next(long confirmed, long nowNanos, long waitNanos) {
        queue.confirm(confirmed);
        seenNanos = nowNanos;
        waitsUntilNanos = nowNanos + waitNanos;
        CompletableFuture<LiveBatch> created = new CompletableFuture<>();
        waiting = created;
        return created;
    }

    /** Returns true if a request waits that can be answered now. */
    boolean isAnswerable(long nowNanos) {
        return waiting != null && (!queue.isEmpty() || nowNanos - waitsUntilNanos >= 0);
    }

    /**
     * Appends to {@code answers} a task that answers the waiting request, if there is one. The caller runs the task
     * without the lock.
     */
    void answer(List<Runnable> answers) {
        CompletableFuture<LiveBatch> request = waiting;
        if (request != null) {
            waiting = null;
            delivered = queue.lastNumber();
            LiveBatch batch = new LiveBatch(id, queue.all(), lost);
            answers.add(() -> request.complete(batch));
        }
    }

    LiveBatch emptyBatch() {
        return new LiveBatch(id, List.of(), lost);
    }

    boolean isExpired(long nowNanos, long limitNanos) {
        return waiting == null && nowNanos - seenNanos > limitNanos;
    }
}
