package io.millrace.proxy.observe.log;

/**
 * The text fields of an access log record, each with a maximum length. Longer texts are truncated and marked. Numbers
 * are in {@link AccessLogRecord}; the codes of templates are in {@code LogCodes}.
 */
public enum LogField {
    /** The request's method. */
    METHOD(32),
    /** The URL that the client requested, absolute: scheme, authority, path and query. */
    URL(4096),
    /** The origin's host, without the port. */
    ORIGIN_HOST(255),
    /** The response's Content-Type. */
    CONTENT_TYPE(128),
    /** The request's Referer. */
    REFERER(2048),
    /** The request's User-Agent. */
    USER_AGENT(512),
    /** The authenticated user. Always absent, because names of users are not logged. */
    USER(128),
    /** The reason for the outcome, as in the {@code detail} parameter of Cache-Status. */
    DETAIL(255),
    /** The TLS version of the client's connection. */
    TLS_VERSION(32),
    /** The cipher suite of the client's connection. */
    TLS_CIPHER(64),
    /** The server name in the client's TLS hello (SNI). */
    TLS_SERVER_NAME(255),
    /** The subject of the client's certificate. */
    TLS_CLIENT_SUBJECT(512),
    /** The trace id of the request, 32 hexadecimal digits; absent while traces are off. */
    TRACE_ID(32),
    /** The ISO 3166-1 code of the client's country; absent without geo.database. */
    COUNTRY(32),
    /** The ids of a trace span, in binary form; only in records for traces, not in access logs. */
    SPAN(128),
    /** The field tracestate of a trusted client; only in records for traces, not in access logs. */
    TRACE_STATE(512),
    /** The cache rules that matched; only in records for traces, not in access logs. */
    CACHE_RULES(255),
    /** This and the next constants: header fields that templates show, as assigned by {@link LogCapture}. */
    FIELD_1(512),
    FIELD_2(512),
    FIELD_3(512),
    FIELD_4(512),
    FIELD_5(512),
    FIELD_6(512),
    FIELD_7(512),
    FIELD_8(512);

    static final int COUNT = values().length;

    private static final LogField[] VALUES = values();

    private final int maxBytes;

    LogField(int maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** The maximum length of this text in bytes. */
    public int maxBytes() {
        return maxBytes;
    }

    /** Index in arrays and records, which exist only within the process. */
    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    int index() {
        return ordinal();
    }

    /** Returns the sum of the maximum lengths of all texts in bytes. */
    static int maxBytesOfAll() {
        int sum = 0;
        for (LogField field : VALUES) {
            sum += field.maxBytes;
        }
        return sum;
    }
}
