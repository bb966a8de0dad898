package io.millrace.proxy.caching;

import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/** Whether a stale response may be served because the origin fails (RFC 9111 s4.2.4, RFC 5861 s4). Immutable. */
public sealed interface StaleServing {

    /** It may be served. */
    record Allowed() implements StaleServing {}

    /** It must not be served: answer with the origin's error, or 502 or 504. */
    record Refused(RefusalReason reason) implements StaleServing {}

    /** Why a stale response must not be served. */
    enum RefusalReason {
        /** The client insists on {@code no-cache}. */
        REQUEST_NO_CACHE("request-no-cache"),
        /** The client takes no older response: its {@code max-age}, or {@code min-fresh}. */
        REQUEST_AGE("request-age"),
        /** The response says {@code no-cache}. */
        NO_CACHE("no-cache"),
        /** The response says {@code must-revalidate} (s5.2.2.2). */
        MUST_REVALIDATE("must-revalidate"),
        /** The response says {@code proxy-revalidate} (s5.2.2.8). */
        PROXY_REVALIDATE("proxy-revalidate"),
        /** The response's lifetime is an {@code s-maxage}, which means {@code proxy-revalidate} (s5.2.2.10). */
        SHARED_MAX_AGE("s-maxage"),
        /** It has been stale for longer than is allowed. */
        TOO_STALE("too-stale"),
        /** It does not answer this request at all. */
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

    /** The instance that is given. */
    Allowed ALLOWED = new Allowed();

    /** Whether a response with that status counts as a failure of the origin (RFC 5861 s4; RFC 9111 s4.3.3). */
    static boolean isErrorStatus(int status) {
        return status == 500 || status == 502 || status == 503 || status == 504;
    }

    /**
     * Decides for a stored response that would answer the request if it were fresh. The origin's {@code
     * stale-if-error} sets the limit where it is present, even beside {@code s-maxage}; else {@link
     * CacheSettings#maxStaleSeconds} does.
     */
    static StaleServing of(RequestHead request, StoredHead stored, long nowMillis, CacheSettings settings) {
        RefusalReason reason = refusal(request, stored, nowMillis, settings);
        return reason == null ? ALLOWED : new Refused(reason);
    }

    private static @Nullable RefusalReason refusal(
            RequestHead request, StoredHead stored, long nowMillis, CacheSettings settings) {
        if (stored.isVaryMarker() || !settings.enabled() || !stored.selects(request.fields())) {
            return RefusalReason.NOT_USABLE;
        }
        CacheControl control = CacheControl.ofRequest(request.fields());
        if (control.isNoCache() && !settings.ignoreClientNoCache()) {
            return RefusalReason.REQUEST_NO_CACHE;
        }
        boolean limitsAge = control.maxAgeSeconds() != CacheControl.ABSENT
                && control.maxStaleSeconds() == CacheControl.ABSENT
                && !settings.ignoreClientMaxAge()
                && stored.currentAgeSeconds(nowMillis) > control.maxAgeSeconds();
        if (limitsAge && control.staleIfErrorSeconds() == CacheControl.ABSENT) {
            return RefusalReason.REQUEST_AGE;
        }
        if (stored.isNoCache()) {
            return RefusalReason.NO_CACHE;
        }
        if (stored.isMustRevalidate()) {
            return RefusalReason.MUST_REVALIDATE;
        }
        if (stored.isProxyRevalidate()) {
            return RefusalReason.PROXY_REVALIDATE;
        }
        boolean granted = stored.staleIfErrorSeconds() != StoredHead.UNKNOWN;
        if (!granted && stored.lifetimeSource() == LifetimeSource.SHARED_MAX_AGE) {
            return RefusalReason.SHARED_MAX_AGE;
        }
        long staleSeconds = -stored.ttlSeconds(nowMillis);
        long limit = granted ? stored.staleIfErrorSeconds() : settings.maxStaleSeconds();
        return staleSeconds > Math.max(limit, control.staleIfErrorSeconds()) ? RefusalReason.TOO_STALE : null;
    }
}
