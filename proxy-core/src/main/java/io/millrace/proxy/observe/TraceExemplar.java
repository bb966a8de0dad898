package io.millrace.proxy.observe;

import io.prometheus.metrics.model.snapshots.Exemplar;
import java.util.concurrent.TimeUnit;

/**
 * A traced request as an example of a histogram's bucket. Immutable.
 *
 * @param durationNanos the duration of the request
 * @param endNanos its end, as {@link System#nanoTime}
 * @param endMillis its end, in milliseconds since 1970
 * @param traceHigh first half of the trace id
 * @param traceLow second half of the trace id
 * @param spanId id of the request's span
 */
record TraceExemplar(long durationNanos, long endNanos, long endMillis, long traceHigh, long traceLow, long spanId) {
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    Exemplar toPrometheus() {
        return Exemplar.builder()
                .value(durationNanos / NANOS_PER_SECOND)
                .traceId(String.format("%016x%016x", traceHigh, traceLow))
                .spanId(String.format("%016x", spanId))
                .timestampMillis(endMillis)
                .build();
    }
}
