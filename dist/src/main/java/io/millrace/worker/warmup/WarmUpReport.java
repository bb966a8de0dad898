package io.millrace.worker.warmup;

import java.util.Locale;

/**
 * The result of a warm-up. Immutable.
 *
 * @param outcome how the warm-up ended
 * @param reason reason of the failure; empty unless the warm-up failed
 * @param seconds duration of the warm-up
 * @param requests number of requests answered
 * @param compiledMethods increase of the number of compiled methods in the JVM; 0 if unknown
 */
public record WarmUpReport(Outcome outcome, String reason, double seconds, long requests, long compiledMethods) {
    /** How a warm-up ended. */
    public enum Outcome {
        /** The JIT compilers were almost idle although requests were executed. */
        COMPILER_QUIET,
        /** The time limit was reached. */
        LIMIT,
        /** The warm-up was stopped. */
        STOPPED,
        /** The warm-up could not be started, or failed. */
        FAILED
    }

    @Override
    public String toString() {
        String text = String.format(
                Locale.ROOT,
                "%s after %.1f s, requests=%d, compiled methods=%d",
                outcome.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                seconds,
                requests,
                compiledMethods);
        return reason.isEmpty() ? text : text + ": " + reason;
    }
}
