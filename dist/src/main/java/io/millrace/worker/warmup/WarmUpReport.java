package io.millrace.worker.warmup;

import java.util.Locale;

/**
 * How a warm-up ended. Immutable.
 *
 * @param outcome why it ended
 * @param reason what failed; empty unless it failed
 * @param seconds how long it took
 * @param requests that were answered
 * @param compiledMethods compiled methods that the JVM has more than before; 0 where it does not say
 */
public record WarmUpReport(Outcome outcome, String reason, double seconds, long requests, long compiledMethods) {
    /** Why a warm-up ended. */
    public enum Outcome {
        /** The compilers had next to nothing to do under load. */
        COMPILER_QUIET,
        /** The time was over. */
        LIMIT,
        /** It was stopped. */
        STOPPED,
        /** It could not be done, or not to its end. */
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
