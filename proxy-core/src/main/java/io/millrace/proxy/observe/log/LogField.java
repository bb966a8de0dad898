package io.millrace.proxy.observe.log;

/** The texts of an access log record, each with the most bytes that are kept of it; the rest is cut and marked. */
public enum LogField {
    /** The request's method. */
    METHOD(32),
    /** The URL that the client asked for, absolute: scheme, authority, path and query. */
    URL(4096),
    /** The origin's host, without the port. */
    ORIGIN_HOST(255),
    /** The response's Content-Type. */
    CONTENT_TYPE(128),
    /** The request's Referer. */
    REFERER(2048),
    /** The request's User-Agent. */
    USER_AGENT(512),
    /** The authenticated user. */
    USER(128),
    /** Why it ended so, as Cache-Status says it in {@code detail}. */
    DETAIL(255),
    /** The TLS version of the client's connection. */
    TLS_VERSION(32),
    /** The cipher suite of the client's connection. */
    TLS_CIPHER(64),
    /** The name in the client's TLS hello (SNI). */
    TLS_SERVER_NAME(255),
    /** The subject of the client's certificate. */
    TLS_CLIENT_SUBJECT(512),
    /** Header fields that a template asks for, in the order in which it names them. */
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

    /** The most bytes of this text that a record keeps. */
    public int maxBytes() {
        return maxBytes;
    }

    /** The place in arrays and in records, which never leave the process. */
    @SuppressWarnings("EnumOrdinal") // nothing outside the process depends on the order of the constants
    int index() {
        return ordinal();
    }

    /** The most bytes that all texts of one record take. */
    static int maxBytesOfAll() {
        int sum = 0;
        for (LogField field : VALUES) {
            sum += field.maxBytes;
        }
        return sum;
    }
}
