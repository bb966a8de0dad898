package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Determines the stored responses that a request invalidates (RFC 9111 s4.4). Thread-safe: no state. */
public final class Invalidation {

    private Invalidation() {}

    /**
     * Returns the URIs whose stored responses become invalid through this response. These are the request's target, and
     * the URIs in Location and Content-Location that have the same origin. Empty for a safe method or an error.
     */
    public static List<TargetUri> of(RequestHead request, ResponseHead response) {
        TargetUri target = request.target();
        if (!isInvalidating(request, response)) {
            return List.of();
        }
        List<TargetUri> invalid = new ArrayList<>(3);
        invalid.add(target);
        addSameOrigin(target, response.fields().get(FieldName.LOCATION), invalid);
        addSameOrigin(target, response.fields().get(FieldName.CONTENT_LOCATION), invalid);
        return invalid;
    }

    /** Returns true if the response is a non-error response to an unsafe method. */
    static boolean isInvalidating(RequestHead request, ResponseHead response) {
        return !request.method().isSafe()
                && request.target().form() != TargetUri.Form.AUTHORITY
                && response.status() >= 200
                && response.status() < 400;
    }

    private static void addSameOrigin(TargetUri target, @Nullable String reference, List<TargetUri> to) {
        TargetUri uri = reference == null ? null : target.resolve(reference);
        if (uri != null && uri.isSameOrigin(target)) {
            to.add(uri);
        }
    }
}
