package io.millrace.proxy.explain;

import io.millrace.proxy.admin.cache.ExplainSource.Explanation;
import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.Limits;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The refusal of a dry-run request that exceeds a size limit. This limit is checked before all other decisions.
 * Immutable.
 *
 * @param problem the kind of the refusal
 * @param text the part that is too long, and the limit
 * @param key the configuration key of the limit
 */
public record OversizedRequest(BadRequest problem, String text, String key) {
    private static final String VERSION_AND_END = " HTTP/1.1\r\n";
    private static final int EMPTY_LINE_BYTES = 2;
    private static final int FIELD_OVERHEAD = 32;
    private static final int PSEUDO_FIELDS_BYTES = ":method:scheme:path".length() + 3 * FIELD_OVERHEAD;

    /**
     * Returns the refusal of a request; null if the request is within the limits. Only the fields given for the dry run
     * are counted; a real client may send more.
     */
    public static @Nullable OversizedRequest of(
            ProxyConfig config, Question question, RequestHead request, long contentLength) {
        Limits limits = config.limits();
        if (question.http2()) {
            long list = listBytes(question, request);
            int limit = config.http2().headerListBytes();
            return list > limit
                    ? new OversizedRequest(
                            BadRequest.HEADER_TOO_LARGE, tooLong("header list", list, limit), "http2.header_list")
                    : longContent(limits, contentLength);
        }
        long line = (long) question.method().length() + 1 + targetBytes(question, request) + VERSION_AND_END.length();
        if (line > limits.requestLineBytes()) {
            return new OversizedRequest(
                    BadRequest.LINE_TOO_LONG,
                    tooLong("request line", line, limits.requestLineBytes()),
                    "limits.request_line");
        }
        long fields = (long) request.fields().wireLength() + EMPTY_LINE_BYTES;
        if (fields > limits.requestHeaderBytes()) {
            return new OversizedRequest(
                    BadRequest.HEADER_TOO_LARGE,
                    tooLong("field section", fields, limits.requestHeaderBytes()),
                    "limits.request_header");
        }
        return longContent(limits, contentLength);
    }

    private static @Nullable OversizedRequest longContent(Limits limits, long contentLength) {
        if (limits.requestBodyBytes() > 0 && contentLength > limits.requestBodyBytes()) {
            return new OversizedRequest(
                    BadRequest.CONTENT_TOO_LARGE,
                    tooLong("content", contentLength, limits.requestBodyBytes()),
                    "limits.request_body");
        }
        return null;
    }

    /**
     * Returns the size of fields and pseudo-fields, with an overhead of 32 bytes each (RFC 9113 s6.5.2). Host is
     * counted as :authority.
     */
    private static long listBytes(Question question, RequestHead request) {
        FieldSection fields = request.fields();
        long bytes = (long) PSEUDO_FIELDS_BYTES
                + question.method().length()
                + request.target().scheme().length()
                + targetBytes(question, request)
                + ":authority".length()
                - "host".length();
        for (int line = 0; line < fields.size(); line++) {
            bytes += fields.nameEnd(line) - fields.nameStart(line);
            bytes += fields.valueEnd(line) - fields.valueStart(line) + FIELD_OVERHEAD;
        }
        return bytes;
    }

    private static String tooLong(String part, long bytes, long limit) {
        return "the " + part + " has " + bytes + " bytes, the limit is " + limit;
    }

    /** Returns the length of the request target as the client sends it, before normalization. */
    private static int targetBytes(Question question, RequestHead request) {
        if (request.method() == Method.CONNECT) {
            return (request.target().host() + ":" + request.target().port()).length();
        }
        String url = question.url();
        if (question.toProxy()) {
            return url.getBytes(StandardCharsets.UTF_8).length;
        }
        int authority = url.indexOf("://") + 3;
        int path = url.indexOf('/', authority);
        int query = url.indexOf('?', authority);
        if (path < 0 || (query >= 0 && query < path)) {
            return 1 + (query < 0 ? 0 : url.substring(query).getBytes(StandardCharsets.UTF_8).length);
        }
        return url.substring(path).getBytes(StandardCharsets.UTF_8).length;
    }

    public Explanation explanation(RequestHead request, ClientConnection client) {
        List<Step> steps = List.of(
                new Step("limits", text, key), new Step("answer", problem.status() + ", " + problem.text(), null));
        return new Explanation(
                request.target().asString(),
                request.methodName(),
                client.remoteText(),
                client.localAddress().getPort(),
                "deny",
                problem.status(),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                false,
                steps);
    }
}
