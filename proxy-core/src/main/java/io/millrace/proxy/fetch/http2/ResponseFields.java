package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http2.hpack.HpackDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Converts an HTTP/2 field block to a response head or trailers (RFC 9113 s8.1 to s8.3).
 *
 * <p>Fields are stored as HTTP/1.1 field lines. Like the HTTP/1.1 parser, this class refuses values with control bytes
 * and a status outside 100 to 599. One instance per event loop, reused for each block.
 *
 * <p>Confined to one event loop.
 */
final class ResponseFields implements HpackDecoder.Receiver {
    /** Bytes counted for each field in addition to its name and value (RFC 9113 s6.5.2). */
    private static final int FIELD_OVERHEAD = 32;

    private static final FieldName[] CONNECTION_SPECIFIC = {
        FieldName.CONNECTION,
        FieldName.PROXY_CONNECTION,
        FieldName.KEEP_ALIVE,
        FieldName.TRANSFER_ENCODING,
        FieldName.UPGRADE
    };

    /** Bytes allowed in a field name: lower-case letters, digits and the other token bytes. */
    private static final boolean[] NAME = new boolean[256];

    static {
        for (int c = 0; c < 128; c++) {
            NAME[c] = FieldLexer.isTokenByte((byte) c) && !(c >= 'A' && c <= 'Z');
        }
    }

    private final FieldSection fields = FieldSection.reusable(32);
    /** The fields of the block as HTTP/1.1 field lines. Grows if needed. */
    private byte[] lines = new byte[2048];
    /** Number of bytes used in {@link #lines}. */
    private int length;
    /** The buffer for text that the HPACK decoder decodes. */
    private byte[] text = new byte[2048];

    private int status;
    /** Size of the fields received so far, counted as in RFC 9113 s6.5.2. */
    private int listBytes;

    private int listBytesMax;
    private boolean trailers;
    private @Nullable String problem;

    /**
     * Begins the next field block.
     *
     * @param bytesMax limit of the field section, with 32 bytes added for each field (RFC 9113 s6.5.2)
     * @param ofTrailers whether the block is a trailer section
     */
    void begin(int bytesMax, boolean ofTrailers) {
        fields.reset(lines);
        length = 0;
        status = 0;
        listBytes = 0;
        listBytesMax = bytesMax;
        trailers = ofTrailers;
        problem = null;
    }

    @Override
    public byte[] text(int size) {
        if (text.length < size) {
            text = new byte[Math.max(size, 2 * text.length)];
        }
        return text;
    }

    @Override
    public void add(byte[] name, int nameStart, int nameLength, byte[] value, int valueStart, int valueLength) {
        if (problem != null) {
            return;
        }
        listBytes += nameLength + valueLength + FIELD_OVERHEAD;
        if (listBytes > listBytesMax) {
            problem = "response head or trailers of more than " + listBytesMax + " bytes";
        } else if (nameLength > 0 && name[nameStart] == ':') {
            addPseudo(name, nameStart, nameLength, value, valueStart, valueLength);
        } else if (!isName(name, nameStart, nameLength)) {
            problem = "malformed response head: field name";
        } else if (!isValue(value, valueStart, valueLength)) {
            problem = "malformed response head: value of "
                    + new String(name, nameStart, nameLength, StandardCharsets.US_ASCII);
        } else {
            addLine(name, nameStart, nameLength, value, valueStart, valueLength);
        }
    }

    private void addPseudo(byte[] name, int nameStart, int nameLength, byte[] value, int from, int valueLength) {
        if (trailers || status != 0 || fields.size() > 0) {
            problem = "malformed response head: a pseudo-field is repeated, follows a regular field, or is in trailers";
        } else if (!FieldLexer.equals(name, nameStart, nameStart + nameLength, ":status")) {
            problem = "malformed response head: a pseudo-field other than :status";
        } else if (valueLength != 3
                || value[from] < '1'
                || value[from] > '5'
                || !isDigit(value[from + 1])
                || !isDigit(value[from + 2])) {
            problem = "malformed response head: :status";
        } else {
            status = (value[from] - '0') * 100 + (value[from + 1] - '0') * 10 + value[from + 2] - '0';
        }
    }

    private void addLine(byte[] name, int nameStart, int nameLength, byte[] value, int valueStart, int valueLength) {
        int end = length + nameLength + valueLength + 4;
        if (end > lines.length) {
            lines = Arrays.copyOf(lines, Math.max(2 * lines.length, end));
            fields.moveTo(lines);
        }
        int at = length;
        System.arraycopy(name, nameStart, lines, at, nameLength);
        int nameEnd = at + nameLength;
        lines[nameEnd] = ':';
        lines[nameEnd + 1] = ' ';
        System.arraycopy(value, valueStart, lines, nameEnd + 2, valueLength);
        lines[end - 2] = '\r';
        lines[end - 1] = '\n';
        length = end;
        fields.addLine(at, nameEnd, nameEnd + 2, end - 2);
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }

    private static boolean isName(byte[] name, int start, int length) {
        for (int i = start; i < start + length; i++) {
            if (!NAME[name[i] & 0xff]) {
                return false;
            }
        }
        return length > 0;
    }

    /**
     * Returns true if the value has no control byte except tab and no white space at its start or end (RFC 9110 s5.5,
     * RFC 9113 s8.2.1).
     */
    private static boolean isValue(byte[] value, int start, int length) {
        for (int i = start; i < start + length; i++) {
            byte b = value[i];
            if (b >= 0 && (b < ' ' ? b != '\t' : b == 0x7f)) {
                return false;
            }
        }
        return length == 0 || !(FieldLexer.isSpace(value[start]) || FieldLexer.isSpace(value[start + length - 1]));
    }

    /** Returns the fault of the block; null for none. Call after the last field. */
    @Nullable
    String problem() {
        if (problem == null && !trailers && status == 0) {
            problem = "malformed response head: no :status";
        }
        for (FieldName name : CONNECTION_SPECIFIC) {
            if (problem == null && fields.contains(name)) {
                problem = "malformed response head: " + name.text() + ", which HTTP/2 does not have";
            }
        }
        if (problem == null && status == 101) {
            problem = "malformed response head: status 101, which HTTP/2 does not have";
        }
        return problem;
    }

    int status() {
        return status;
    }

    /** Returns a copy of the fields with its own bytes. */
    FieldSection section() {
        return fields.over(Arrays.copyOf(lines, length), 0, 0, length);
    }
}
