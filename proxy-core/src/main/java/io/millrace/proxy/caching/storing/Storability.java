package io.millrace.proxy.caching.storing;

import io.millrace.proxy.caching.CacheGroups;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.CookieRule;
import io.millrace.proxy.caching.Freshness;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.caching.key.DynamicUrls;
import io.millrace.proxy.caching.key.RequestContent;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.settings.StatusCodes;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;

/** The decision whether this shared cache may store a response (RFC 9111 s3). Immutable. */
public sealed interface Storability {

    /** The response may be stored. */
    record Storable() implements Storability {}

    /** The response must not be stored. */
    record NotStorable(NoStoreReason reason) implements Storability {}

    /** The shared instance. */
    Storable STORABLE = new Storable();

    /**
     * Decides for the response to a request.
     *
     * @param responseTimeMillis time when the response's head arrived, in epoch milliseconds
     */
    static Storability of(RequestHead request, ResponseHead response, long responseTimeMillis, CacheSettings settings) {
        NoStoreReason reason = ofRequest(request, settings);
        if (reason == null) {
            reason = request.method() == Method.POST ? ofPost(request, response, responseTimeMillis, settings) : null;
        }
        if (reason == null) {
            reason = ofResponse(request, response, responseTimeMillis, settings);
        }
        return reason == null ? STORABLE : new NotStorable(reason);
    }

    /** Returns the reason why no response to the request is stored, or null. The reason depends only on the request. */
    static @Nullable NoStoreReason ofRequest(RequestHead request, CacheSettings settings) {
        if (!settings.enabled()) {
            return NoStoreReason.DISABLED;
        }
        boolean post = request.method() == Method.POST && settings.storing().post();
        if (request.method() != Method.GET && !post) {
            return NoStoreReason.METHOD;
        }
        if (!post && RequestContent.isPresent(request.fields())) {
            return NoStoreReason.REQUEST_CONTENT;
        }
        if (!settings.storing().dynamicUrls() && DynamicUrls.looksDynamic(request.target())) {
            return NoStoreReason.DYNAMIC_URL;
        }
        boolean noStore = !settings.requests().ignoreNoCache()
                && CacheControl.ofRequest(request.fields()).isNoStore();
        return noStore ? NoStoreReason.REQUEST_NO_STORE : null;
    }

    /**
     * Returns null if a response to POST may answer later GETs. It needs a Content-Location with the request's own URL
     * and an explicit lifetime (RFC 9110 s9.3.3).
     */
    private static @Nullable NoStoreReason ofPost(
            RequestHead request, ResponseHead response, long responseTimeMillis, CacheSettings settings) {
        String location = response.fields().get(FieldName.CONTENT_LOCATION);
        TargetUri described = location == null ? null : request.target().resolve(location);
        boolean answersGet = described != null
                && CacheKey.of(described).equals(CacheKey.of(request.target()))
                && Freshness.of(request, response, responseTimeMillis, settings)
                        .source()
                        .isExplicit();
        return answersGet ? null : NoStoreReason.METHOD;
    }

    /** Returns the reason why the response is not stored, or null. */
    static @Nullable NoStoreReason ofResponse(
            RequestHead request, ResponseHead response, long responseTimeMillis, CacheSettings settings) {
        NoStoreReason reason = ofStatus(response.status());
        if (reason != null) {
            return reason;
        }
        if (RequestErrors.isRequestError(
                request, response.status(), settings.lifetimes().negative())) {
            return NoStoreReason.REQUEST_ERROR;
        }
        CacheControl control =
                CacheControl.ofResponse(response.fields(), settings.storing().targets());
        reason = ofControl(request, response, control, settings.storing());
        if (reason != null) {
            return reason;
        }
        if (!CookieRule.allows(settings.storing().cookies(), request, response, control)) {
            return NoStoreReason.COOKIES;
        }
        if (settings.key().variance(response.fields()).isAny()) {
            return NoStoreReason.VARY_ANY;
        }
        if (CacheGroups.areTooMany(response.fields())) {
            return NoStoreReason.CACHE_GROUPS;
        }
        if (settings.tags().problem(response.fields()) != null) {
            return NoStoreReason.TAGS;
        }
        reason = ofLifetime(request, response, control, responseTimeMillis, settings);
        if (reason == null && !settings.storing().allowsLength(declaredLength(response.fields()))) {
            return NoStoreReason.TOO_LARGE;
        }
        return reason == null
                        && settings.storing().leakGuard() == StoringRules.LeakGuardLevel.ON
                        && LeakGuard.finds(request, response, control, settings)
                ? NoStoreReason.LEAK_GUARD
                : reason;
    }

    private static @Nullable NoStoreReason ofStatus(int status) {
        if (status < 200) {
            return NoStoreReason.INTERIM;
        }
        return switch (status) {
            case 206 -> NoStoreReason.PARTIAL;
            case 304 -> NoStoreReason.NOT_MODIFIED;
            default -> null;
        };
    }

    private static @Nullable NoStoreReason ofControl(
            RequestHead request, ResponseHead response, CacheControl control, StoringRules rules) {
        if (control.isMustUnderstand()) {
            if (!StatusCodes.isUnderstood(response.status())) {
                return NoStoreReason.MUST_UNDERSTAND;
            }
        } else if (control.isNoStore() && !rules.ignoreServerNoCache()) {
            return NoStoreReason.NO_STORE;
        }
        if (control.isPrivate()) {
            return NoStoreReason.PRIVATE;
        }
        boolean allowedWithAuthorization = control.isPublic()
                || control.isMustRevalidate()
                || control.sharedMaxAgeSeconds() != CacheControl.ABSENT;
        if (request.fields().contains(FieldName.AUTHORIZATION) && !allowedWithAuthorization) {
            return NoStoreReason.AUTHORIZATION;
        }
        boolean authenticates =
                !rules.ignoreAuthentication() && response.fields().contains(FieldName.WWW_AUTHENTICATE);
        return authenticates ? NoStoreReason.WWW_AUTHENTICATE : null;
    }

    private static @Nullable NoStoreReason ofLifetime(
            RequestHead request,
            ResponseHead response,
            CacheControl control,
            long responseTimeMillis,
            CacheSettings settings) {
        FieldSection fields = response.fields();
        Freshness freshness = Freshness.of(request, response, control, responseTimeMillis, settings);
        boolean allowed = freshness.source().isExplicit()
                || freshness.source() == LifetimeSource.NEGATIVE
                || control.isPublic()
                || StatusCodes.isHeuristicallyCacheable(response.status());
        if (!allowed) {
            return NoStoreReason.STATUS;
        }
        boolean modified = fields.contains(FieldName.LAST_MODIFIED);
        boolean validated = control.isNoCache() && !settings.storing().ignoreServerNoCache();
        // A response without a lifetime is stored even if it lacks fields that requiredHeaders demands, because it may
        // be served stale under load. A response with a heuristic lifetime would be kept for hours, so it must satisfy
        // requiredHeaders.
        boolean servesStale = settings.stale().underLoad().microCacheSeconds() > 0
                && freshness.lifetimeSeconds() == 0
                && !validated
                && !control.isMustRevalidate()
                && !control.isProxyRevalidate()
                && !fields.contains(FieldName.SET_COOKIE)
                && freshness.source() != LifetimeSource.WITHHELD;
        boolean satisfied = freshness.source().isExplicit()
                || servesStale
                || switch (settings.storing().requiredHeaders()) {
                    case NONE -> true;
                    case LAST_MODIFIED -> modified;
                    case LIFETIME -> false;
                };
        if (response.status() == 200 && !satisfied) {
            return NoStoreReason.REQUIRED_HEADERS;
        }
        boolean validatable = modified || fields.contains(FieldName.ETAG);
        boolean usable = !validated && (freshness.lifetimeSeconds() > 0 || servesStale);
        if (usable || validatable) {
            return null;
        }
        boolean guessable = freshness.source() == LifetimeSource.WITHHELD
                && settings.lifetimes().heuristicWithoutLastModified();
        return guessable ? NoStoreReason.HEURISTIC_REFUSED : NoStoreReason.NO_LIFETIME;
    }

    private static long declaredLength(FieldSection fields) {
        int line = fields.find(FieldName.CONTENT_LENGTH);
        return line < 0
                ? StoredHead.UNKNOWN
                : FieldLexer.number(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
    }
}
