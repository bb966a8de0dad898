package io.millrace.proxy.caching;

import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.settings.StatusCodes;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;

/**
 * A response's freshness lifetime for a shared cache, with its source (RFC 9111 s4.2.1, s4.2.2). Immutable.
 *
 * @param lifetimeSeconds 0 or more
 */
public record Freshness(long lifetimeSeconds, LifetimeSource source) {

    /**
     * Computes the lifetime from the first applicable source:
     * <ul>
     * <li>{@code s-maxage}, then {@code max-age};
     * <li>Expires minus Date. An invalid Expires is in the past; a missing Date is the time of receipt. Expires is
     *     ignored if the response has a targeted field such as CDN-Cache-Control (RFC 9213 s2.2);
     * <li>the configured lifetime for the status code (negative caching);
     * <li>the heuristic, if the status code or {@code public} permits it. It needs a Last-Modified, unless configured
     *     otherwise, and must not be excluded by cookies or credentials.
     * </ul>
     * The configured minimum and maximum lifetime apply to the result. A forced lifetime overrides both.
     *
     * @param request the request that the response answers
     */
    public static Freshness of(
            RequestHead request, ResponseHead response, long responseTimeMillis, CacheSettings settings) {
        return of(
                request,
                response,
                CacheControl.ofResponse(response.fields(), settings.storing().targets()),
                responseTimeMillis,
                settings);
    }

    public static Freshness of(
            RequestHead request,
            ResponseHead response,
            CacheControl control,
            long responseTimeMillis,
            CacheSettings settings) {
        return own(request, response, control, responseTimeMillis, settings)
                .forced(response, responseTimeMillis, settings);
    }

    /** Returns this lifetime, a result of {@link #own}, after the overrides of {@link LifetimeRules.Forced}. */
    Freshness forced(ResponseHead response, long responseTimeMillis, CacheSettings settings) {
        LifetimeRules.Forced forced = settings.lifetimes().forced();
        if (forced.equals(LifetimeRules.Forced.NONE)) {
            return this;
        }
        long age = CurrentAge.initialMillis(response.fields(), responseTimeMillis, responseTimeMillis);
        boolean heuristicAllowed = StatusCodes.isHeuristicallyCacheable(response.status());
        long seconds = forced.lifetimeSeconds(lifetimeSeconds, source, heuristicAllowed, response.status(), age);
        return new Freshness(seconds, source);
    }

    /** Computes the lifetime without {@link LifetimeRules.Forced}, as stored in a head. */
    static Freshness own(
            RequestHead request,
            ResponseHead response,
            CacheControl control,
            long responseTimeMillis,
            CacheSettings settings) {
        LifetimeRules rules = settings.lifetimes();
        Freshness own = ofResponse(request, response, control, responseTimeMillis, rules);
        boolean allowed =
                switch (own.source) {
                    case NONE -> mayBeHeuristic(response, control);
                    case WITHHELD -> false;
                    default -> true;
                };
        long bounded = allowed ? rules.bounded(own.lifetimeSeconds) : own.lifetimeSeconds;
        return bounded == own.lifetimeSeconds ? own : new Freshness(bounded, own.source);
    }

    private static Freshness ofResponse(
            RequestHead request,
            ResponseHead response,
            CacheControl control,
            long responseTimeMillis,
            LifetimeRules rules) {
        if (control.sharedMaxAgeSeconds() != CacheControl.ABSENT) {
            return new Freshness(control.sharedMaxAgeSeconds(), LifetimeSource.SHARED_MAX_AGE);
        }
        if (control.maxAgeSeconds() != CacheControl.ABSENT) {
            return new Freshness(control.maxAgeSeconds(), LifetimeSource.MAX_AGE);
        }
        FieldSection fields = response.fields();
        long receivedSeconds = Math.floorDiv(responseTimeMillis, 1000L);
        if (!control.isTargeted() && fields.contains(FieldName.EXPIRES)) {
            return new Freshness(byExpires(fields, receivedSeconds), LifetimeSource.EXPIRES);
        }
        if (rules.negative().covers(response.status())) {
            return new Freshness(rules.negative().lifetimeSeconds(), LifetimeSource.NEGATIVE);
        }
        return heuristic(request, response, control, receivedSeconds, rules);
    }

    private static Freshness heuristic(
            RequestHead request,
            ResponseHead response,
            CacheControl control,
            long receivedSeconds,
            LifetimeRules rules) {
        FieldSection fields = response.fields();
        if (!mayBeHeuristic(response, control)) {
            return new Freshness(0, LifetimeSource.NONE);
        }
        if (CookieRule.forbidsHeuristicLifetime(rules.heuristicWithCookies(), request, fields)) {
            return new Freshness(0, LifetimeSource.WITHHELD);
        }
        long lastModified = HttpDates.parse(fields, FieldName.LAST_MODIFIED, receivedSeconds);
        boolean known = lastModified != HttpDates.INVALID;
        boolean error = response.status() >= 400 && response.status() != 410;
        if (!known && (error || !rules.heuristicWithoutLastModified())) {
            return new Freshness(0, LifetimeSource.NONE);
        }
        long date = dateSeconds(fields, receivedSeconds);
        long share = known ? (long) (Math.max(0, date - lastModified) * rules.heuristicFactor()) : 0;
        long bounded = Math.min(Math.max(share, rules.heuristicMinSeconds()), rules.heuristicMaxSeconds());
        return new Freshness(bounded, LifetimeSource.HEURISTIC);
    }

    /**
     * Returns the lifetime that the fields of a stored response give, in seconds. The stored lifetime can be shorter,
     * because a soft purge by pattern may have ended it. Returns -1 if the fields alone do not determine the lifetime.
     */
    public static long secondsByFields(StoredHead stored, CacheSettings settings) {
        FieldSection fields = stored.fields();
        CacheControl control =
                CacheControl.ofResponse(fields, settings.storing().targets());
        LifetimeRules rules = settings.lifetimes();
        return switch (stored.lifetimeSource()) {
            case SHARED_MAX_AGE -> rules.bounded(control.sharedMaxAgeSeconds());
            case MAX_AGE -> rules.bounded(control.maxAgeSeconds());
            case EXPIRES -> rules.bounded(byExpires(fields, Math.floorDiv(stored.responseTimeMillis(), 1000L)));
            case HEURISTIC, NEGATIVE, WITHHELD, NONE -> -1;
        };
    }

    private static long byExpires(FieldSection fields, long receivedSeconds) {
        long expires = HttpDates.parse(fields, FieldName.EXPIRES, receivedSeconds);
        return expires == HttpDates.INVALID ? 0 : Math.max(0, expires - dateSeconds(fields, receivedSeconds));
    }

    /** Returns true if the response may get a heuristic lifetime (RFC 9111 s4.2.2). */
    private static boolean mayBeHeuristic(ResponseHead response, CacheControl control) {
        return StatusCodes.isHeuristicallyCacheable(response.status()) || control.isPublic();
    }

    /** Returns the response's Date; the time of receipt if it is missing or invalid (RFC 9110 s6.6.1). */
    static long dateSeconds(FieldSection fields, long receivedSeconds) {
        long date = HttpDates.parse(fields, FieldName.DATE, receivedSeconds);
        return date == HttpDates.INVALID ? receivedSeconds : date;
    }
}
