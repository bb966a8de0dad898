package io.millrace.proxy.serve;

import io.millrace.proxy.config.access.ErrorPageConfig;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import org.jspecify.annotations.Nullable;

/**
 * Builds the responses that the proxy itself generates, such as refusals, failures and redirects. The content of
 * refusals and failures is one line of text with status and reason.
 *
 * <p>Thread-safe: no state.
 */
public final class LocalAnswers {
    private LocalAnswers() {}

    /** Returns the content of a refusal or failure. The caller releases it. */
    public static ByteBuf content(ByteBufAllocator alloc, int status, String text) {
        ByteBuf content = alloc.buffer(64 + text.length());
        ByteBufUtil.writeAscii(content, Integer.toString(status));
        content.writeByte(' ');
        ByteBufUtil.writeAscii(content, reason(status));
        ByteBufUtil.writeAscii(content, ": ");
        ByteBufUtil.writeUtf8(content, text);
        content.writeByte('\n');
        return content;
    }

    /**
     * Fills the head of a refusal or failure.
     *
     * @param server the Server field; null for none
     * @param allow the methods that the URL supports, required for a 405 (RFC 9110 s15.5.6); null for none
     */
    public static OutboundHead head(
            OutboundHead head,
            int status,
            long contentLength,
            long nowMillis,
            @Nullable String server,
            @Nullable String allow) {
        return head(head, status, contentLength, nowMillis, server, allow, null, null);
    }

    /**
     * Fills the head of a refusal or failure that has more fields, or a configured page as content.
     *
     * @param more other fields, for example Retry-After; null for none
     * @param page the configured page; null for a line of text
     */
    public static OutboundHead head(
            OutboundHead head,
            int status,
            long contentLength,
            long nowMillis,
            @Nullable String server,
            @Nullable String allow,
            @Nullable FieldSection more,
            @Nullable ErrorPageConfig page) {
        FieldSection.Builder fields =
                FieldSection.builder().add(FieldName.DATE, HttpDates.format(Math.floorDiv(nowMillis, 1000L)));
        if (page == null || !page.fields().contains(FieldName.CACHE_CONTROL)) {
            fields.add(FieldName.CACHE_CONTROL, "no-store");
        }
        fields.add(FieldName.CONTENT_TYPE, page == null ? "text/plain; charset=utf-8" : page.contentType());
        if (page != null) {
            fields.addAll(page.fields());
        }
        if (server != null && !fields.contains(FieldName.SERVER)) {
            fields.add(FieldName.SERVER, server);
        }
        FieldSection fieldsSoFar = more == null ? FieldSection.EMPTY : fields.build();
        for (int line = 0; more != null && line < more.size(); line++) {
            // A field may occur on several lines, for example WWW-Authenticate.
            if (!fieldsSoFar.contains(FieldName.of(more.name(line)))) {
                fields.addLine(more, line);
            }
        }
        if ((status == 503 || status == 429) && !fields.contains(FieldName.RETRY_AFTER)) {
            fields.add(FieldName.RETRY_AFTER, "1");
        }
        if (allow != null && !fields.contains(FieldName.ALLOW)) {
            fields.add(FieldName.ALLOW, allow);
        }
        return head.reset(status, reason(status), fields.build()).contentLength(contentLength);
    }

    /** Returns false for a status whose responses have no content (RFC 9110 s15.3.5, s15.4.5). */
    public static boolean hasContent(int status) {
        return status != 204 && status != 304;
    }

    /**
     * Fills the head of a response that the configuration defines.
     *
     * @param contentType media type of the content
     * @param server the Server field; null for none
     */
    public static OutboundHead answer(
            OutboundHead head,
            int status,
            String contentType,
            long contentLength,
            long nowMillis,
            @Nullable String server) {
        FieldSection.Builder fields = FieldSection.builder()
                .add(FieldName.DATE, HttpDates.format(Math.floorDiv(nowMillis, 1000L)))
                .add(FieldName.CACHE_CONTROL, "no-store");
        if (hasContent(status)) {
            fields.add(FieldName.CONTENT_TYPE, contentType);
        }
        if (server != null) {
            fields.add(FieldName.SERVER, server);
        }
        head.reset(status, reason(status), fields.build());
        return hasContent(status) ? head.contentLength(contentLength) : head.withoutContent();
    }

    /**
     * Fills the head of a response that an extension defines. If the extension sets Cache-Control, Content-Type or
     * Server, the proxy does not set this field.
     *
     * @param own fields of the extension
     * @param server the Server field; null for none
     */
    public static OutboundHead extension(
            OutboundHead head,
            int status,
            FieldSection own,
            long contentLength,
            long nowMillis,
            @Nullable String server) {
        FieldSection.Builder fields =
                FieldSection.builder().add(FieldName.DATE, HttpDates.format(Math.floorDiv(nowMillis, 1000L)));
        if (!own.contains(FieldName.CACHE_CONTROL)) {
            fields.add(FieldName.CACHE_CONTROL, "no-store");
        }
        if (contentLength > 0 && !own.contains(FieldName.CONTENT_TYPE)) {
            fields.add(FieldName.CONTENT_TYPE, "text/plain; charset=utf-8");
        }
        if (server != null && !own.contains(FieldName.SERVER)) {
            fields.add(FieldName.SERVER, server);
        }
        head.reset(status, reason(status), fields.addAll(own).build());
        return hasContent(status) ? head.contentLength(contentLength) : head.withoutContent();
    }

    /**
     * Fills the head of a redirect (RFC 9110 s15.4). Sets no Cache-Control, so that clients cache 301 and 308,
     * but not 302 and 307.
     *
     * @param location value of the Location field
     * @param server the Server field; null for none
     */
    public static OutboundHead redirect(
            OutboundHead head,
            int status,
            String location,
            long contentLength,
            long nowMillis,
            @Nullable String server) {
        FieldSection.Builder fields = FieldSection.builder()
                .add(FieldName.DATE, HttpDates.format(Math.floorDiv(nowMillis, 1000L)))
                .add(FieldName.LOCATION, location)
                .add(FieldName.CONTENT_TYPE, "text/plain; charset=utf-8");
        if (server != null) {
            fields.add(FieldName.SERVER, server);
        }
        return head.reset(status, reason(status), fields.build()).contentLength(contentLength);
    }

    /**
     * Fills the head of this proxy's own response to OPTIONS or TRACE. The proxy responds if Max-Forwards is 0
     * (RFC 9110 s7.6.2).
     *
     * @param server the Server field; null for none
     * @param allow the methods that the URL supports; null for TRACE, whose content is the request
     */
    public static OutboundHead ofRecipient(
            OutboundHead head, long contentLength, long nowMillis, @Nullable String server, @Nullable String allow) {
        FieldSection.Builder fields = FieldSection.builder()
                .add(FieldName.DATE, HttpDates.format(Math.floorDiv(nowMillis, 1000L)))
                .add(FieldName.CACHE_CONTROL, "no-store");
        if (server != null) {
            fields.add(FieldName.SERVER, server);
        }
        if (allow == null) {
            fields.add(FieldName.CONTENT_TYPE, "message/http");
        } else {
            fields.add(FieldName.ALLOW, allow);
        }
        return head.reset(200, reason(200), fields.build()).contentLength(contentLength);
    }

    /**
     * Returns the content of a response to TRACE. It is the received request, without fields that may contain secrets
     * (RFC 9110 s9.3.8). A script in a browser, which could send the request, must not see the cookies. The caller
     * releases the content.
     */
    public static ByteBuf trace(ByteBufAllocator alloc, RequestHead request) {
        ByteBuf content = alloc.buffer(512);
        ByteBufUtil.writeAscii(content, request.toString());
        content.writeByte('\r').writeByte('\n');
        FieldSection from = request.fields();
        FieldSection.Builder fields = FieldSection.builder();
        for (int line = 0; line < from.size(); line++) {
            if (!from.isNamed(line, FieldName.COOKIE)
                    && !from.isNamed(line, FieldName.AUTHORIZATION)
                    && !from.isNamed(line, FieldName.PROXY_AUTHORIZATION)) {
                fields.addLine(from, line);
            }
        }
        fields.build().writeTo(content);
        return content.writeByte('\r').writeByte('\n');
    }

    /** Returns the fields of a 412 or 416 response, which has no content. */
    static FieldSection withoutContent(long dateSeconds) {
        return FieldSection.builder()
                .add(FieldName.DATE, HttpDates.format(dateSeconds))
                .build();
    }

    /** Returns the reason phrase of a status that the proxy generates (RFC 9110 s15). */
    public static String reason(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 204 -> "No Content";
            case 301 -> "Moved Permanently";
            case 302 -> "Found";
            case 303 -> "See Other";
            case 304 -> "Not Modified";
            case 307 -> "Temporary Redirect";
            case 308 -> "Permanent Redirect";
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 408 -> "Request Timeout";
            case 410 -> "Gone";
            case 412 -> "Precondition Failed";
            case 413 -> "Content Too Large";
            case 414 -> "URI Too Long";
            case 416 -> "Range Not Satisfiable";
            case 421 -> "Misdirected Request";
            case 429 -> "Too Many Requests";
            case 431 -> "Request Header Fields Too Large";
            case 451 -> "Unavailable For Legal Reasons";
            case 500 -> "Internal Server Error";
            case 501 -> "Not Implemented";
            case 502 -> "Bad Gateway";
            case 503 -> "Service Unavailable";
            case 504 -> "Gateway Timeout";
            case 505 -> "HTTP Version Not Supported";
            case 508 -> "Loop Detected";
            default -> "";
        };
    }
}
