package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.Bounds;
import io.millrace.proxy.caching.settings.StatusSet;

/**
 * The settings for serving stale responses (RFC 9111 s4.2.4, RFC 5861). Immutable.
 *
 * @param maxStaleSeconds time past its lifetime for which a response may be served when the origin fails; a
 *     {@code stale-if-error} of the response overrides it
 * @param whileRevalidateSeconds {@code stale-while-revalidate} of responses that have none; 0 for none
 * @param forcedWhileRevalidateSeconds {@code stale-while-revalidate} of every response, overriding its own; 0 not to
 *     override
 * @param ifErrorSeconds {@code stale-if-error} of responses that have none; 0 for none
 * @param forcedIfErrorSeconds {@code stale-if-error} of every response, overriding its own; 0 not to override
 * @param despiteSharedMaxAge whether responses with s-maxage may be served stale, contrary to RFC 9111 s5.2.2.10
 * @param onError origin responses that count as failure
 * @param underLoad stale serving while the origin, or this proxy, is overloaded
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
     * Limits of stale serving while the origin, or this proxy, is overloaded.
     *
     * @param stretch factor that extends the lifetime, at least 1
     * @param stretchMaxSeconds limit of that extension, in seconds past the lifetime
     * @param microCacheSeconds minimum of the extension, in seconds past the lifetime; also applies to a lifetime of 0
     */
    public record UnderLoad(double stretch, long stretchMaxSeconds, long microCacheSeconds) {
        /** No response is served stale because of overload. */
        public static final UnderLoad NONE = new UnderLoad(1, 0, 0);

        /**
         * Checks the bounds.
         *
         * @throws IllegalArgumentException when a value is out of its bounds
         */
        public UnderLoad {
            Bounds.require(stretch >= 1, "stretch is below 1");
            Bounds.notNegative(stretchMaxSeconds, "stretchMaxSeconds");
            Bounds.notNegative(microCacheSeconds, "microCacheSeconds");
        }

        /** Returns true if a response with this lifetime may still be served when stale for this long. */
        public boolean covers(long lifetimeSeconds, long staleSeconds) {
            long stretched = Math.min((long) (lifetimeSeconds * (stretch - 1)), stretchMaxSeconds);
            return staleSeconds < Math.max(stretched, microCacheSeconds);
        }
    }

    /**
     * Origin responses that count as failure.
     *
     * @param enabled whether responses with these status codes count as failure; otherwise only a missing response does
     * @param lifetimeSeconds Expires of a stale response served instead, in seconds from now; 0 keeps the stored
     *     Expires
     * @param statuses the status codes
     */
    public record NegativeRevalidating(boolean enabled, long lifetimeSeconds, StatusSet statuses) {

        /** Returns true if a response with that status counts as a failure of the origin. */
        public boolean covers(int status) {
            return enabled && statuses.contains(status);
        }
    }

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException when a value is out of its bounds
     */
    public StaleRules {
        Bounds.notNegative(maxStaleSeconds, "maxStaleSeconds");
        Bounds.notNegative(whileRevalidateSeconds, "whileRevalidateSeconds");
        Bounds.notNegative(forcedWhileRevalidateSeconds, "forcedWhileRevalidateSeconds");
        Bounds.notNegative(ifErrorSeconds, "ifErrorSeconds");
        Bounds.notNegative(forcedIfErrorSeconds, "forcedIfErrorSeconds");
        Bounds.notNegative(onError.lifetimeSeconds(), "onError.lifetimeSeconds");
    }

    /**
     * Returns the effective {@code stale-while-revalidate} of a response.
     *
     * @param ownSeconds its own value, or {@link StoredHead#UNKNOWN}
     */
    long whileRevalidate(long ownSeconds) {
        return effective(ownSeconds, whileRevalidateSeconds, forcedWhileRevalidateSeconds);
    }

    /**
     * Returns the effective {@code stale-if-error} of a response.
     *
     * @param ownSeconds its own value, or {@link StoredHead#UNKNOWN}
     */
    long ifError(long ownSeconds) {
        return effective(ownSeconds, ifErrorSeconds, forcedIfErrorSeconds);
    }

    private static long effective(long explicit, long without, long forced) {
        if (forced > 0) {
            return forced;
        }
        return explicit == StoredHead.UNKNOWN && without > 0 ? without : explicit;
    }
}
