package io.millrace.worker.traces;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.SpanCounts;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The thread that sends batches to the collector, one after the other. A request is repeated as OTLP asks: after the
 * statuses 429, 502, 503 and 504, not before Retry-After, and if there was no answer.
 */
final class OtlpSender implements AutoCloseable {
    private static final long CLOSE_MILLIS = 3000;

    private final OtlpClient client;
    private final BatchQueue queue;
    private final SpanCounts counts;
    private final FaultLog faults;
    private final Thread thread = new Thread(this::run, "millrace-otlp");

    OtlpSender(OtlpClient client, BatchQueue queue, SpanCounts counts, FaultLog faults) {
        this.client = client;
        this.queue = queue;
        this.counts = counts;
        this.faults = faults;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try {
            for (OtlpBatch batch = queue.take(); batch != null; batch = queue.take()) {
                send(batch);
            }
        } catch (InterruptedException e) {
            counts.failed(queue.spans());
        } finally {
            client.close();
        }
    }

    private void send(OtlpBatch batch) throws InterruptedException {
        String failure;
        try {
            failure = sendRepeatedly(batch);
        } catch (InterruptedException e) {
            counts.failed(batch.spans());
            throw e;
        } catch (RuntimeException e) {
            // The text of such an exception can contain the value of a header field, for example a key.
            failure = e.getClass().getName();
        } catch (Throwable e) {
            // Without direct memory, for example, this batch is lost; the next one may succeed.
            failure = e.toString();
        }
        if (failure != null) {
            counts.failed(batch.spans());
            report(
                    "the collector of traces did not accept spans, and they are lost",
                    batch.spans() + " spans: " + failure);
        }
        queue.reuse(batch);
    }

    /** Sends a batch, repeatedly if necessary. Returns the reason if the collector took nothing; null for success. */
    private @Nullable String sendRepeatedly(OtlpBatch batch) throws IOException, InterruptedException {
        int start = batch.complete();
        ByteBuf body = client.body(batch.buffer().bytes(), start, batch.buffer().end() - start);
        boolean isLast = false;
        for (int attempts = 1; ; attempts++) {
            String failure;
            long askedNanos = -1;
            try {
                OtlpAnswer answer = client.post(body);
                if (answer.isSuccess()) {
                    countSpans(batch.spans(), answer.partial());
                    return null;
                }
                failure = "status " + answer.status();
                isLast |= !answer.isRetryable();
                askedNanos = answer.retryAfterNanos();
            } catch (IOException e) {
                failure = String.valueOf(e.getMessage());
            }
            if (isLast || attempts == OtlpRetry.ATTEMPTS_MAX) {
                return failure;
            }
            double random = ThreadLocalRandom.current().nextDouble();
            // After the queue has been closed, one more attempt follows without a pause.
            isLast = queue.awaitClose(OtlpRetry.delayNanos(attempts, askedNanos, random));
        }
    }

    private void countSpans(int spans, PartialSuccess partial) {
        long rejected = Math.min(spans, partial.rejectedSpans());
        if (rejected > 0) {
            counts.failed(rejected);
        }
        if (rejected < spans) {
            counts.exported(spans - rejected);
        }
        if (rejected > 0 || !partial.message().isEmpty()) {
            report(
                    "the collector of traces rejected spans or has a warning",
                    rejected + " of " + spans + " spans: " + partial.message());
        }
    }

    private void report(String what, String detail) {
        faults.report(what, client.url() + ", " + detail, null);
    }

    /** Sends the batches that are left, and ends the thread. Blocks for at most 3 s. */
    @Override
    public void close() {
        queue.close();
        boolean interrupted = false;
        try {
            TimeUnit.MILLISECONDS.timedJoin(thread, CLOSE_MILLIS);
            if (thread.isAlive()) {
                thread.interrupt();
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
