package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.Bounds;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.settings.StatusCodes;
import io.millrace.proxy.caching.settings.StatusSet;

/**
 * How long responses stay fresh, where the origin leaves it open or an operator knows better. Immutable.
 *
 * @param heuristicFactor share of the time between Last-Modified and Date that a response without lifetime stays fresh
 *     (RFC 9111 s4.2.2), 0 to 1
 * @param heuristicMinSeconds lower bound of a heuristic lifetime
 * @param heuristicMaxSeconds upper bound of a heuristic lifetime; it wins over the lower one
 * @param heuristicWithoutLastModified whether a response without Last-Modified, and no error, stays fresh for the lower bound
 * @param guessedWithCookies which responses that have to do with cookies or credentials stay fresh by a guess
 * @param guaranteedMinSeconds lower bound of every lifetime
 * @param guaranteedMaxSeconds upper bound of every lifetime; 0 for none; it wins over the lower one
 * @param whenToRevalidate which stored responses count as fresh
 * @param negative responses without lifetime that are stored all the same
 * @param forced lifetimes in place of those that responses have
 */
public record LifetimeRules(
        double heuristicFactor,
        long heuristicMinSeconds,
        long heuristicMaxSeconds,
        boolean heuristicWithoutLastModified,
        GuessedWithCookies guessedWithCookies,
        long guaranteedMinSeconds,
        long guaranteedMaxSeconds,
        WhenToRevalidate whenToRevalidate,
        NegativeCaching negative,
        Forced forced) {

    /** Which stored responses count as fresh; the ordinals are Traffic Server's numbers. */
    public enum WhenToRevalidate {
        /** As their lifetime says. */
        DIRECTIVES,
        /** As their lifetime says, but never those whose lifetime is a guess. */
        HEURISTIC,
        /** None. */
        ALWAYS,
        /** All. */
        NEVER,
        /** As their lifetime says, but none for a request with If-Modified-Since. */
        IF_MODIFIED_SINCE
    }

    /**
     * Which responses get a heuristic lifetime where the response has Set-Cookie, or its request Cookie or Authorization. Such a
     * response may be about one user, and nothing in it says that others may have it.
     */
    public enum GuessedWithCookies {
        /** None. */
        NONE,
        /** Those to a request with Cookie that are not text, and have no Set-Cookie; none where the request has Authorization. */
        NOT_TEXT,
        /** All: cookies say nothing about caching (RFC 9111 s7.3). */
        ALL
    }

    /**
     * Answers that say nothing of their lifetime, errors above all, and are stored for a time of the operator's choice.
     *
     * @param enabled whether that is done
     * @param lifetimeSeconds how long they stay fresh
     * @param statuses for which status codes
     */
    public record NegativeCaching(boolean enabled, long lifetimeSeconds, StatusSet statuses) {

        /** Whether it holds for an answer with that status. */
        public boolean covers(int status) {
            return enabled && statuses.contains(status);
        }
    }

    /**
     * Lifetimes in place of those that responses have, as an operator gives them to single sites. They hold at every use, so that
     * a stored response keeps its own for requests for which they do not hold.
     *
     * @param revalidateSeconds age up to which a response that has a lifetime, or may be given one, is fresh; -1 for none
     * @param ttlSeconds how long after its receipt a response is fresh, where its status allows to guess and is no error; -1
     *     for none; it wins over the other
     */
    public record Forced(long revalidateSeconds, long ttlSeconds) {
        /** Every response has its own. */
        public static final Forced NONE = new Forced(-1, -1);

        /** The lifetime of a response whose own one is given. */
        long lifetimeSeconds(
                long ownSeconds, LifetimeSource source, boolean guessed, int status, long initialAgeMillis) {
            if (ttlSeconds >= 0 && guessed && status < 400) {
                return ttlSeconds + Math.floorDiv(initialAgeMillis, 1000L);
            }
            return holds(source, guessed, status) ? revalidateSeconds : ownSeconds;
        }

        private boolean holds(LifetimeSource source, boolean guessed, int status) {
            return (ttlSeconds >= 0 && guessed && status < 400)
                    || (revalidateSeconds >= 0 && (source != LifetimeSource.NONE || guessed));
        }
    }

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException when one is crossed
     */
    public LifetimeRules {
        Bounds.require(heuristicFactor >= 0 && heuristicFactor <= 1, "heuristicFactor is not within 0 to 1");
        Bounds.notNegative(heuristicMinSeconds, "heuristicMinSeconds");
        Bounds.notNegative(heuristicMaxSeconds, "heuristicMaxSeconds");
        Bounds.notNegative(guaranteedMinSeconds, "guaranteedMinSeconds");
        Bounds.notNegative(guaranteedMaxSeconds, "guaranteedMaxSeconds");
        Bounds.notNegative(negative.lifetimeSeconds(), "negative.lifetimeSeconds");
    }

    /** A lifetime held within the bounds of every lifetime. */
    long bounded(long lifetimeSeconds) {
        long least = Math.max(lifetimeSeconds, guaranteedMinSeconds);
        return guaranteedMaxSeconds == 0 ? least : Math.min(least, guaranteedMaxSeconds);
    }

    /** How long a stored response is fresh under these rules, counted from the origin's answer. */
    public long lifetimeSeconds(StoredHead stored) {
        return forced.equals(Forced.NONE)
                ? stored.lifetimeSeconds()
                : forced.lifetimeSeconds(
                        stored.lifetimeSeconds(),
                        stored.lifetimeSource(),
                        StatusCodes.isHeuristicallyCacheable(stored.status()),
                        stored.status(),
                        stored.initialAgeMillis());
    }

    /** Whether a stored response has another lifetime under these rules than its own. */
    public boolean isForced(StoredHead stored) {
        boolean guessed = StatusCodes.isHeuristicallyCacheable(stored.status());
        return forced.holds(stored.lifetimeSource(), guessed, stored.status());
    }

    /** Seconds until a stored response is stale under these rules; negative when it is. */
    public long ttlSeconds(StoredHead stored, long nowMillis) {
        return lifetimeSeconds(stored) - stored.currentAgeSeconds(nowMillis);
    }
}
