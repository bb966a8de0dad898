package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.FollowerReuse;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.serve.Selection;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the response of a shared fetch may answer a follower. A follower is an exchange that joined the
 * fetch.
 *
 * <p>Stateless.
 */
public final class FollowerMatch {
    private FollowerMatch() {}

    /** Returns true if a response that is already being received may answer the request without validation. */
    public static boolean isFresh(
            FetchPlan plan, RequestHead request, @Nullable FetchedResponse response, long nowMillis) {
        StoredHead head = response == null ? null : response.selectable();
        return head != null && Reuse.of(request, head, nowMillis, plan.cacheSettings()) instanceof Reuse.Fresh;
    }

    /**
     * Returns true if a response that was validated for another client may answer the request. Returns false if the
     * response contains a cookie for that client, or if every use needs a separate validation (RFC 9111 s4).
     */
    public static boolean fitsValidated(
            FetchPlan plan, RequestHead request, StoredHead shared, ResponseHead notModified, long nowMillis) {
        boolean cookie = notModified.fields().contains(FieldName.SET_COOKIE)
                && shared.fields().contains(FieldName.SET_COOKIE);
        Reuse reuse = Reuse.of(request, shared, nowMillis, plan.cacheSettings());
        return !cookie && !(reuse instanceof Reuse.Validate) && !(reuse instanceof Reuse.NotUsable);
    }

    /**
     * Returns true if the response may answer the request.
     *
     * @param plan the plan of the fetch
     * @param inBlocks whether the response is written to blocks (parts of fixed size) of a stored object; followers
     *     read these blocks and fetch other blocks themselves
     */
    public static boolean fits(FetchPlan plan, RequestHead request, FetchedResponse response, boolean inBlocks) {
        boolean shared = FollowerReuse.of(
                        request,
                        plan.request(),
                        response.representation(),
                        response.responseMillis(),
                        plan.cacheSettings())
                instanceof FollowerReuse.Shared;
        ContentRange range = response.part();
        if (!shared || range == null || inBlocks) {
            return shared;
        }
        return response.selectable() != null && Selection.ofPart(request, response.selectable(), range) != null;
    }
}
