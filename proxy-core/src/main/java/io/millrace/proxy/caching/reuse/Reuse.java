package io.millrace.proxy.caching.reuse;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.CookieRule;
import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.key.RequestContent;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.settings.RequestRules;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * The decision whether a stored response may answer a request without the origin (RFC 9111 s4). A hit allocates nothing
 * if the request has no Cache-Control and the response no Vary. Immutable.
 */
public sealed interface Reuse {

    /** The response is fresh: serve it. */
    record Fresh() implements Reuse {}

    /** The response is stale, but within the client's {@code max-stale} (RFC 9111 s5.2.1.2): serve it. */
    record ServeStale() implements Reuse {}

    /** The response is stale, but may be served while it is validated in the background (RFC 5861 s3). */
    record ServeStaleWhileRevalidating() implements Reuse {}

    /** The response is stale, but may be served because the origin, or this proxy, is overloaded. */
    record ServeStaleUnderLoad() implements Reuse {}

    /** The response must be validated first, or fetched again if it has no validator. */
    record Validate(ValidateReason reason) implements Reuse {}

    /** The response cannot answer this request: continue as if nothing were stored. */
    record NotUsable(NotUsableReason reason) implements Reuse {}

    /**
     * An invalidation has outdated the response. After a soft invalidation the response may be validated; after a hard
     * one it counts as absent.
     */
    record Invalidated(Outdated kind) implements Reuse {}

    /** The reason why a stored response must be validated. */
    enum ValidateReason {
        /** The age has reached the lifetime (s4.2). */
        STALE("stale"),
        /** The response has {@code no-cache} (s5.2.2.4). */
        NO_CACHE("no-cache"),
        /** The request has {@code no-cache} (s5.2.1.4). */
        REQUEST_NO_CACHE("request-no-cache"),
        /** The age exceeds the request's {@code max-age} (s5.2.1.1). */
        REQUEST_MAX_AGE("request-max-age"),
        /** The remaining lifetime is shorter than the request's {@code min-fresh} (s5.2.1.3). */
        REQUEST_MIN_FRESH("request-min-fresh"),
        /** The configuration requires validation ({@link LifetimeRules#whenToRevalidate}). */
        WHEN_TO_REVALIDATE("when-to-revalidate"),
        /**
         * The request has Authorization, and such requests require validation of this response
         * ({@link RequestRules#authorized}).
         */
        AUTHORIZATION("authorization");

        private final String text;

        ValidateReason(String text) {
            this.text = text;
        }

        /** Stable name for logs. */
        public String text() {
            return text;
        }
    }

    /** The reason why a stored response cannot answer a request. */
    enum NotUsableReason {
        /** Caching is disabled by configuration. */
        DISABLED("disabled"),
        /** The method is neither GET nor HEAD. */
        METHOD("method"),
        /** The request has content. */
        REQUEST_CONTENT("request-content"),
        /** The request's values of the Vary fields differ (s4.1). */
        VARY("vary"),
        /** The cookie policy excludes reuse ({@link StoringRules#cookies}). */
        COOKIES("cookies"),
        /**
         * The request has Authorization, and the response does not permit reuse for such requests
         * ({@link RequestRules#authorized}).
         */
        AUTHORIZATION("authorization"),
        /**
         * The request has {@code no-cache}, and the configuration requires a new fetch
         * ({@link RequestRules#imsOnNoCache}).
         */
        REQUEST_NO_CACHE("request-no-cache");

        private final String text;

        NotUsableReason(String text) {
            this.text = text;
        }

        /** Stable name for logs. */
        public String text() {
            return text;
        }
    }

    /** The shared instance. */
    Fresh FRESH = new Fresh();

    /** The shared instance. */
    ServeStale SERVE_STALE = new ServeStale();

    /** The shared instance. */
    ServeStaleWhileRevalidating SERVE_STALE_WHILE_REVALIDATING = new ServeStaleWhileRevalidating();

    /** The shared instance. */
    ServeStaleUnderLoad SERVE_STALE_UNDER_LOAD = new ServeStaleUnderLoad();

    /** Decides for a stored response that no invalidation has outdated. */
    static Reuse of(RequestHead request, StoredHead stored, long nowMillis, CacheSettings settings) {
        return of(request, stored, nowMillis, settings, null);
    }

    /**
     * Decides for a stored response. Must not be called with a Vary marker (the record of a URL's selecting fields).
     *
     * @param outdated the result of {@link Invalidations} for the response
     */
    static Reuse of(
            RequestHead request,
            StoredHead stored,
            long nowMillis,
            CacheSettings settings,
            @Nullable Outdated outdated) {
        assert !stored.isVaryMarker() : "a vary marker is not a response";
        NotUsable notUsable = notUsable(request, stored, settings);
        if (notUsable != null) {
            return notUsable;
        }
        if (outdated != null) {
            return new Invalidated(outdated);
        }
        return stored.isPurgedSoftly()
                ? new Invalidated(Outdated.STALE_BY_PATTERN)
                : ofCurrent(request, stored, nowMillis, settings);
    }

    private static Reuse ofCurrent(RequestHead request, StoredHead stored, long nowMillis, CacheSettings settings) {
        if (stored.isNoCache()) {
            return new Validate(ValidateReason.NO_CACHE);
        }
        if (mustBeValidated(stored) && isRestricted(request, settings)) {
            return new Validate(ValidateReason.AUTHORIZATION);
        }
        CacheControl control = CacheControl.ofRequest(request.fields());
        if (control.isNoCache() && !settings.requests().ignoreNoCache()) {
            return settings.requests().imsOnNoCache()
                    ? new Validate(ValidateReason.REQUEST_NO_CACHE)
                    : new NotUsable(NotUsableReason.REQUEST_NO_CACHE);
        }
        long age = stored.currentAgeSeconds(nowMillis);
        long ttl = settings.lifetimes().lifetimeSeconds(stored) - age;
        boolean tooOld = control.maxAgeSeconds() != CacheControl.ABSENT
                && !settings.requests().ignoreMaxAge()
                && age > control.maxAgeSeconds();
        if (tooOld || (control.maxAgeSeconds() == 0 && !settings.requests().ignoreMaxAge())) {
            return new Validate(ValidateReason.REQUEST_MAX_AGE);
        }
        LifetimeRules.WhenToRevalidate when = settings.lifetimes().whenToRevalidate();
        if (when != LifetimeRules.WhenToRevalidate.DIRECTIVES) {
            if (isRevalidated(when, request, stored)) {
                return new Validate(ValidateReason.WHEN_TO_REVALIDATE);
            }
            ttl = when == LifetimeRules.WhenToRevalidate.NEVER ? Math.max(1, ttl) : ttl;
        }
        if (ttl > 0) {
            return control.minFreshSeconds() != CacheControl.ABSENT && ttl < control.minFreshSeconds()
                    ? new Validate(ValidateReason.REQUEST_MIN_FRESH)
                    : FRESH;
        }
        return ofStale(stored, control, -ttl, settings);
    }

    private static @Nullable NotUsable notUsable(RequestHead request, StoredHead stored, CacheSettings settings) {
        if (!settings.enabled()) {
            return new NotUsable(NotUsableReason.DISABLED);
        }
        if (request.method() != Method.GET && request.method() != Method.HEAD) {
            return new NotUsable(NotUsableReason.METHOD);
        }
        if (RequestContent.isPresent(request.fields())) {
            return new NotUsable(NotUsableReason.REQUEST_CONTENT);
        }
        if (!CookieRule.allows(settings.storing().cookies(), request, stored)) {
            return new NotUsable(NotUsableReason.COOKIES);
        }
        if (!mustBeValidated(stored) && !isForAnybody(stored) && isRestricted(request, settings)) {
            return new NotUsable(NotUsableReason.AUTHORIZATION);
        }
        // A selector is a request field or cookie that distinguishes responses of one URL. If the operator added a
        // selector after the response was stored, the value for this response is unknown.
        Variance selectors = settings.key().selectors();
        boolean selectable = selectors.isNone() || selectors.isWithin(stored.variance());
        return selectable && stored.selects(request.fields(), settings.encoding())
                ? null
                : new NotUsable(NotUsableReason.VARY);
    }

    /** Returns true if the request has Authorization, and the settings restrict reuse for such requests. */
    private static boolean isRestricted(RequestHead request, CacheSettings settings) {
        return settings.requests().authorized() == RequestRules.AuthorizedReuse.IF_ALLOWED
                && request.fields().contains(FieldName.AUTHORIZATION);
    }

    private static boolean mustBeValidated(StoredHead stored) {
        return stored.isMustRevalidate() || stored.isProxyRevalidate();
    }

    private static boolean isForAnybody(StoredHead stored) {
        return stored.isPublic() || stored.lifetimeSource() == LifetimeSource.SHARED_MAX_AGE;
    }

    /**
     * Returns true if a received response must not answer another request with Authorization unless the origin confirms
     * it.
     */
    static boolean forbidsUseWithAuthorization(RequestHead request, CacheControl control, CacheSettings settings) {
        boolean allowed = control.isPublic() || control.sharedMaxAgeSeconds() != CacheControl.ABSENT;
        return isRestricted(request, settings)
                && (!allowed || control.isMustRevalidate() || control.isProxyRevalidate());
    }

    private static boolean isRevalidated(LifetimeRules.WhenToRevalidate when, RequestHead request, StoredHead stored) {
        return switch (when) {
            case ALWAYS -> true;
            case HEURISTIC -> stored.lifetimeSource() == LifetimeSource.HEURISTIC;
            case IF_MODIFIED_SINCE -> request.fields().contains(FieldName.IF_MODIFIED_SINCE);
            case DIRECTIVES, NEVER -> false;
        };
    }

    private static Reuse ofStale(StoredHead stored, CacheControl control, long staleSeconds, CacheSettings settings) {
        if (mustBeValidated(stored) || stored.lifetimeSource() == LifetimeSource.WITHHELD) {
            return new Validate(ValidateReason.STALE);
        }
        boolean limitsAge = control.maxAgeSeconds() != CacheControl.ABSENT
                && !settings.requests().ignoreMaxAge();
        boolean wantsFresh = control.minFreshSeconds() != CacheControl.ABSENT;
        // s-maxage implies proxy-revalidate (s5.2.2.10), unless the configuration permits stale serving. It does not
        // affect stale-while-revalidate below, which the origin itself has sent.
        boolean banned = stored.lifetimeSource() == LifetimeSource.SHARED_MAX_AGE
                && !settings.stale().despiteSharedMaxAge();
        boolean clientAccepts = !banned
                && control.maxStaleSeconds() != CacheControl.ABSENT
                && staleSeconds
                        <= Math.min(control.maxStaleSeconds(), settings.stale().maxStaleSeconds());
        if (clientAccepts && !wantsFresh) {
            return SERVE_STALE;
        }
        StaleRules.UnderLoad load = settings.stale().underLoad();
        long lifetime = settings.lifetimes().lifetimeSeconds(stored);
        // A cookie in a response without a lifetime is meant for one client.
        boolean ofOneClient = lifetime <= 0 && stored.hasSetCookie();
        boolean underLoad = !banned && !wantsFresh && !limitsAge && !ofOneClient;
        if (underLoad && load.covers(lifetime, staleSeconds)) {
            return SERVE_STALE_UNDER_LOAD;
        }
        // A client with max-age but without max-stale accepts no stale response (s5.2.1.1).
        boolean granted = staleSeconds < stored.staleWhileRevalidateSeconds() && !wantsFresh && !limitsAge;
        return granted ? SERVE_STALE_WHILE_REVALIDATING : new Validate(ValidateReason.STALE);
    }
}
