package io.millrace.proxy.observe.log.live;

import io.millrace.proxy.observe.log.LogOutcome;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of requests whose latest log records the proxy keeps in memory, so that they can be shown later. A request
 * may be of several kinds.
 */
public enum KeptKind {
    /** The first byte of the response came after {@code log.slow_threshold}. */
    SLOW,
    /** The status is 5xx, or the response is incomplete because of the origin or the disk. */
    FAILED,
    /** The proxy refused the request by a rule, by a limit, or because it is invalid. The status is not 5xx. */
    REFUSED;

    /** Name in lower case, for the admin API and the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the kind with the name; null if there is none. */
    public static @Nullable KeptKind of(String word) {
        for (KeptKind kind : values()) {
            if (kind.word().equals(word)) {
                return kind;
            }
        }
        return null;
    }

    /** Returns the names of all kinds. */
    public static List<String> words() {
        return Arrays.stream(values()).map(KeptKind::word).toList();
    }

    /**
     * Returns true if a request is of any kind.
     *
     * @param status the status sent to the client; 0 if none was sent
     * @param firstByteNanos the time to the first byte of the response; 0 if not measured
     * @param slowNanos the threshold of slow requests; 0 for none
     */
    static boolean includesAny(int status, LogOutcome outcome, long firstByteNanos, long slowNanos) {
        return status >= 500
                || (outcome != LogOutcome.OK && outcome != LogOutcome.CLIENT_ABORTED)
                || (slowNanos > 0 && firstByteNanos >= slowNanos);
    }

    /** Returns true if a request is of this kind. The parameters are those of {@link #includesAny}. */
    boolean includes(int status, LogOutcome outcome, long firstByteNanos, long slowNanos) {
        return switch (this) {
            case SLOW -> slowNanos > 0 && firstByteNanos >= slowNanos;
            case FAILED -> status >= 500 || outcome.isFailure();
            case REFUSED -> status < 500 && isRefusal(outcome);
        };
    }

    private static boolean isRefusal(LogOutcome outcome) {
        return switch (outcome) {
            case OK, CLIENT_ABORTED -> false;
            default -> !outcome.isFailure();
        };
    }
}
