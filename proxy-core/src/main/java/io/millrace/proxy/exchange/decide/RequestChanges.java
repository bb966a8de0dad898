package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The changes that this proxy has made to a request, so that they can be applied again to an equal request.
 *
 * <p>Confined to one event loop.
 */
final class RequestChanges {
    /** The client's URL without its verified signature; null if no signature was verified. */
    private @Nullable TargetUri unsigned;
    /** True if the credentials were valid, and Authorization was removed. */
    private boolean authenticated;
    /** The changes of the request's fields, for example by an authorisation server; null for none. */
    private @Nullable UnaryOperator<RequestHead> change;

    /** Changes the fields of the request. */
    RequestHead change(RequestHead request, UnaryOperator<RequestHead> next) {
        UnaryOperator<RequestHead> before = change;
        change = before == null ? next : head -> next.apply(before.apply(head));
        return next.apply(request);
    }

    /** Removes the credentials, which are for this proxy only. */
    RequestHead removeCredentials(RequestHead request) {
        authenticated = true;
        return withoutAuthorization(request);
    }

    /**
     * Removes the signature from the URL of the request.
     *
     * @param url the URL without the signature
     */
    RequestHead removeSignature(RequestHead request, TargetUri url) {
        unsigned = url;
        return request.with(url, request.fields());
    }

    /** Applies all changes to an equal request. */
    RequestHead applyTo(RequestHead request) {
        RequestHead changed = authenticated ? withoutAuthorization(request) : request;
        if (change != null) {
            changed = change.apply(changed);
        }
        return unsigned == null ? changed : changed.with(unsigned, changed.fields());
    }

    private static RequestHead withoutAuthorization(RequestHead request) {
        FieldSection fields = FieldSection.builderLike(request.fields())
                .addAll(request.fields())
                .remove(FieldName.AUTHORIZATION)
                .build();
        return request.with(request.target(), fields);
    }
}
