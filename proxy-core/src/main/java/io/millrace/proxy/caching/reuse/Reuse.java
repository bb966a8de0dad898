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
 * Whether a stored response may answer a request without asking the origin (RFC 9111 s4). A hit allocates
 * nothing where the request has no Cache-Control and the response no Vary. Immutable.
 */
public sealed interface Reuse {

    /** It is fresh: serve it. */
    record Fresh() implements Reuse {}

    /** It is stale, and the client's {@code max-stale} takes it (RFC 9111 s5.2.1.2): serve it. */
    record ServeStale() implements Reuse {}

    /** It is stale, and may be served while it is validated in the background (RFC 5861 s3). */
    record ServeStaleWhileRevalidating() implements Reuse {}

    /** It is stale, and may be served because the origin, or this proxy, has more to do than it can: serve it. */
    record ServeStaleUnderLoad() implements Reuse {}

    /** It must be validated first, or fetched again when it has no validator. */
    record Validate(ValidateReason reason) implements Reuse {}

    /** It is no answer to this request: go on as if nothing were stored. */
    record NotUsable(NotUsableReason reason) implements Reuse {}

    /**
     * An invalidation of more than its URL has outdated it: where that was a soft one it may be validated, else it counts as not
     * there.
     */
    record Invalidated(Outdated by) implements Reuse {}

    /** Why a stored response must be validated. */
    enum ValidateReason {
        /** Its age has reached its lifetime (s4.2). */
        STALE("stale"),
        /** It says {@code no-cache} (s5.2.2.4). */
        NO_CACHE("no-cache"),
        /** The request says {@code no-cache} (s5.2.1.4). */
        REQUEST_NO_CACHE("request-no-cache"),
        /** It is older than the request's {@code max-age} (s5.2.1.1). */
        REQUEST_MAX_AGE("request-max-age"),
        /** It stays fresh for less than the request's {@code min-fresh} (s5.2.1.3). */
        REQUEST_MIN_FRESH("request-min-fresh"),
        /** An operator wants it validated ({@link LifetimeRules#whenToRevalidate}). */
        WHEN_TO_REVALIDATE("when-to-revalidate"),
        /** The request has Authorization, and the response must be validated then ({@link RequestRules#authorized}). */
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

    /** Why a stored response is no answer to a request. */
    enum NotUsableReason {
        /** Caching is off by configuration. */
        DISABLED("disabled"),
        /** The method is neither GET nor HEAD. */
        METHOD("method"),
        /** The request has content. */
        REQUEST_CONTENT("request-content"),
        /** The request's values of the Vary fields differ (s4.1). */
        VARY("vary"),
        /** Cookies keep it from being used ({@link StoringRules#cookies}). */
        COOKIES("cookies"),
        /** The request has Authorization, and nothing in the response lets it answer then ({@link RequestRules#authorized}). */
        AUTHORIZATION("authorization"),
        /** The request says {@code no-cache} and is to be fetched again ({@link RequestRules#imsOnNoCache}). */
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

    /** The instance that is given. */
    Fresh FRESH = new Fresh();

    /** The instance that is given. */
    ServeStale SERVE_STALE = new ServeStale();

    /** The instance that is given. */
    ServeStaleWhileRevalidating SERVE_STALE_WHILE_REVALIDATING = new ServeStaleWhileRevalidating();

    /** The instance that is given. */
    ServeStaleUnderLoad SERVE_STALE_UNDER_LOAD = new ServeStaleUnderLoad();

    /** As the other, of a response that nothing but time outdates. */
    static Reuse of(RequestHead request, StoredHead stored, long nowMillis, CacheSettings settings) {
        return of(request, stored, nowMillis, settings, null);
    }

    /**
     * Decides for a stored response; a vary marker is no response and must not be given.
     *
     * @param outdated what {@link Invalidations} say of it
     */
    static Reuse of(
            RequestHead request,
            StoredHead stored,
            long nowMillis,
            CacheSettings settings,
            @Nullable Outdated outdated) {
        assert !stored.isVaryMarker() : "a vary marker is no response";
        NotUsable notUsable = notUsable(request, stored, settings);
        if (notUsable != null) {
            return notUsable;
        }
        return outdated == null ? ofCurrent(request, stored, nowMillis, settings) : new Invalidated(outdated);
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
        // Stored before an operator had it selected by more than its Vary: nobody can tell whom it is for.
        Variance selectors = settings.key().selectors();
        boolean selectable = selectors.isNone() || selectors.isWithin(stored.variance());
        return selectable && stored.selects(request.fields()) ? null : new NotUsable(NotUsableReason.VARY);
    }

    /** Whether the request has Authorization and gets only what a stored response allows then. */
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

    /** Whether a response that is about to be stored is no answer to a request with Authorization without asking the origin. */
    static boolean isAuthorizationInTheWay(RequestHead request, CacheControl control, CacheSettings settings) {
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
        // s-maxage means proxy-revalidate too (s5.2.2.10); only what the origin itself grants goes beyond it.
        boolean banned = stored.lifetimeSource() == LifetimeSource.SHARED_MAX_AGE
                && !settings.stale().despiteSharedMaxAge();
        boolean clientTakesIt = !banned
                && control.maxStaleSeconds() != CacheControl.ABSENT
                && staleSeconds
                        <= Math.min(control.maxStaleSeconds(), settings.stale().maxStaleSeconds());
        if (clientTakesIt && !wantsFresh) {
            return SERVE_STALE;
        }
        StaleRules.UnderLoad load = settings.stale().underLoad();
        long lifetime = settings.lifetimes().lifetimeSeconds(stored);
        // A cookie without a lifetime is for the one who was answered.
        boolean ofOneClient = lifetime <= 0 && stored.hasSetCookie();
        boolean underLoad = !banned && !wantsFresh && !limitsAge && !ofOneClient;
        if (underLoad && load.covers(lifetime, staleSeconds)) {
            return SERVE_STALE_UNDER_LOAD;
        }
        // A client that names a max-age without max-stale wants nothing stale (s5.2.1.1).
        boolean granted = staleSeconds < stored.staleWhileRevalidateSeconds() && !wantsFresh && !limitsAge;
        return granted ? SERVE_STALE_WHILE_REVALIDATING : new Validate(ValidateReason.STALE);
    }
}
