package io.millrace.proxy.extension;

import java.util.concurrent.atomic.LongAdder;

/** The statistics of one hook of one extension: calls, durations and failures. Thread-safe. */
public final class HookStatistics {
    private final LongAdder calls = new LongAdder();
    private final LongAdder nanos = new LongAdder();
    private final LongAdder[] failures = new LongAdder[FailureReason.values().length];

    HookStatistics() {
        for (int i = 0; i < failures.length; i++) {
            failures[i] = new LongAdder();
        }
    }

    void called(long forNanos) {
        calls.increment();
        nanos.add(forNanos);
    }

    @SuppressWarnings("EnumOrdinal") // used only within the process
    void failed(FailureReason reason) {
        failures[reason.ordinal()].increment();
    }

    /** The number of calls. */
    public long calls() {
        return calls.sum();
    }

    /** The total duration of the calls in nanoseconds, without asynchronous work. */
    public long nanos() {
        return nanos.sum();
    }

    /** The number of failures for a reason. */
    @SuppressWarnings("EnumOrdinal") // used only within the process
    public long failures(FailureReason reason) {
        return failures[reason.ordinal()].sum();
    }

    /** The number of all failures. */
    public long failures() {
        long sum = 0;
        for (LongAdder each : failures) {
            sum += each.sum();
        }
        return sum;
    }
}
