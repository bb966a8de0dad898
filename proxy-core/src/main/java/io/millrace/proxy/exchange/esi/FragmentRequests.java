package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldNames;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.forward.HopByHop;

/** Builds request heads: for fragments of a page, and for the page's document without conditions. No state. */
final class FragmentRequests {
    /** Request fields that refer to the client's copy of the page. */
    private static final FieldNames CONDITIONS = FieldNames.of(
            FieldName.RANGE,
            FieldName.IF_RANGE,
            FieldName.IF_MATCH,
            FieldName.IF_NONE_MATCH,
            FieldName.IF_MODIFIED_SINCE,
            FieldName.IF_UNMODIFIED_SINCE);

    /** Fields that refer to the connection, the content and the coding of the request for the page. */
    private static final FieldNames PAGE_ONLY_FIELDS = FieldNames.of(
            FieldName.HOST,
            FieldName.ACCEPT_ENCODING,
            FieldName.EXPECT,
            FieldName.MAX_FORWARDS,
            FieldName.CONTENT_LENGTH,
            FieldName.CONTENT_TYPE,
            FieldName.CONTENT_ENCODING,
            FieldName.CONTENT_LANGUAGE,
            FieldName.CONTENT_RANGE);

    /**
     * The fields that are also sent to hosts other than the page's host. They contain neither credentials nor personal
     * data. Application-specific fields are left out, because they may contain tokens. Via prevents loops; the address
     * of the client is added as in all requests.
     */
    private static final FieldNames CROSS_ORIGIN_FIELDS = FieldNames.of(
            FieldName.ACCEPT,
            FieldName.ACCEPT_LANGUAGE,
            FieldName.CACHE_CONTROL,
            FieldName.PRAGMA,
            FieldName.TRACEPARENT,
            FieldName.TRACESTATE,
            FieldName.USER_AGENT,
            FieldName.VIA);

    private FragmentRequests() {}

    /**
     * Returns the head of a request for a fragment: a GET with the end-to-end fields of the client. If the fragment's
     * host, port or scheme differs from that of the page, the request contains only {@link #CROSS_ORIGIN_FIELDS}.
     *
     * @param request the client's request for the page
     */
    static RequestHead of(RequestHead request, TargetUri target) {
        FieldSection from = request.fields();
        HopByHop hopByHop = HopByHop.of(from);
        boolean isSameOrigin = request.target().isSameOrigin(target);
        FieldSection.Builder fields = FieldSection.builder().add(FieldName.HOST, target.authority());
        for (int line = 0; line < from.size(); line++) {
            if (!hopByHop.contains(from, line)
                    && !PAGE_ONLY_FIELDS.contains(from, line)
                    && !CONDITIONS.contains(from, line)
                    && (isSameOrigin || CROSS_ORIGIN_FIELDS.contains(from, line))) {
                fields.addLine(from, line);
            }
        }
        return RequestHead.of(Method.GET, target, 1, fields.build());
    }

    /** Returns the request without its conditions and ranges. */
    static RequestHead unconditional(RequestHead request) {
        FieldSection from = request.fields();
        if (!CONDITIONS.isAnyIn(from)) {
            return request;
        }
        FieldSection.Builder fields = FieldSection.builder();
        for (int line = 0; line < from.size(); line++) {
            if (!CONDITIONS.contains(from, line)) {
                fields.addLine(from, line);
            }
        }
        return request.with(request.target(), fields.build());
    }
}
