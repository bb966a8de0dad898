package io.millrace.proxy.observe.trace;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogOutcome;
import io.millrace.proxy.observe.log.LoggedRecord;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts the records of event loops to spans. The attributes have the names of OpenTelemetry's stable conventions for
 * HTTP. There are no conventions for caches, so the names of such attributes begin with {@code millrace.}. No attribute
 * contains the client's address.
 *
 * <p>Confined to one thread.
 */
final class SpanReader {
    /**
     * The methods that the conventions list as known (RFC 9110 and PATCH). All other methods are named {@code _OTHER}.
     */
    private static final Set<String> KNOWN_METHODS =
            Set.of("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE");

    private static final int CLIENT_ERROR_MIN = 400;
    private static final int SERVER_ERROR_MIN = 500;

    private final boolean showsQuery;

    SpanReader(boolean showsQuery) {
        this.showsQuery = showsQuery;
    }

    /**
     * Returns the span of a record.
     *
     * @param epochNanosOfZero the time at which {@link System#nanoTime} was 0, in nanoseconds since 1970
     */
    Span read(LoggedRecord logged, long epochNanosOfZero) {
        long flags = SpanIds.read(logged, SpanIds.FLAGS);
        boolean isClient = (flags & SpanIds.CLIENT) != 0;
        Map<String, Object> attributes = new LinkedHashMap<>();
        String method = method(logged, attributes);
        boolean isError = isClient ? client(logged, attributes) : server(logged, attributes);
        long startNanos = epochNanosOfZero + SpanIds.read(logged, SpanIds.START);
        long parent = SpanIds.read(logged, SpanIds.PARENT_ID);
        return new Span(
                isClient ? Span.Kind.CLIENT : Span.Kind.SERVER,
                traceId(logged, SpanIds.TRACE_HIGH),
                TraceParent.hex(SpanIds.read(logged, SpanIds.SPAN_ID)),
                parent == 0 ? null : TraceParent.hex(parent),
                (flags & SpanIds.SAMPLED) != 0,
                logged.text(LogField.TRACE_STATE),
                method,
                startNanos,
                startNanos + logged.durationNanos(),
                isError,
                link(logged),
                Collections.unmodifiableMap(attributes));
    }

    private static String traceId(LoggedRecord logged, int at) {
        return TraceParent.hex(SpanIds.read(logged, at)) + TraceParent.hex(SpanIds.read(logged, at + 1));
    }

    private static Span.@Nullable Link link(LoggedRecord logged) {
        long spanId = SpanIds.read(logged, SpanIds.LINK_SPAN_ID);
        return spanId == 0 ? null : new Span.Link(traceId(logged, SpanIds.LINK_TRACE_HIGH), TraceParent.hex(spanId));
    }

    /** Adds the method, and returns the name of the span. */
    private static String method(LoggedRecord logged, Map<String, Object> attributes) {
        String method = logged.text(LogField.METHOD);
        if (method == null || !KNOWN_METHODS.contains(method)) {
            attributes.put("http.request.method", "_OTHER");
            put(attributes, "http.request.method_original", method);
            return "HTTP";
        }
        attributes.put("http.request.method", method);
        return method;
    }

    private boolean server(LoggedRecord logged, Map<String, Object> attributes) {
        String url = logged.text(LogField.URL);
        if (url != null) {
            UrlParts parts = UrlParts.of(url);
            attributes.put("url.scheme", parts.scheme());
            attributes.put("url.path", parts.path());
            put(attributes, "url.query", showsQuery ? parts.query() : null);
            address(parts, attributes);
        }
        protocol(logged.majorVersion(), logged.minorVersion(), attributes);
        put(attributes, "user_agent.original", logged.text(LogField.USER_AGENT));
        int status = logged.status();
        if (status > 0) {
            attributes.put("http.response.status_code", (long) status);
        }
        cache(logged, attributes);
        LogOutcome outcome = logged.outcome();
        boolean isError = status >= SERVER_ERROR_MIN || outcome.isFailure();
        String detail = logged.text(LogField.DETAIL);
        put(attributes, "millrace.detail", detail);
        if (isError) {
            attributes.put("error.type", status >= SERVER_ERROR_MIN ? Integer.toString(status) : outcome.squidCode());
        }
        return isError;
    }

    private static void cache(LoggedRecord logged, Map<String, Object> attributes) {
        CacheResult result = logged.cacheResult();
        if (result != CacheResult.NONE) {
            attributes.put("millrace.cache.result", result.word());
        }
        if (result == CacheResult.HIT || result == CacheResult.STALE || result == CacheResult.REVALIDATED) {
            attributes.put("millrace.cache.tier", logged.isFromRam() ? "ram" : "disk");
        }
        if (logged.isCollapsed()) {
            attributes.put("millrace.cache.collapsed", true);
        }
        put(attributes, "millrace.cache.rules", logged.text(LogField.CACHE_RULES));
        long rule = SpanIds.read(logged, SpanIds.NUMBER);
        if (rule >= 0) {
            attributes.put("millrace.rule", "remap[" + rule + "]");
        }
    }

    private boolean client(LoggedRecord logged, Map<String, Object> attributes) {
        String url = logged.text(LogField.URL);
        if (url != null) {
            UrlParts parts = UrlParts.of(url);
            String query = showsQuery && parts.query() != null ? "?" + parts.query() : "";
            attributes.put("url.full", parts.scheme() + "://" + parts.authority() + parts.path() + query);
            address(parts, attributes);
        }
        protocol(logged.originMajorVersion(), logged.originMinorVersion(), attributes);
        int status = logged.originStatus();
        if (status > 0) {
            attributes.put("http.response.status_code", (long) status);
        }
        long repetitions = SpanIds.read(logged, SpanIds.NUMBER);
        if (repetitions > 0) {
            attributes.put("http.request.resend_count", repetitions);
        }
        String failure = logged.text(LogField.DETAIL);
        if (failure != null || status >= CLIENT_ERROR_MIN) {
            attributes.put("error.type", failure == null ? Integer.toString(status) : failure);
            return true;
        }
        return false;
    }

    private static void address(UrlParts parts, Map<String, Object> attributes) {
        attributes.put("server.address", parts.host());
        attributes.put("server.port", (long) parts.port());
    }

    private static void protocol(int major, int minor, Map<String, Object> attributes) {
        if (major > 0) {
            attributes.put("network.protocol.version", major == 1 ? "1." + minor : Integer.toString(major));
        }
    }

    private static void put(Map<String, Object> attributes, String name, @Nullable String value) {
        if (value != null) {
            attributes.put(name, value);
        }
    }

    /** The parts of an absolute URL; the query is null without a question mark. */
    private record UrlParts(
            String scheme,
            String authority,
            String path,
            @Nullable String query) {
        private static final int HTTP_PORT = 80;
        private static final int HTTPS_PORT = 443;

        static UrlParts of(String url) {
            int colon = url.indexOf("://");
            String scheme = colon < 0 ? "http" : url.substring(0, colon);
            int authority = colon < 0 ? 0 : colon + "://".length();
            int end = authority;
            while (end < url.length() && url.charAt(end) != '/' && url.charAt(end) != '?') {
                end++;
            }
            int mark = url.indexOf('?', end);
            return new UrlParts(
                    scheme,
                    url.substring(authority, end),
                    mark < 0 ? url.substring(end) : url.substring(end, mark),
                    mark < 0 ? null : url.substring(mark + 1));
        }

        private int colonOfPort() {
            int colon = authority.lastIndexOf(':');
            return colon > authority.lastIndexOf(']') ? colon : -1;
        }

        String host() {
            int colon = colonOfPort();
            return colon < 0 ? authority : authority.substring(0, colon);
        }

        int port() {
            int colon = colonOfPort();
            int port = 0;
            for (int i = colon + 1; colon >= 0 && i < authority.length(); i++) {
                port = port * 10 + authority.charAt(i) - '0';
            }
            return port > 0 ? port : scheme.equals("https") ? HTTPS_PORT : HTTP_PORT;
        }
    }
}
