package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.Bounds;
import io.millrace.proxy.caching.settings.StatusSet;

/**
 * When stale responses may be served (RFC 9111 s4.2.4, RFC 5861). Immutable.
 *
 * @param maxStaleSeconds how long past its lifetime a response may still be served when the origin fails, unless the
 *     response says otherwise
 * @param whileRevalidateSeconds {@code stale-while-revalidate} of responses that have none; 0 for none
 * @param forcedWhileRevalidateSeconds {@code stale-while-revalidate} of every response, whatever it says; 0 not to force
 * @param ifErrorSeconds {@code stale-if-error} of responses that have none; 0 for none
 * @param forcedIfErrorSeconds {@code stale-if-error} of every response, whatever it says; 0 not to force
 * @param despiteSharedMaxAge whether s-maxage does not forbid to serve stale, as RFC 9111 s5.2.2.10 has it
 * @param onError answers of the origin that count as failure
 * @param underLoad what may be served because the origin, or this proxy, has more to do than it can
 */
public record StaleRules(
        long maxStaleSeconds,
        long whileRevalidateSeconds,
        long forcedWhileRevalidateSeconds,
        long ifErrorSeconds,
        long forcedIfErrorSeconds,
        boolean despiteSharedMaxAge,
        NegativeRevalidating onError,
        UnderLoad underLoad) {

    /**
     * How stale a response may be that is served because the origin, or this proxy, has more to do than it can.
     *
     * @param stretch what the lifetime is multiplied by, at least 1
     * @param stretchMaxSeconds how long after its lifetime it serves at most by that
     * @param microSeconds how long after its lifetime it serves in any case
     */
    public record UnderLoad(double stretch, long stretchMaxSeconds, long microSeconds) {
        /** Nothing is served for that. */
        public static final UnderLoad NONE = new UnderLoad(1, 0, 0);

        /**
         * Checks the bounds.
         *
         * @throws IllegalArgumentException when one is crossed
         */
        public UnderLoad {
            Bounds.require(stretch >= 1, "stretch is below 1");
            Bounds.notNegative(stretchMaxSeconds, "stretchMaxSeconds");
            Bounds.notNegative(microSeconds, "microSeconds");
        }

        /** Whether a response that was fresh for so long may still serve. */
        public boolean covers(long lifetimeSeconds, long staleSeconds) {
            long stretched = Math.min((long) (lifetimeSeconds * (stretch - 1)), stretchMaxSeconds);
            return staleSeconds < Math.max(stretched, microSeconds);
        }
    }

    /**
     * Answers of the origin that count as failure.
     *
     * @param enabled whether there are any; without them only an origin that gives no answer fails
     * @param lifetimeSeconds how long after now the Expires lies that a stale response is then sent with; 0 leaves it
     * @param statuses the status codes
     */
    public record NegativeRevalidating(boolean enabled, long lifetimeSeconds, StatusSet statuses) {

        /** Whether an answer with that status counts as a failure of the origin. */
        public boolean covers(int status) {
            return enabled && statuses.contains(status);
        }
    }

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException when one is crossed
     */
    public StaleRules {
        Bounds.notNegative(maxStaleSeconds, "maxStaleSeconds");
        Bounds.notNegative(whileRevalidateSeconds, "whileRevalidateSeconds");
        Bounds.notNegative(forcedWhileRevalidateSeconds, "forcedWhileRevalidateSeconds");
        Bounds.notNegative(ifErrorSeconds, "ifErrorSeconds");
        Bounds.notNegative(forcedIfErrorSeconds, "forcedIfErrorSeconds");
        Bounds.notNegative(onError.lifetimeSeconds(), "onError.lifetimeSeconds");
    }

    /** The {@code stale-while-revalidate} that holds for a response that says this, or {@link StoredHead#UNKNOWN}. */
    long whileRevalidate(long saidSeconds) {
        return holds(saidSeconds, whileRevalidateSeconds, forcedWhileRevalidateSeconds);
    }

    /** The {@code stale-if-error} that holds for a response that says this, or {@link StoredHead#UNKNOWN}. */
    long ifError(long saidSeconds) {
        return holds(saidSeconds, ifErrorSeconds, forcedIfErrorSeconds);
    }

    private static long holds(long said, long without, long forced) {
        if (forced > 0) {
            return forced;
        }
        return said == StoredHead.UNKNOWN && without > 0 ? without : said;
    }
}
