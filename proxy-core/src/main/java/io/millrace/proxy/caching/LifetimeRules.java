package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.Bounds;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.settings.StatusCodes;
import io.millrace.proxy.caching.settings.StatusSet;

/**
 * The settings for freshness lifetimes: defaults for responses without a lifetime, and overrides by the operator.
 * Immutable.
 *
 * @param heuristicFactor fraction of the time between Last-Modified and Date used as heuristic lifetime (RFC 9111
 *     s4.2.2), 0 to 1
 * @param heuristicMinSeconds lower bound of a heuristic lifetime
 * @param heuristicMaxSeconds upper bound of a heuristic lifetime; overrides the lower one
 * @param heuristicWithoutLastModified whether a non-error response without Last-Modified gets
 *     {@code heuristicMinSeconds} as lifetime
 * @param heuristicWithCookies heuristic lifetimes of responses with cookies or credentials
 * @param guaranteedMinSeconds lower bound of every lifetime
 * @param guaranteedMaxSeconds upper bound of every lifetime; 0 for none; overrides the lower one
 * @param whenToRevalidate which stored responses count as fresh
 * @param negative lifetime of error responses without a lifetime
 * @param forced lifetimes that override those of responses
 */
public record LifetimeRules(
        double heuristicFactor,
        long heuristicMinSeconds,
        long heuristicMaxSeconds,
        boolean heuristicWithoutLastModified,
        HeuristicWithCookies heuristicWithCookies,
        long guaranteedMinSeconds,
        long guaranteedMaxSeconds,
        WhenToRevalidate whenToRevalidate,
        NegativeCaching negative,
        Forced forced) {

    /** Determines which stored responses count as fresh. The ordinals are Traffic Server's numbers. */
    public enum WhenToRevalidate {
        /** Responses within their lifetime. */
        DIRECTIVES,
        /** Responses within their lifetime, except those with a heuristic lifetime. */
        HEURISTIC,
        /** No response. */
        ALWAYS,
        /** All responses. */
        NEVER,
        /** Responses within their lifetime. For a request with If-Modified-Since, no response counts as fresh. */
        IF_MODIFIED_SINCE
    }

    /**
     * Determines which responses get a heuristic lifetime although they have Set-Cookie, or their request has Cookie or
     * Authorization. Such a response may be specific to one user, and none of its fields permits sharing.
     */
    public enum HeuristicWithCookies {
        /** No response with cookies or credentials gets a heuristic lifetime. */
        NONE,
        /**
         * A response gets a heuristic lifetime if its request has Cookie, unless it is text or has Set-Cookie. If the
         * request has Authorization, the response gets no heuristic lifetime.
         */
        NOT_TEXT,
        /** All: cookies do not affect caching (RFC 9111 s7.3). */
        ALL
    }

    /**
     * Negative caching: a configured lifetime for responses without a lifetime, mainly errors.
     *
     * @param enabled whether negative caching is enabled
     * @param lifetimeSeconds lifetime of these responses
     * @param statuses status codes of these responses
     */
    public record NegativeCaching(boolean enabled, long lifetimeSeconds, StatusSet statuses) {

        /** Returns true if negative caching applies to a response with that status. */
        public boolean covers(int status) {
            return enabled && statuses.contains(status);
        }
    }

    /**
     * Lifetimes that override those of responses, configured for single sites. They apply when a stored response is
     * used, not when it is stored. So requests without the override still see the response's own lifetime.
     *
     * @param revalidateSeconds lifetime of a response that has a lifetime, or may get a heuristic one; -1 for none
     * @param ttlSeconds lifetime, from its receipt, of a non-error response whose status permits a heuristic lifetime;
     *     -1 for none; takes precedence over {@code revalidateSeconds}
     */
    public record Forced(long revalidateSeconds, long ttlSeconds) {
        /** No override. */
        public static final Forced NONE = new Forced(-1, -1);

        /** Returns the effective lifetime of a response with the given own lifetime. */
        long lifetimeSeconds(
                long ownSeconds, LifetimeSource source, boolean heuristicAllowed, int status, long initialAgeMillis) {
            if (ttlSeconds >= 0 && heuristicAllowed && status < 400) {
                return ttlSeconds + Math.floorDiv(initialAgeMillis, 1000L);
            }
            return applies(source, heuristicAllowed, status) ? revalidateSeconds : ownSeconds;
        }

        private boolean applies(LifetimeSource source, boolean heuristicAllowed, int status) {
            return (ttlSeconds >= 0 && heuristicAllowed && status < 400)
                    || (revalidateSeconds >= 0 && (source != LifetimeSource.NONE || heuristicAllowed));
        }
    }

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException when a value is out of its bounds
     */
    public LifetimeRules {
        Bounds.require(heuristicFactor >= 0 && heuristicFactor <= 1, "heuristicFactor is not within 0 to 1");
        Bounds.notNegative(heuristicMinSeconds, "heuristicMinSeconds");
        Bounds.notNegative(heuristicMaxSeconds, "heuristicMaxSeconds");
        Bounds.notNegative(guaranteedMinSeconds, "guaranteedMinSeconds");
        Bounds.notNegative(guaranteedMaxSeconds, "guaranteedMaxSeconds");
        Bounds.notNegative(negative.lifetimeSeconds(), "negative.lifetimeSeconds");
    }

    /** Limits a lifetime to the configured minimum and maximum. */
    long bounded(long lifetimeSeconds) {
        long raised = Math.max(lifetimeSeconds, guaranteedMinSeconds);
        return guaranteedMaxSeconds == 0 ? raised : Math.min(raised, guaranteedMaxSeconds);
    }

    /** Returns the lifetime of a stored response under these rules, from the time when the origin generated it. */
    public long lifetimeSeconds(StoredHead stored) {
        return forced.equals(Forced.NONE) || stored.isPurgedSoftly()
                ? stored.lifetimeSeconds()
                : forced.lifetimeSeconds(
                        stored.lifetimeSeconds(),
                        stored.lifetimeSource(),
                        StatusCodes.isHeuristicallyCacheable(stored.status()),
                        stored.status(),
                        stored.initialAgeMillis());
    }

    /** Returns true if these rules override the lifetime of a stored response. */
    public boolean isForced(StoredHead stored) {
        boolean heuristicAllowed = StatusCodes.isHeuristicallyCacheable(stored.status());
        return !stored.isPurgedSoftly() && forced.applies(stored.lifetimeSource(), heuristicAllowed, stored.status());
    }

    /** Returns the seconds until a stored response becomes stale under these rules; negative when it is stale. */
    public long ttlSeconds(StoredHead stored, long nowMillis) {
        return lifetimeSeconds(stored) - stored.currentAgeSeconds(nowMillis);
    }
}
