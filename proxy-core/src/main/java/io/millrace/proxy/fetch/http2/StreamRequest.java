package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.http.FieldSection;

/**
 * The head of a request to be sent on an HTTP/2 stream. Immutable; borrows its arrays.
 *
 * @param secure whether the scheme is https
 * @param authority the value of Host
 * @param path the request target in origin-form, or {@code *}
 * @param fields the end-to-end fields; Host, Content-Length, TE and connection-specific fields are not sent
 * @param contentLength length of the content in bytes; negative if unknown or if there is no content
 * @param hasContent whether content follows
 * @param acceptsTrailers whether to send {@code TE: trailers}
 */
@SuppressWarnings("ArrayRecordComponent") // instances are never compared
public record StreamRequest(
        String method,
        boolean secure,
        byte[] authority,
        byte[] path,
        FieldSection fields,
        long contentLength,
        boolean hasContent,
        boolean acceptsTrailers) {}
