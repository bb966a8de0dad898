package io.millrace.proxy.expression.logged;

import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.FieldType;
import io.millrace.proxy.expression.Schema;
import io.millrace.proxy.expression.stored.StoredUrl;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The fields that filters of access logs may name. No state. */
public final class LoggedFields {
    private static final Field<LoggedFacts> TLS = Field.text(
            "tls",
            "the TLS version of the client's connection, such as TLSv1.3; no value without TLS",
            facts -> facts.tls());
    private static final Field<LoggedFacts> SERVER_NAME =
            Field.lowerCase("sni", "the server name in the client's TLS hello", facts -> lowerCase(facts.serverName()));

    private static final Field<LoggedFacts> CLIENT =
            Field.text("client", "the client's address, as the log writes it", LoggedFacts::client);

    /** The fields, in the order of the reference page. */
    public static final Schema<LoggedFacts> SCHEMA = Schema.of(List.of(
            Field.text("url", "the URL that the client requested, before remapping", url(StoredUrl::text)),
            Field.lowerCase("scheme", "`http` or `https`", url(StoredUrl::scheme)),
            Field.lowerCase(
                    "host",
                    "the host of the URL, with its port unless that is the default of the scheme",
                    url(url -> lowerCase(url.host()))),
            Field.text("path", "the path of the URL, without the query", url(StoredUrl::path)),
            Field.text("target", "the path and the query of the URL", url(StoredUrl::target)),
            Field.text("query", "the query of the URL, without `?`; empty where there is none", url(StoredUrl::query)),
            Field.text("method", "the method of the request", LoggedFacts::method),
            Field.number(
                    "status",
                    FieldType.INTEGER,
                    "the status sent to the client; no value if none was sent",
                    facts -> known(facts.status())),
            Field.number(
                    "origin_status",
                    FieldType.INTEGER,
                    "the status of the origin's response",
                    facts -> known(facts.originStatus())),
            Field.lowerCase("cache", "the cache result: `hit`, `uri-miss`, `stale` and so on", LoggedFacts::cache),
            Field.text("result", "the result code of the format `squid`, such as `TCP_MISS`", LoggedFacts::result),
            CLIENT,
            Field.number("bytes", FieldType.SIZE, "bytes sent to the client, head and body", LoggedFacts::bytes),
            Field.number("body_bytes", FieldType.SIZE, "bytes of the body sent to the client", LoggedFacts::bodyBytes),
            Field.number(
                    "duration",
                    FieldType.DURATION,
                    "time from the first byte of the request to the last byte of the response",
                    LoggedFacts::durationNanos),
            Field.number(
                    "first_byte",
                    FieldType.DURATION,
                    "time from the first byte of the request to the first byte of the response; no value if the"
                            + " response came from RAM or from the proxy itself",
                    facts -> facts.firstByteNanos() == 0 ? Field.ABSENT : facts.firstByteNanos()),
            Field.text("protocol", "`HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`", LoggedFacts::protocol),
            Field.text("origin_protocol", "the protocol of the origin's response", LoggedFacts::originProtocol),
            Field.lowerCase(
                    "origin", "the origin's host; no value if no origin was asked", facts -> lowerCase(facts.origin())),
            Field.lowerCase("type", "the media type of the response, without parameters", facts -> mediaType(facts)),
            TLS,
            SERVER_NAME,
            Field.text("referer", "the field Referer of the request", LoggedFacts::referer),
            Field.text("user_agent", "the field User-Agent of the request", LoggedFacts::userAgent),
            Field.lowerCase(
                    "trace_id", "the id of the request's trace; no value while traces are off", LoggedFacts::traceId),
            Field.text("detail", "`detail` of Cache-Status: why the origin failed, and so on", LoggedFacts::detail)));

    private LoggedFields() {}

    /** Returns true if the field comes from TLS. The log records TLS values only if a format or filter uses them. */
    public static boolean isOfTls(Field<LoggedFacts> field) {
        return field == TLS || field == SERVER_NAME;
    }

    /** Returns true if the field identifies the client. */
    public static boolean isOfClient(Field<LoggedFacts> field) {
        return field == CLIENT;
    }

    private static Function<LoggedFacts, @Nullable String> url(Function<StoredUrl, @Nullable String> part) {
        return facts -> {
            StoredUrl url = facts.url();
            return url == null ? null : part.apply(url);
        };
    }

    private static @Nullable String mediaType(LoggedFacts facts) {
        String text = facts.contentType();
        if (text == null) {
            return null;
        }
        int semicolon = text.indexOf(';');
        return lowerCase((semicolon < 0 ? text : text.substring(0, semicolon)).strip());
    }

    private static @Nullable String lowerCase(@Nullable String text) {
        return text == null ? null : text.toLowerCase(Locale.ROOT);
    }

    private static long known(int status) {
        return status == 0 ? Field.ABSENT : status;
    }
}
