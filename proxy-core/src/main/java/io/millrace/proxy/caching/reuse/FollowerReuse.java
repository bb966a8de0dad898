package io.millrace.proxy.caching.reuse;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.CurrentAge;
import io.millrace.proxy.caching.Freshness;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.key.RequestContent;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.caching.settings.RequestRules;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decision whether a follower that waited for a leader's response may receive it (RFC 9111 s4, collapsed requests).
 * The leader is the request that was sent to the origin. Sharing is stricter than reuse of a stored response: a
 * response with Set-Cookie is not shared. Immutable.
 */
public sealed interface FollowerReuse {

    /** The response may answer the follower. */
    record Shared() implements FollowerReuse {}

    /** The response must not answer the follower, which sends its own request to the origin. */
    record NotShared(NotSharedReason reason) implements FollowerReuse {}

    /** The reason why a response is not shared with a follower. */
    enum NotSharedReason {
        /** The follower's method is neither GET nor HEAD, or its request has content. */
        METHOD("method"),
        /** The response is not storable (see {@link Storability}), for example because of {@code private}. */
        NOT_STORABLE("not-storable"),
        /**
         * The response has {@code no-cache}, or {@code private} or {@code no-cache} with field names; or it has a field
         * that the operator excludes from sharing ({@link StoringRules#unsharedFields}).
         */
        RESTRICTED("restricted"),
        /** The response sets a cookie, which may belong to the leader. */
        SET_COOKIE("set-cookie"),
        /**
         * The follower has Authorization, and the response does not permit reuse for such requests
         * ({@link RequestRules#authorized}).
         */
        AUTHORIZATION("authorization"),
        /** The follower's values of the Vary fields differ from the leader's. */
        VARY("vary"),
        /** The response was stale on arrival. */
        STALE("stale"),
        /** The follower's Cache-Control requires a separate response or a fresher response. */
        FOLLOWER_CACHE_CONTROL("waiter-cache-control");

        private final String text;

        NotSharedReason(String text) {
            this.text = text;
        }

        /** Stable name for logs. */
        public String text() {
            return text;
        }
    }

    /** The shared instance. */
    Shared SHARED = new Shared();

    /**
     * Decides for one follower, when the head of the leader's response has arrived.
     *
     * @param responseTimeMillis time of the arrival, in epoch milliseconds
     */
    static FollowerReuse of(
            RequestHead follower,
            RequestHead leader,
            ResponseHead response,
            long responseTimeMillis,
            CacheSettings settings) {
        NotSharedReason reason = refusal(follower, leader, response, responseTimeMillis, settings);
        return reason == null ? SHARED : new NotShared(reason);
    }

    private static @Nullable NotSharedReason refusal(
            RequestHead follower,
            RequestHead leader,
            ResponseHead response,
            long responseTimeMillis,
            CacheSettings settings) {
        boolean reads = follower.method() == Method.GET || follower.method() == Method.HEAD;
        if (!reads || RequestContent.isPresent(follower.fields())) {
            return NotSharedReason.METHOD;
        }
        if (Storability.of(leader, response, responseTimeMillis, settings) instanceof Storability.NotStorable) {
            return NotSharedReason.NOT_STORABLE;
        }
        FieldSection fields = response.fields();
        CacheControl control =
                CacheControl.ofResponse(fields, settings.storing().targets());
        boolean restricted = control.isNoCache()
                || !control.noCacheFields().isEmpty()
                || !control.privateFields().isEmpty()
                || isAnyIn(fields, settings.storing().unsharedFields());
        if (restricted) {
            return NotSharedReason.RESTRICTED;
        }
        if (fields.contains(FieldName.SET_COOKIE)) {
            return NotSharedReason.SET_COOKIE;
        }
        if (Reuse.forbidsUseWithAuthorization(follower, control, settings)) {
            return NotSharedReason.AUTHORIZATION;
        }
        Variance variance = settings.key().variance(fields);
        EncodingRules encoding = settings.encoding();
        if (!variance.matches(variance.valuesOf(leader.fields(), encoding), follower.fields(), encoding)) {
            return NotSharedReason.VARY;
        }
        long age = CurrentAge.initialMillis(fields, responseTimeMillis, responseTimeMillis) / 1000;
        long lifetime = Freshness.of(leader, response, control, responseTimeMillis, settings)
                .lifetimeSeconds();
        if (lifetime <= age) {
            return NotSharedReason.STALE;
        }
        return isAcceptedBy(follower, age, lifetime, settings) ? null : NotSharedReason.FOLLOWER_CACHE_CONTROL;
    }

    private static boolean isAnyIn(FieldSection fields, List<FieldName> names) {
        for (int i = 0; i < names.size(); i++) {
            if (fields.contains(names.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isAcceptedBy(RequestHead follower, long age, long lifetime, CacheSettings settings) {
        CacheControl requestControl = CacheControl.ofRequest(follower.fields());
        boolean ownAnswer = (requestControl.isNoCache() || requestControl.isNoStore())
                && !settings.requests().ignoreNoCache();
        long maxAge = settings.requests().ignoreMaxAge() ? CacheControl.ABSENT : requestControl.maxAgeSeconds();
        boolean tooOld = maxAge == 0 || (maxAge != CacheControl.ABSENT && age > maxAge);
        boolean tooShort = requestControl.minFreshSeconds() != CacheControl.ABSENT
                && lifetime - age < requestControl.minFreshSeconds();
        return !ownAnswer && !tooOld && !tooShort;
    }
}
