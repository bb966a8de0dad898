package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.log.block.Column;
import io.millrace.proxy.observe.log.block.ColumnType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a binary access log, with the codes of templates that need them. Header fields have columns in
 * addition, whose names are their codes, such as {@code {Accept}cqh}.
 */
public enum LogColumn {
    /** Arrival of the first byte of the request, in epoch milliseconds. */
    TIME("time", ColumnType.TIME, false, null, "cqtq cqts cqth cqtn cqtd cqtt"),
    /** Microseconds until the last byte of the response. */
    DURATION("duration_us", ColumnType.NUMBER, false, null, "ttms ttmsh ttmsf tts"),
    /** Microseconds until the first byte of the response; 0 if not measured. */
    FIRST_BYTE("first_byte_us", ColumnType.NUMBER, false, null, ""),
    /** The client's address; 0.0.0.0 for the peer of a Unix socket. */
    CLIENT("client", ColumnType.ADDRESS, false, null, "chi chih"),
    /** Bytes of the response's head that were sent to the client. */
    HEAD_BYTES("head_bytes", ColumnType.NUMBER, false, null, "psql pshl"),
    /** Bytes of the response's body that were sent to the client. */
    BODY_BYTES("body_bytes", ColumnType.NUMBER, false, null, "psql pscl"),
    /** Bytes that came from the client in a tunnel. */
    RECEIVED_BYTES("received_bytes", ColumnType.NUMBER, true, null, "cqcl"),
    STATUS("status", ColumnType.NUMBER, true, null, "pssc"),
    ORIGIN_STATUS("origin_status", ColumnType.NUMBER, true, null, "sssc"),
    /** The word of {@link io.millrace.proxy.observe.CacheResult}. */
    CACHE("cache", ColumnType.TEXT, true, null, "crc chm"),
    /** The name of {@link LogOutcome}. */
    OUTCOME("outcome", ColumnType.TEXT, true, null, "crc cfsc pfsc"),
    /** The sum of 1: from RAM, 2: collapsed, 4: answered with 304 by the proxy, 8: the client's connection has TLS. */
    FLAGS("flags", ColumnType.NUMBER, true, null, "crc chm cccs cqssl"),
    /** The name of {@link LogHierarchy}. */
    HIERARCHY("hierarchy", ColumnType.TEXT, true, null, "phr"),
    /** HTTP version of the request: major version times two plus minor version; 0 if unknown. */
    VERSION("version", ColumnType.NUMBER, true, null, "cqpv"),
    /** HTTP version of the origin's response, encoded like {@link #VERSION}. */
    ORIGIN_VERSION("origin_version", ColumnType.NUMBER, true, null, "sshv"),
    METHOD("method", ColumnType.TEXT, true, LogField.METHOD, "cqhm"),
    /** Scheme and authority of the URL, {@code http://www.example.com}. */
    SITE("site", ColumnType.TEXT, true, null, Codes.URL),
    /** Path and query of the URL; the whole URL if it has no path. */
    TARGET("target", ColumnType.TEXT, false, null, Codes.URL),
    USER("user", ColumnType.TEXT, true, LogField.USER, "caun"),
    ORIGIN("origin", ColumnType.TEXT, true, LogField.ORIGIN_HOST, "shn"),
    TYPE("type", ColumnType.TEXT, true, LogField.CONTENT_TYPE, "psct"),
    DETAIL("detail", ColumnType.TEXT, true, LogField.DETAIL, "detail"),
    TLS("tls", ColumnType.TEXT, true, LogField.TLS_VERSION, "cqssv"),
    CIPHER("cipher", ColumnType.TEXT, true, LogField.TLS_CIPHER, "cqssc"),
    SNI("sni", ColumnType.TEXT, true, LogField.TLS_SERVER_NAME, "cssn"),
    CLIENT_SUBJECT("client_subject", ColumnType.TEXT, true, LogField.TLS_CLIENT_SUBJECT, "client_subject"),
    /** The number of requests that a row of a sampled log represents. */
    SAMPLE("sample", ColumnType.NUMBER, true, null, "sample"),
    REFERER("referer", ColumnType.TEXT, false, LogField.REFERER, "{Referer}cqh"),
    USER_AGENT("user_agent", ColumnType.TEXT, false, LogField.USER_AGENT, "{User-Agent}cqh"),
    TRACE_ID("trace_id", ColumnType.TEXT, false, LogField.TRACE_ID, "trace_id"),
    COUNTRY("country", ColumnType.TEXT, true, LogField.COUNTRY, "country");

    private static final class Codes {
        static final String URL = "cquc cquuc cqu pqu pquc cluc cqup cquup pqup cquuh cqus pqus";
    }

    // The bits of FLAGS.
    public static final int RAM = 1;
    public static final int COLLAPSED = 1 << 1;
    public static final int NOT_MODIFIED = 1 << 2;
    public static final int SECURE = 1 << 3;

    private final String columnName;
    private final ColumnType type;
    private final boolean isGrouped;
    private final @Nullable LogField text;
    private final String codes;

    /**
     * @param isGrouped see {@link Column}
     * @param text the text of the record with the value; null if the value is a number or calculated
     * @param codes the codes of templates whose value depends on this column
     */
    LogColumn(String name, ColumnType type, boolean isGrouped, @Nullable LogField text, String codes) {
        columnName = name;
        this.type = type;
        this.isGrouped = isGrouped;
        this.text = text;
        this.codes = codes;
    }

    /** Returns the column for the schema of log files. */
    Column column() {
        return new Column(columnName, type, isGrouped);
    }

    /** The name of the column in log files. */
    public String columnName() {
        return columnName;
    }

    /** The type of the values. */
    public ColumnType type() {
        return type;
    }

    /** The text field of the record with the value; null if the value is a number or calculated. */
    public @Nullable LogField text() {
        return text;
    }

    /** Returns the columns that a code of templates needs; empty for header fields without a column here. */
    static List<LogColumn> of(String code) {
        List<LogColumn> needed = new ArrayList<>();
        for (LogColumn each : values()) {
            if (List.of(each.codes.split(" ", -1)).stream().anyMatch(code::equalsIgnoreCase)) {
                needed.add(each);
            }
        }
        return needed;
    }

    /** Returns the column with a name; null if there is none. */
    public static @Nullable LogColumn named(String name) {
        for (LogColumn each : values()) {
            if (each.columnName.equals(name)) {
                return each;
            }
        }
        return null;
    }
}
