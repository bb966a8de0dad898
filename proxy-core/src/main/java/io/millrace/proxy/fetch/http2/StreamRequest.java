package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.http.FieldSection;

/**
 * The head of a request as a stream sends it. Immutable; borrows its arrays.
 *
 * @param secure whether the scheme is https
 * @param authority the value of Host
 * @param path the request target in origin-form, or {@code *}
 * @param fields the end-to-end fields; Host, Content-Length, TE and those of connections are not sent from them
 * @param contentLength bytes of content, negative where unknown or where there is none
 * @param hasContent whether content follows
 * @param acceptsTrailers whether the request says {@code TE: trailers}
 */
public record StreamRequest(
        String method,
        boolean secure,
        byte[] authority,
        byte[] path,
        FieldSection fields,
        long contentLength,
        boolean hasContent,
        boolean acceptsTrailers) {}
