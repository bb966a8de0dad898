package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/** Whether a response may be stored by this shared cache (RFC 9111 s3). Immutable. */
public sealed interface Storability {

    /** It may be stored. */
    record Storable() implements Storability {}

    /** It must or shall not be stored. */
    record NotStorable(NoStoreReason reason) implements Storability {}

    /** The only instance needed of {@link Storable}. */
    Storable STORABLE = new Storable();

    /**
     * Decides for the response to a request.
     *
     * @param responseTimeMillis when the response's head arrived, in epoch milliseconds
     */
    static Storability of(RequestHead request, ResponseHead response, long responseTimeMillis, CacheSettings settings) {
        NoStoreReason reason = ofRequest(request, settings);
        if (reason == null) {
            boolean authorized = request.fields().contains(FieldName.AUTHORIZATION);
            reason = ofResponse(authorized, response, responseTimeMillis, settings);
        }
        return reason == null ? STORABLE : new NotStorable(reason);
    }

    /** Why answers to the request are not stored whatever they say, or null: known before the origin answers. */
    static @Nullable NoStoreReason ofRequest(RequestHead request, CacheSettings settings) {
        if (!settings.enabled()) {
            return NoStoreReason.DISABLED;
        }
        if (request.method() != Method.GET) {
            return NoStoreReason.METHOD;
        }
        if (RequestContent.isPresent(request.fields())) {
            return NoStoreReason.REQUEST_CONTENT;
        }
        boolean noStore = !settings.ignoreClientNoCache()
                && CacheControl.ofRequest(request.fields()).isNoStore();
        return noStore ? NoStoreReason.REQUEST_NO_STORE : null;
    }

    /** Why the response is not stored, or null. */
    static @Nullable NoStoreReason ofResponse(
            boolean authorized, ResponseHead response, long responseTimeMillis, CacheSettings settings) {
        NoStoreReason reason = ofStatus(response.status());
        if (reason != null) {
            return reason;
        }
        CacheControl control = CacheControl.ofResponse(response.fields());
        reason = ofControl(authorized, response, control);
        if (reason != null) {
            return reason;
        }
        if (Variance.of(response.fields()).isAny()) {
            return NoStoreReason.VARY_ANY;
        }
        reason = ofLifetime(response, control, responseTimeMillis, settings);
        return reason == null && !settings.allowsLength(declaredLength(response.fields()))
                ? NoStoreReason.TOO_LARGE
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

    private static @Nullable NoStoreReason ofControl(boolean authorized, ResponseHead response, CacheControl control) {
        if (control.isMustUnderstand()) {
            if (!StatusCodes.isUnderstood(response.status())) {
                return NoStoreReason.MUST_UNDERSTAND;
            }
        } else if (control.isNoStore()) {
            return NoStoreReason.NO_STORE;
        }
        if (control.isPrivate()) {
            return NoStoreReason.PRIVATE;
        }
        boolean allowedWithAuthorization = control.isPublic()
                || control.isMustRevalidate()
                || control.sharedMaxAgeSeconds() != CacheControl.ABSENT;
        return authorized && !allowedWithAuthorization ? NoStoreReason.AUTHORIZATION : null;
    }

    private static @Nullable NoStoreReason ofLifetime(
            ResponseHead response, CacheControl control, long responseTimeMillis, CacheSettings settings) {
        FieldSection fields = response.fields();
        Freshness freshness = Freshness.of(response, control, responseTimeMillis, settings);
        boolean allowed = freshness.source().isExplicit()
                || control.isPublic()
                || StatusCodes.isHeuristicallyCacheable(response.status());
        if (!allowed) {
            return NoStoreReason.STATUS;
        }
        boolean modified = fields.contains(FieldName.LAST_MODIFIED);
        boolean satisfied = freshness.source().isExplicit()
                || switch (settings.requiredHeaders()) {
                    case NONE -> true;
                    case LAST_MODIFIED -> modified;
                    case LIFETIME -> false;
                };
        if (response.status() == 200 && !satisfied) {
            return NoStoreReason.REQUIRED_HEADERS;
        }
        boolean validatable = modified || fields.contains(FieldName.ETAG);
        boolean usable = freshness.lifetimeSeconds() > 0 && !control.isNoCache();
        return usable || validatable ? null : NoStoreReason.NO_LIFETIME;
    }

    private static long declaredLength(FieldSection fields) {
        int line = fields.find(FieldName.CONTENT_LENGTH);
        return line < 0
                ? StoredHead.UNKNOWN
                : FieldLexer.number(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
    }
}
