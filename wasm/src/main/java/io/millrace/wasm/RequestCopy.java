package io.millrace.wasm;

import io.millrace.proxy.spi.Fields;
import io.millrace.proxy.spi.RequestView;
import io.millrace.wasm.abi.HeaderMap;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A copy of a request, for callbacks on other threads. Immutable, except for the map of fields, which belongs to the
 * callback.
 *
 * @param target path and query
 * @param client the address of the client as text
 * @param fields the fields, with pseudo fields such as {@code :path}
 * @param isEnd true if the request has no content
 */
record RequestCopy(
        String method,
        String scheme,
        String authority,
        String target,
        @Nullable String query,
        String protocol,
        String client,
        String rule,
        HeaderMap fields,
        boolean isEnd) {
    /**
     * Copies a request.
     *
     * @param target path and query in the pseudo field
     * @param fields the fields of the client or for the origin
     */
    static RequestCopy of(RequestView request, String target, Fields fields) {
        boolean isDefaultPort = request.port() == (request.scheme().equals("https") ? 443 : 80);
        String authority = isDefaultPort ? request.host() : request.host() + ":" + request.port();
        HeaderMap map = new HeaderMap()
                .with(":method", request.method())
                .with(":path", target)
                .with(":authority", authority)
                .with(":scheme", request.scheme())
                .with(fields);
        return new RequestCopy(
                request.method(),
                request.scheme(),
                authority,
                target,
                request.query(),
                request.protocol().toUpperCase(Locale.ROOT),
                request.clientAddress().getHostAddress(),
                request.rule(),
                map,
                request.contentLength() == 0);
    }

    /** Copies a client's request. */
    static RequestCopy of(RequestView request) {
        String query = request.query();
        return of(request, query == null ? request.path() : request.path() + "?" + query, request.fields());
    }

    /** The path without the query. */
    String path() {
        int question = target.indexOf('?');
        return question < 0 ? target : target.substring(0, question);
    }
}
