package io.millrace.proxy.fetch.response;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Parses a complete response head strictly by RFC 9112 s2.2, s4 and s5:
 *
 * <pre>
 * HTTP/1.1 200 OK CRLF          (or HTTP/1.0; the reason phrase and the space before it may be missing)
 * name: value CRLF              (any number)
 * CRLF
 * </pre>
 *
 * <p>Thread-safe: no state.
 */
final class ResponseGrammar {

    private static final int STATUS_AT = 9;
    private static final int REASON_AT = 12;

    private ResponseGrammar() {}

    /** Returns the head, or null when the bytes are not exactly one head. The head borrows the array. */
    static @Nullable ResponseHead parse(byte[] bytes) {
        int lineEnd = lineEnd(bytes, 0);
        if (lineEnd < 0 || !isStatusLine(bytes, lineEnd)) {
            return null;
        }
        int end = bytes.length - 2;
        if (end < lineEnd + 2 || bytes[end] != '\r' || bytes[end + 1] != '\n') {
            return null;
        }
        FieldSection fields = FieldSection.parse(bytes, lineEnd + 2, end);
        if (fields == null || !hasOnlyTextInValues(fields)) {
            return null;
        }
        String reason = lineEnd > REASON_AT + 1
                ? new String(bytes, REASON_AT + 1, lineEnd - REASON_AT - 1, StandardCharsets.ISO_8859_1)
                : "";
        return ResponseHead.of(status(bytes), reason, bytes[7] - '0', fields);
    }

    /** Returns the error in bytes that {@link #parse} refused, for the operator. */
    static String problem(byte[] bytes) {
        int lineEnd = lineEnd(bytes, 0);
        if (lineEnd < 0 || !isStatusLine(bytes, lineEnd)) {
            return "status line";
        }
        int from = lineEnd + 2;
        while (from < bytes.length) {
            int to = from;
            while (to < bytes.length && bytes[to] != '\n') {
                to++;
            }
            String problem = lineProblem(bytes, from, to);
            if (problem != null) {
                return problem;
            }
            from = to + 1;
        }
        return "field section";
    }

    private static @Nullable String lineProblem(byte[] bytes, int from, int lf) {
        if (lf == from || bytes[lf - 1] != '\r') {
            return "a line ends with a bare LF or without LF";
        }
        int end = lf - 1;
        if (end == from) {
            return null;
        }
        if (FieldLexer.isSpace(bytes[from])) {
            return "folded field line";
        }
        int nameEnd = FieldLexer.skipToken(bytes, from, end);
        if (nameEnd < end && FieldLexer.isSpace(bytes[nameEnd])) {
            return "white space before the colon of a field line";
        }
        if (nameEnd == from || nameEnd == end || bytes[nameEnd] != ':') {
            return "field name";
        }
        for (int i = nameEnd + 1; i < end; i++) {
            if (!isTextByte(bytes[i])) {
                return "control byte 0x" + Integer.toHexString(bytes[i]) + " in the value of "
                        + new String(bytes, from, nameEnd - from, StandardCharsets.US_ASCII);
            }
        }
        return null;
    }

    private static boolean isStatusLine(byte[] bytes, int end) {
        if (end < REASON_AT
                || !FieldLexer.equals(bytes, 0, 7, "HTTP/1.")
                || (bytes[7] != '0' && bytes[7] != '1')
                || bytes[8] != ' ') {
            return false;
        }
        for (int i = STATUS_AT; i < REASON_AT; i++) {
            if (bytes[i] < '0' || bytes[i] > '9') {
                return false;
            }
        }
        if (bytes[STATUS_AT] < '1' || bytes[STATUS_AT] > '5' || (end > REASON_AT && bytes[REASON_AT] != ' ')) {
            return false;
        }
        for (int i = REASON_AT; i < end; i++) {
            if (!isTextByte(bytes[i])) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns true if no value has a control byte except tab (RFC 9110 s5.5). {@link FieldSection#parse} accepts some
     * of them.
     */
    private static boolean hasOnlyTextInValues(FieldSection fields) {
        byte[] bytes = fields.bytes();
        for (int line = 0; line < fields.size(); line++) {
            for (int i = fields.valueStart(line), end = fields.valueEnd(line); i < end; i++) {
                if (!isTextByte(bytes[i])) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean isTextByte(byte b) {
        return b >= ' ' ? b != 0x7f : b < 0 || b == '\t';
    }

    /**
     * Returns the position of the first CR LF from {@code from} on; -1 if there is none. Also -1 if an LF without CR
     * comes first.
     */
    private static int lineEnd(byte[] bytes, int from) {
        for (int i = from; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                return i > from && bytes[i - 1] == '\r' ? i - 1 : -1;
            }
        }
        return -1;
    }

    private static int status(byte[] bytes) {
        return (bytes[STATUS_AT] - '0') * 100 + (bytes[STATUS_AT + 1] - '0') * 10 + (bytes[STATUS_AT + 2] - '0');
    }
}
