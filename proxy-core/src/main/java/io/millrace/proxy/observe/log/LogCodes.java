package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.LogTemplate.Piece;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The field codes of log templates, with the names and meanings of Traffic Server. Several codes of Traffic
 * Server may have the same meaning here, such as the URL with and without escapes.
 */
final class LogCodes {
    /** Limit in bytes of a number, a time or a fixed word. */
    private static final int SHORT_BYTES = 64;

    /** Codes of values that need no escapes, such as numbers and times. */
    private static final Map<String, Supplier<Piece>> PLAIN = new TreeMap<>();

    /** Codes of texts that may come from the client. They are escaped when written. */
    private static final Map<String, LogField> TEXTS = new TreeMap<>();

    static {
        TEXTS.put("caun", LogField.USER);
        TEXTS.put("cqhm", LogField.METHOD);
        TEXTS.put("shn", LogField.ORIGIN_HOST);
        TEXTS.put("detail", LogField.DETAIL);
        TEXTS.put("cqssv", LogField.TLS_VERSION);
        TEXTS.put("cqssc", LogField.TLS_CIPHER);
        TEXTS.put("cssn", LogField.TLS_SERVER_NAME);
        TEXTS.put("client_subject", LogField.TLS_CLIENT_SUBJECT);
        TEXTS.put("trace_id", LogField.TRACE_ID);
        TEXTS.put("country", LogField.COUNTRY);
        for (String url : List.of("cquuc", "cquc", "cqu", "pquc", "pqu", "cluc")) {
            TEXTS.put(url, LogField.URL);
        }
        plain("chi", (logged, out) -> out.putClient(logged));
        plain("chih", (logged, out) -> out.putHex(logged.bytes(), logged.clientStart(), logged.clientLength()));
        plain("cqtq", LogCodes::epochMillis);
        plain("cqts", (logged, out) -> out.putDecimal(logged.receivedAtMillis() / 1000));
        plain("cqth", (logged, out) -> out.putHex(logged.receivedAtMillis() / 1000));
        PLAIN.put("cqtn", () -> new LogTimes("dd/MMM/yyyy:HH:mm:ss '+0000'"));
        PLAIN.put("cqtd", () -> new LogTimes("yyyy-MM-dd"));
        PLAIN.put("cqtt", () -> new LogTimes("HH:mm:ss"));
        plain("ttms", (logged, out) -> out.putDecimal(TimeUnit.NANOSECONDS.toMillis(logged.durationNanos())));
        plain("ttmsh", (logged, out) -> out.putHex(TimeUnit.NANOSECONDS.toMillis(logged.durationNanos())));
        plain("ttmsf", LogCodes::secondsWithMillis);
        plain("tts", (logged, out) -> out.putDecimal(TimeUnit.NANOSECONDS.toSeconds(logged.durationNanos())));
        plain("crc", (logged, out) -> out.putAscii(SquidLines.code(logged)));
        plain("chm", (logged, out) -> out.putAscii(hitOrMiss(logged)));
        plain("cccs", (logged, out) -> out.putDecimal(logged.isCollapsed() ? 1 : 0));
        plain("pssc", (logged, out) -> out.putDecimal(logged.status(), 3));
        plain("sssc", (logged, out) -> out.putDecimal(logged.originStatus(), 3));
        plain("cqcl", (logged, out) -> out.putDecimal(logged.receivedBytes()));
        plain("psql", (logged, out) -> out.putDecimal(logged.headBytes() + logged.bodyBytes()));
        plain("pscl", (logged, out) -> out.putDecimal(logged.bodyBytes()));
        plain("pshl", (logged, out) -> out.putDecimal(logged.headBytes()));
        plain("cqpv", (logged, out) -> version(logged.majorVersion(), logged.minorVersion(), out));
        plain("sshv", (logged, out) -> version(logged.originMajorVersion(), logged.originMinorVersion(), out));
        plain("cqssl", (logged, out) -> out.putDecimal(logged.isSecure() ? 1 : 0));
        plain("phr", (logged, out) -> out.putAscii(logged.hierarchy().name()));
        plain("psct", SquidLines::appendType);
        plain("cfsc", (logged, out) -> out.putAscii(logged.outcome() == LogOutcome.CLIENT_ABORTED ? "INTR" : "FIN"));
        plain("sample", (logged, out) -> out.putDecimal(logged.sampleRate()));
        plain("pfsc", (logged, out) -> out.putAscii(originEnd(logged.outcome())));
    }

    private LogCodes() {}

    private static void plain(String code, Piece piece) {
        PLAIN.put(code, () -> piece);
    }

    /** Returns all codes except the codes of header fields. */
    static List<String> names() {
        TreeMap<String, Object> all = new TreeMap<>(PLAIN);
        all.putAll(TEXTS);
        for (UrlPart part : UrlPart.values()) {
            part.codes().forEach(code -> all.put(code, part));
        }
        return List.copyOf(all.keySet());
    }

    /** Returns an object that writes the field of a code; null for an unknown code. Use it in one thread only. */
    static @Nullable Piece piece(String code, boolean quoted) {
        LogField field = TEXTS.get(code);
        if (field != null) {
            return text(field, quoted);
        }
        UrlPart part = UrlPart.of(code);
        if (part != null) {
            return (logged, out) -> part.append(logged, out, quoted);
        }
        Supplier<Piece> plain = PLAIN.get(code);
        return plain == null ? null : plain.get();
    }

    /** Returns true if the code shows a property of the client's TLS connection. */
    static boolean isOfTls(String code) {
        LogField field = TEXTS.get(code);
        return field == LogField.TLS_VERSION
                || field == LogField.TLS_CIPHER
                || field == LogField.TLS_SERVER_NAME
                || field == LogField.TLS_CLIENT_SUBJECT;
    }

    /** Returns the largest number of bytes that the piece of a code writes. */
    static int maxBytes(String code) {
        if (UrlPart.of(code) != null) {
            return 4 * LogField.URL.maxBytes() + SHORT_BYTES;
        }
        LogField field = code.equals("psct") ? LogField.CONTENT_TYPE : TEXTS.get(code);
        return field == null ? SHORT_BYTES : 4 * field.maxBytes() + SHORT_BYTES;
    }

    static Piece text(LogField field, boolean quoted) {
        return quoted ? (logged, out) -> out.putQuoted(logged, field) : (logged, out) -> out.putWord(logged, field);
    }

    private static void epochMillis(LoggedRecord logged, LineBuffer out) {
        out.putDecimal(logged.receivedAtMillis() / 1000);
        out.put('.');
        out.putDecimal(logged.receivedAtMillis() % 1000, 3);
    }

    private static void secondsWithMillis(LoggedRecord logged, LineBuffer out) {
        long millis = TimeUnit.NANOSECONDS.toMillis(logged.durationNanos());
        out.putDecimal(millis / 1000);
        out.put('.');
        out.putDecimal(millis % 1000, 3);
    }

    private static void version(int major, int minor, LineBuffer out) {
        if (major == 0) {
            out.put('-');
            return;
        }
        out.putAscii("HTTP/");
        out.putDecimal(major);
        out.put('.');
        out.putDecimal(minor);
    }

    private static String hitOrMiss(LoggedRecord logged) {
        if (logged.cacheResult() == CacheResult.HIT) {
            return logged.isCollapsed() ? "HIT_RWW" : logged.isFromRam() ? "HIT_RAM" : "HIT_DISK";
        }
        return switch (logged.cacheResult()) {
            case STALE, REVALIDATED, STALE_MISS -> "MISS_STALE";
            case REQUEST -> "MISS_CHANGED";
            case URI_MISS, VARY_MISS, PARTIAL -> logged.isCollapsed() ? "HIT_RWW" : "MISS_COLD";
            case HIT, METHOD, BYPASS, NONE -> "MISS_NONE";
        };
    }

    private static String originEnd(LogOutcome outcome) {
        return switch (outcome) {
            case ORIGIN_TIMEOUT -> "TIMEOUT";
            case ORIGIN_READ_FAILED, CONNECT_FAILED, DNS_FAILED -> "INTR";
            default -> "FIN";
        };
    }

    /** The parts of the URL that the client requested. */
    private enum UrlPart {
        /** Path and query. */
        TARGET("cquup cqup pqup"),
        HOST("cquuh"),
        SCHEME("cqus pqus");

        private final String codes;

        UrlPart(String codes) {
            this.codes = codes;
        }

        List<String> codes() {
            return List.of(codes.split(" ", -1));
        }

        static @Nullable UrlPart of(String code) {
            for (UrlPart part : values()) {
                if (part.codes().contains(code)) {
                    return part;
                }
            }
            return null;
        }

        void append(LoggedRecord logged, LineBuffer out, boolean quoted) {
            int length = logged.textLength(LogField.URL);
            int start = logged.textStart(LogField.URL);
            int path = CombinedLines.pathOffset(logged.bytes(), start, Math.max(0, length));
            if (length <= 0 || (this != TARGET && path == 0)) {
                out.put('-');
                return;
            }
            int colon = 0;
            while (colon < length && logged.bytes()[start + colon] != ':') {
                colon++;
            }
            int host = Math.min(colon + "://".length(), path);
            int from = this == TARGET ? path : this == HOST ? host : 0;
            int to = this == TARGET ? length : this == HOST ? path : colon;
            if (quoted) {
                out.putQuoted(logged.bytes(), start + from, to - from);
            } else {
                out.putWord(logged.bytes(), start + from, to - from);
            }
            if (this == TARGET) {
                out.putTruncation(logged, LogField.URL);
            }
        }
    }
}
