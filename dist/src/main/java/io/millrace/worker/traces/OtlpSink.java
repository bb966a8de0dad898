package io.millrace.worker.traces;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.SpanCounts;
import io.millrace.proxy.observe.trace.SpanSink;
import io.millrace.proxy.observe.trace.SpanView;
import io.millrace.proxy.observe.trace.TraceConfig;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encodes spans for OTLP, in batches for {@link OtlpSender}. A batch is sent when it is full, or after half a second
 * if no other batch waits. While the collector is slow or down, batches wait; when the queue is full, further spans are
 * dropped and counted.
 *
 * <p>All methods are called by one thread.
 */
final class OtlpSink implements SpanSink {
    /** A full batch: about 1,200 spans of hits. Some services refuse requests of more than 1 MB. */
    static final int BATCH_BYTES = 512 << 10;

    /** Limit of full batches in the queue: 8 MiB, about 20,000 spans of hits. */
    static final int BATCHES_MAX = 16;

    /** Age from which a batch that is not full is sent. */
    private static final long BATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** Shortest time between two log lines of one kind of fault. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final Logger LOG = LoggerFactory.getLogger(OtlpSink.class);

    private final OtlpSpanWriter writer = new OtlpSpanWriter();
    private final OtlpResource resource;
    private final BatchQueue queue;
    private final SpanCounts counts;
    private final OtlpSender sender;
    private OtlpBatch filling;

    private OtlpSink(OtlpResource resource, BatchQueue queue, SpanCounts counts, OtlpSender sender) {
        this.resource = resource;
        this.queue = queue;
        this.counts = counts;
        this.sender = sender;
        this.filling = new OtlpBatch(resource);
    }

    /**
     * Opens the export and starts its thread. Sends nothing yet.
     *
     * @throws IOException if a file of the settings cannot be read or used
     */
    static OtlpSink open(String endpoint, TraceConfig config, SpanCounts counts) throws IOException {
        FaultLog faults = new FaultLog(LOG, QUIET_NANOS, System::nanoTime);
        OtlpResource resource =
                new OtlpResource(config.serviceName(), ProcessHandle.current().pid());
        BatchQueue queue = new BatchQueue(BATCHES_MAX);
        OtlpSender sender = new OtlpSender(OtlpClient.open(endpoint, config, faults), queue, counts, faults);
        sender.start();
        return new OtlpSink(resource, queue, counts, sender);
    }

    @Override
    public void accept(SpanView span) {
        if (filling.length() >= BATCH_BYTES && !passOn()) {
            counts.queueFull(1);
            return;
        }
        writer.append(span, filling.buffer());
        filling.added();
        if (filling.length() >= BATCH_BYTES) {
            passOn();
        }
    }

    /** Adds the batch to the queue, and begins another one. Returns false if the queue is full. */
    private boolean passOn() {
        if (!queue.add(filling)) {
            return false;
        }
        OtlpBatch spare = queue.spare();
        filling = spare == null ? new OtlpBatch(resource) : spare;
        return true;
    }

    @Override
    public void endOfRound() {
        // If a batch waits, the sender is busy. The current batch is then filled further before it is passed on.
        if (filling.spans() > 0 && System.nanoTime() - filling.begunNanos() >= BATCH_NANOS && queue.isEmpty()) {
            passOn();
        }
    }

    @Override
    public void close() {
        if (filling.spans() > 0 && !queue.add(filling)) {
            counts.queueFull(filling.spans());
        }
        sender.close();
    }
}
