package io.millrace.proxy.caching.reuse;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * The decision whether a stale response may be served because the origin fails (RFC 9111 s4.2.4, RFC 5861 s4).
 * Immutable.
 */
public sealed interface StaleServing {

    /** The response may be served. */
    record Allowed() implements StaleServing {}

    /** The response must not be served: answer with the origin's error, or 502 or 504. */
    record Refused(RefusalReason reason) implements StaleServing {}

    /** The reason why a stale response must not be served. */
    enum RefusalReason {
        /** The request has {@code no-cache}. */
        REQUEST_NO_CACHE("request-no-cache"),
        /**
         * The response is older than the request's {@code max-age}, and the request has neither {@code max-stale} nor
         * {@code stale-if-error}.
         */
        REQUEST_AGE("request-age"),
        /** The response has {@code no-cache}. */
        NO_CACHE("no-cache"),
        /** The response has {@code must-revalidate} (s5.2.2.2). */
        MUST_REVALIDATE("must-revalidate"),
        /** The response has {@code proxy-revalidate} (s5.2.2.8). */
        PROXY_REVALIDATE("proxy-revalidate"),
        /** The lifetime is an {@code s-maxage}, which implies {@code proxy-revalidate} (s5.2.2.10). */
        SHARED_MAX_AGE("s-maxage"),
        /**
         * The response may be specific to one user, and has no lifetime for that reason
         * ({@link LifetimeRules#heuristicWithCookies}).
         */
        COOKIES("cookies"),
        /** The response is itself an error, stored by negative caching ({@link LifetimeRules.NegativeCaching}). */
        NEGATIVE("negative"),
        /** The response has been stale for longer than permitted. */
        TOO_STALE("too-stale"),
        /** The response cannot answer this request. */
        NOT_USABLE("not-usable");

        private final String text;

        RefusalReason(String text) {
            this.text = text;
        }

        /** Stable name for logs. */
        public String text() {
            return text;
        }
    }

    /** The shared instance. */
    Allowed ALLOWED = new Allowed();

    /**
     * Returns true if a response with that status counts as a failure of the origin. These are 500, 502, 503 and 504 by
     * default (RFC 5861 s4; RFC 9111 s4.3.3).
     */
    static boolean isErrorStatus(int status, CacheSettings settings) {
        return settings.stale().onError().covers(status);
    }

    /**
     * Returns the head to serve while the origin fails. It is the stored head. If a lifetime for this case is
     * configured, the head gets an Expires in the near future, so that downstream caches keep the response.
     */
    static StoredHead answer(StoredHead stored, long nowMillis, CacheSettings settings) {
        long seconds = settings.stale().onError().lifetimeSeconds();
        return seconds == 0 ? stored : stored.withExpires(Math.floorDiv(nowMillis, 1000L) + seconds);
    }

    /**
     * Returns true if a response is served stale although it has s-maxage, which RFC 9111 s5.2.2.10 forbids by default.
     */
    static boolean isDespiteSharedMaxAge(StoredHead stored, CacheSettings settings) {
        return settings.stale().despiteSharedMaxAge() && stored.lifetimeSource() == LifetimeSource.SHARED_MAX_AGE;
    }

    /** Decides for a stored response that is stale by its age only. */
    static StaleServing of(RequestHead request, StoredHead stored, long nowMillis, CacheSettings settings) {
        return of(request, stored, nowMillis, settings, -1);
    }

    /**
     * Decides for a stored response that would answer the request if it were fresh. The limit is the response's
     * {@code stale-if-error} if present, even with {@code s-maxage}; else {@link StaleRules#maxStaleSeconds}. The
     * request's {@code stale-if-error} is the limit instead if it is larger.
     *
     * @param staleSinceMillis time since which a soft invalidation has made it stale; -1 for none. The longer of this
     *     staleness and the staleness by age counts
     */
    static StaleServing of(
            RequestHead request, StoredHead stored, long nowMillis, CacheSettings settings, long staleSinceMillis) {
        RefusalReason reason = refusal(request, stored, nowMillis, settings, staleSinceMillis);
        return reason == null ? ALLOWED : new Refused(reason);
    }

    private static @Nullable RefusalReason refusal(
            RequestHead request, StoredHead stored, long nowMillis, CacheSettings settings, long staleSinceMillis) {
        if (stored.isVaryMarker()
                || !settings.enabled()
                || !settings.key().selectors().isWithin(stored.variance())
                || !stored.selects(request.fields(), settings.encoding())) {
            return RefusalReason.NOT_USABLE;
        }
        CacheControl control = CacheControl.ofRequest(request.fields());
        if (control.isNoCache() && !settings.requests().ignoreNoCache()) {
            return RefusalReason.REQUEST_NO_CACHE;
        }
        boolean limitsAge = control.maxAgeSeconds() != CacheControl.ABSENT
                && control.maxStaleSeconds() == CacheControl.ABSENT
                && !settings.requests().ignoreMaxAge()
                && stored.currentAgeSeconds(nowMillis) > control.maxAgeSeconds();
        if (limitsAge && control.staleIfErrorSeconds() == CacheControl.ABSENT) {
            return RefusalReason.REQUEST_AGE;
        }
        return refusal(stored, control.staleIfErrorSeconds(), nowMillis, settings, staleSinceMillis);
    }

    /**
     * Returns the reason why the stored response must not be served, independent of the request's directives.
     *
     * @param requestedSeconds the request's {@code stale-if-error}, {@link CacheControl#ABSENT} for none
     */
    private static @Nullable RefusalReason refusal(
            StoredHead stored, long requestedSeconds, long nowMillis, CacheSettings settings, long staleSinceMillis) {
        if (stored.isNoCache()) {
            return RefusalReason.NO_CACHE;
        }
        if (stored.isMustRevalidate()) {
            return RefusalReason.MUST_REVALIDATE;
        }
        if (stored.isProxyRevalidate()) {
            return RefusalReason.PROXY_REVALIDATE;
        }
        if (stored.lifetimeSource() == LifetimeSource.NEGATIVE) {
            return RefusalReason.NEGATIVE;
        }
        if (stored.lifetimeSource() == LifetimeSource.WITHHELD) {
            return RefusalReason.COOKIES;
        }
        boolean granted = stored.staleIfErrorSeconds() != StoredHead.UNKNOWN;
        boolean banned = stored.lifetimeSource() == LifetimeSource.SHARED_MAX_AGE
                && !settings.stale().despiteSharedMaxAge();
        if (!granted && banned) {
            return RefusalReason.SHARED_MAX_AGE;
        }
        long staleSeconds = staleSeconds(stored, nowMillis, settings, staleSinceMillis);
        long limit = granted ? stored.staleIfErrorSeconds() : settings.stale().maxStaleSeconds();
        return staleSeconds > Math.max(limit, requestedSeconds) ? RefusalReason.TOO_STALE : null;
    }

    /**
     * Returns true if an error that answered a validation is not stored, because it would replace a usable stored
     * response. The stored response is usable if it is fresh, or may be served stale because of the failure or during
     * validation.
     *
     * @param staleSinceMillis as in {@link #of}
     */
    static boolean isErrorDiscarded(
            int status, StoredHead stored, long nowMillis, CacheSettings settings, long staleSinceMillis) {
        if (!isErrorStatus(status, settings) || isErrorStatus(stored.status(), settings)) {
            return false;
        }
        if (refusal(stored, CacheControl.ABSENT, nowMillis, settings, staleSinceMillis) == null) {
            return true;
        }
        long staleSeconds = staleSeconds(stored, nowMillis, settings, staleSinceMillis);
        boolean servedWhileValidating = staleSinceMillis < 0
                && !stored.isMustRevalidate()
                && !stored.isProxyRevalidate()
                && stored.lifetimeSource() != LifetimeSource.WITHHELD
                && staleSeconds < stored.staleWhileRevalidateSeconds();
        return !stored.isNoCache() && (staleSeconds < 0 || servedWhileValidating);
    }

    /** Returns how long the response has been stale, as in {@link #of}; negative while it is fresh. */
    static long staleSeconds(StoredHead stored, long nowMillis, CacheSettings settings, long staleSinceMillis) {
        long byAge = -settings.lifetimes().ttlSeconds(stored, nowMillis);
        // The result is at least 1 immediately after the invalidation, so that settings without stale serving exclude
        // the response.
        if (staleSinceMillis < 0) {
            return stored.isPurgedSoftly() ? Math.max(1, byAge) : byAge;
        }
        return Math.max(byAge, Math.max(1, Math.floorDiv(nowMillis - staleSinceMillis, 1000L)));
    }
}
