package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A field section (RFC 9110 s5, s6.3): the field lines of a head in order, as positions in one byte array. Values are
 * the received ISO-8859-1 bytes without surrounding white space; names keep their spelling.
 *
 * <p>For each line the array of positions contains
 *
 * <pre>
 * +-----------+---------+------------+----------+-----------------+
 * | nameStart | nameEnd | valueStart | valueEnd | well-known id   |
 * +-----------+---------+------------+----------+-----------------+
 * </pre>
 *
 * Immutable, except a {@linkplain #reusable reusable} section, which is confined to its owner's thread and valid until
 * the next {@link #reset}.
 */
public final class FieldSection {

    /** A section without lines. */
    public static final FieldSection EMPTY = new FieldSection(new byte[0], new int[0], 0, 0, 0, 0);

    /** Number of elements of {@link #lines} for each line. */
    static final int STRIDE = 5;
    /** Value of {@link #blockStart} if the section is reusable: its lines may have gaps. */
    private static final int NOT_CONTIGUOUS = -1;
    /** Minimum number of lines with reserved space. One more line is reserved per {@code BYTES_PER_LINE} bytes. */
    private static final int LINES_MIN = 4;

    private static final int BYTES_PER_LINE = 48;

    private byte[] bytes;
    private int[] lines;
    private int size;
    /** Bit {@code id & 63} is set for each well-known name present, so that absent names are detected at low cost. */
    private long present;
    /** Range of the lines as {@code Name: value CRLF} without gaps, if the bytes have this layout. */
    private int blockStart;

    private int blockEnd;

    FieldSection(byte[] bytes, int[] lines, int size, long present, int blockStart, int blockEnd) {
        this.bytes = bytes;
        this.lines = lines;
        this.size = size;
        this.present = present;
        this.blockStart = blockStart;
        this.blockEnd = blockEnd;
    }

    /** Creates a section that its owner fills repeatedly with {@link #reset} and {@link #addLine}. */
    public static FieldSection reusable(int expectedLines) {
        return new FieldSection(new byte[0], new int[expectedLines * STRIDE], 0, 0, NOT_CONTIGUOUS, NOT_CONTIGUOUS);
    }

    /**
     * Parses lines {@code Name: value CRLF} that fill the range exactly. Borrows the array. Refuses white space before
     * the colon, folded lines, a lone CR or LF, and NUL.
     *
     * @return null if the range contains anything else
     */
    public static @Nullable FieldSection parse(byte[] bytes, int from, int to) {
        FieldSection section = reusable(LINES_MIN + (to - from) / BYTES_PER_LINE);
        section.bytes = bytes;
        int position = from;
        while (position < to) {
            int nameEnd = FieldLexer.skipToken(bytes, position, to);
            if (nameEnd == position || nameEnd == to || bytes[nameEnd] != ':') {
                return null;
            }
            int valueStart = FieldLexer.skipSpace(bytes, nameEnd + 1, to);
            int lineEnd = valueStart;
            while (lineEnd < to && isValueByte(bytes[lineEnd])) {
                lineEnd++;
            }
            if (lineEnd + 1 >= to || bytes[lineEnd] != '\r' || bytes[lineEnd + 1] != '\n') {
                return null;
            }
            section.addLine(position, nameEnd, valueStart, FieldLexer.trimEnd(bytes, valueStart, lineEnd));
            position = lineEnd + 2;
        }
        section.blockStart = from;
        section.blockEnd = to;
        return section;
    }

    /** Returns a builder of an immutable section. */
    public static Builder builder() {
        return new Builder(512, 16);
    }

    /** Returns a builder sized for a copy of another section with a few more lines. */
    public static Builder builderLike(FieldSection other) {
        return new Builder(other.wireLength() + 128, other.size + LINES_MIN);
    }

    /**
     * Empties a reusable section and sets its array. Borrows the array.
     *
     * @throws IllegalStateException if the section is immutable
     */
    public void reset(byte[] array) {
        requireReusable();
        bytes = array;
        size = 0;
        present = 0;
    }

    /**
     * Replaces the array of a reusable section by a larger copy. Borrows the copy. The lines are kept.
     *
     * @throws IllegalStateException if the section is immutable
     */
    public void moveTo(byte[] array) {
        requireReusable();
        bytes = array;
    }

    /**
     * Appends a line of the owner's array to a reusable section. The range of the value must exclude surrounding white
     * space.
     *
     * @throws IllegalStateException if the section is immutable
     */
    public void addLine(int nameStart, int nameEnd, int valueStart, int valueEnd) {
        requireReusable();
        addLine(nameStart, nameEnd, valueStart, valueEnd, FieldName.idOf(bytes, nameStart, nameEnd));
    }

    private void addLine(int nameStart, int nameEnd, int valueStart, int valueEnd, int id) {
        int at = size * STRIDE;
        if (at == lines.length) {
            lines = Arrays.copyOf(lines, Math.max(8 * STRIDE, at * 2));
        }
        lines[at] = nameStart;
        lines[at + 1] = nameEnd;
        lines[at + 2] = valueStart;
        lines[at + 3] = valueEnd;
        lines[at + 4] = id;
        present |= bit(id);
        size++;
    }

    /** Number of field lines. */
    public int size() {
        return size;
    }

    /** Returns the line of the first field with this name; -1 if there is none. */
    public int find(FieldName name) {
        return next(name, -1);
    }

    /** Returns the line of the next field with this name after line {@code after}; -1 if there is none. */
    public int next(FieldName name, int after) {
        int id = name.id();
        if (id != FieldName.UNKNOWN) {
            if ((present & bit(id)) == 0) {
                return -1;
            }
            for (int line = after + 1, at = line * STRIDE + 4; line < size; line++, at += STRIDE) {
                if (lines[at] == id) {
                    return line;
                }
            }
            return -1;
        }
        for (int line = after + 1, at = line * STRIDE; line < size; line++, at += STRIDE) {
            if (lines[at + 4] == FieldName.UNKNOWN && name.matches(bytes, lines[at], lines[at + 1])) {
                return line;
            }
        }
        return -1;
    }

    /** Returns a set of well-known names for {@link #mayContainAny}. */
    public static long setOf(FieldName... names) {
        long set = 0;
        for (FieldName name : names) {
            if (!name.isWellKnown()) {
                throw new IllegalArgumentException("not a well-known name: " + name);
            }
            set |= bit(name.id());
        }
        return set;
    }

    /**
     * Returns false only if no field of these names is present; true may be wrong. Allocates nothing and reads no line.
     */
    public boolean mayContainAny(long set) {
        return (present & set) != 0;
    }

    /** Returns true if a field with this name is present. */
    public boolean contains(FieldName name) {
        return find(name) >= 0;
    }

    /** Returns true if the line has this name. */
    public boolean isNamed(int line, FieldName name) {
        int at = line * STRIDE;
        int id = name.id();
        return lines[at + 4] == id && (id != FieldName.UNKNOWN || name.matches(bytes, lines[at], lines[at + 1]));
    }

    /** Returns true if the name of the line is one of the constants of {@link FieldName}. */
    public boolean isWellKnown(int line) {
        return id(line) != FieldName.UNKNOWN;
    }

    /** Returns the id of the line's name; {@link FieldName#UNKNOWN} for a name that is not well known. */
    int id(int line) {
        return lines[line * STRIDE + 4];
    }

    /** Like {@link #mayContainAny}, for the bits that {@link #bit} returns. */
    boolean mayHave(long bits) {
        return (present & bits) != 0;
    }

    /** Returns the name of the line in its original spelling. */
    public String name(int line) {
        return text(nameStart(line), nameEnd(line));
    }

    /** Returns the value of the line. */
    public String value(int line) {
        return text(valueStart(line), valueEnd(line));
    }

    /** Returns the value of the first field with this name; null if there is none. */
    public @Nullable String get(FieldName name) {
        int line = find(name);
        return line < 0 ? null : value(line);
    }

    /**
     * Returns the values of all fields with this name, joined by comma and space (RFC 9110 s5.2); null if there are
     * none.
     */
    public @Nullable String joined(FieldName name) {
        int line = find(name);
        if (line < 0) {
            return null;
        }
        int next = next(name, line);
        if (next < 0) {
            return value(line);
        }
        StringBuilder all = new StringBuilder(value(line));
        for (; next >= 0; next = next(name, next)) {
            all.append(", ").append(value(next));
        }
        return all.toString();
    }

    /** Returns true if the value of the line equals the text. Ignores ASCII case. */
    public boolean valueEqualsIgnoreCase(int line, CharSequence text) {
        return FieldLexer.equalsIgnoreCase(bytes, valueStart(line), valueEnd(line), text);
    }

    /** Returns true if a comma-separated member of the fields with this name equals the token. Ignores ASCII case. */
    public boolean hasToken(FieldName name, CharSequence token) {
        int line = find(name);
        if (line < 0) {
            return false;
        }
        ListCursor members = ListCursor.over(this, name);
        while (members.next()) {
            if (FieldLexer.equalsIgnoreCase(bytes, members.start(), members.end(), token)) {
                return true;
            }
        }
        return false;
    }

    /** The array that the positions refer to; borrowed, and must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    public int nameStart(int line) {
        return lines[line * STRIDE];
    }

    public int nameEnd(int line) {
        return lines[line * STRIDE + 1];
    }

    public int valueStart(int line) {
        return lines[line * STRIDE + 2];
    }

    public int valueEnd(int line) {
        return lines[line * STRIDE + 3];
    }

    /** Writes all lines as {@code Name: value CRLF}, without the empty line that ends a head. Borrows the buffer. */
    public void writeTo(ByteBuf out) {
        if (blockStart != NOT_CONTIGUOUS) {
            out.writeBytes(bytes, blockStart, blockEnd - blockStart);
            return;
        }
        for (int line = 0; line < size; line++) {
            writeLineTo(line, out);
        }
    }

    /** Returns the number of bytes that {@link #writeTo} writes. */
    public int wireLength() {
        if (blockStart != NOT_CONTIGUOUS) {
            return blockEnd - blockStart;
        }
        int length = 0;
        for (int line = 0; line < size; line++) {
            length += nameEnd(line) - nameStart(line) + valueEnd(line) - valueStart(line) + 4;
        }
        return length;
    }

    /** Writes one line as {@code Name: value CRLF}. Borrows the buffer. */
    public void writeLineTo(int line, ByteBuf out) {
        out.writeBytes(bytes, nameStart(line), nameEnd(line) - nameStart(line));
        out.writeShort((':' << 8) | ' ');
        out.writeBytes(bytes, valueStart(line), valueEnd(line) - valueStart(line));
        out.writeShort(('\r' << 8) | '\n');
    }

    /**
     * Returns an immutable section with the same lines over another array. The array has the same bytes at positions
     * higher by {@code shift}. The lines must have no gaps between {@code from} and {@code to}.
     *
     * @param array borrowed during the lifetime of the section
     * @param from first byte of the lines in {@code array}
     * @param to position after the last byte
     */
    public FieldSection over(byte[] array, int shift, int from, int to) {
        int[] moved = Arrays.copyOf(lines, size * STRIDE);
        for (int line = 0, at = 0; shift != 0 && line < size; line++, at += STRIDE) {
            for (int position = at; position < at + STRIDE - 1; position++) {
                moved[position] += shift;
            }
        }
        return new FieldSection(array, moved, size, present, from, to);
    }

    /** Returns an immutable copy with its own array, as lines {@code Name: value CRLF}. */
    public FieldSection copy() {
        return builder().addAll(this).build();
    }

    /** Returns the lines as {@code Name: value}, one per row. */
    @Override
    public String toString() {
        StringBuilder all = new StringBuilder();
        for (int line = 0; line < size; line++) {
            all.append(name(line)).append(": ").append(value(line)).append('\n');
        }
        return all.toString();
    }

    /** Returns true if the byte is allowed in a field value: it is neither CR, LF nor NUL (RFC 9110 s5.5). */
    static boolean isValueByte(byte b) {
        return b != '\r' && b != '\n' && b != 0;
    }

    private void requireReusable() {
        if (blockStart != NOT_CONTIGUOUS) {
            throw new IllegalStateException("an immutable field section cannot be changed");
        }
    }

    private String text(int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    }

    static long bit(int id) {
        return id == FieldName.UNKNOWN ? 0 : 1L << (id & 63);
    }

    /**
     * Collects field lines in one array in wire layout. Refuses input that would break the framing: a name that is not
     * a token, a value with CR, LF or NUL, a character above 255. Confined to one thread.
     */
    public static final class Builder {

        private byte[] bytes;
        private int length;
        private final FieldSection lines;

        private Builder(int expectedBytes, int expectedLines) {
            bytes = new byte[expectedBytes];
            lines = reusable(expectedLines);
            lines.bytes = bytes;
        }

        /**
         * Appends a line. White space around the value is removed.
         *
         * @throws IllegalArgumentException if the name is not a token or the value is not allowed in a field
         */
        public Builder add(CharSequence name, CharSequence value) {
            ensure(name.length() + value.length() + 4);
            int nameStart = length;
            int position = put(name, nameStart);
            if (!FieldLexer.isToken(bytes, nameStart, position)) {
                throw new IllegalArgumentException("not a field name: '" + name + "'");
            }
            int valueAt = separator(position);
            return finishLine(nameStart, position, valueAt, put(value, valueAt));
        }

        /**
         * Appends a line with the canonical spelling of the name.
         *
         * @throws IllegalArgumentException if the value is not allowed in a field
         */
        public Builder add(FieldName name, CharSequence value) {
            return add(name.text(), value);
        }

        /** Appends a line with a decimal number. */
        public Builder add(FieldName name, long value) {
            return add(name.text(), Long.toString(value));
        }

        /** Appends one line of another section unchanged. */
        public Builder addLine(FieldSection source, int line) {
            int nameLength = source.nameEnd(line) - source.nameStart(line);
            int valueLength = source.valueEnd(line) - source.valueStart(line);
            ensure(nameLength + valueLength + 4);
            int nameStart = length;
            System.arraycopy(source.bytes, source.nameStart(line), bytes, nameStart, nameLength);
            int valueAt = separator(nameStart + nameLength);
            int valueEnd = valueAt + valueLength;
            System.arraycopy(source.bytes, source.valueStart(line), bytes, valueAt, valueLength);
            // The bytes need no check: they were checked when the section was created.
            bytes[valueEnd] = '\r';
            bytes[valueEnd + 1] = '\n';
            lines.addLine(nameStart, nameStart + nameLength, valueAt, valueEnd, source.id(line));
            length = valueEnd + 2;
            return this;
        }

        /** Removes all lines. The section returned by {@link #buildLast} becomes invalid. */
        public Builder clear() {
            length = 0;
            lines.reset(bytes);
            return this;
        }

        /** Appends all lines of another section. */
        public Builder addAll(FieldSection source) {
            for (int line = 0; line < source.size; line++) {
                addLine(source, line);
            }
            return this;
        }

        /** Removes all lines with this name, then appends one. */
        public Builder set(FieldName name, CharSequence value) {
            return remove(name).add(name, value);
        }

        /** Removes all lines with this name. */
        public Builder remove(FieldName name) {
            if (!lines.contains(name)) {
                return this;
            }
            FieldSection before = build();
            bytes = new byte[Math.max(512, length)];
            length = 0;
            lines.reset(bytes);
            for (int line = 0; line < before.size; line++) {
                if (!before.isNamed(line, name)) {
                    addLine(before, line);
                }
            }
            return this;
        }

        /** Returns true if a line with this name was added. */
        public boolean contains(FieldName name) {
            return lines.contains(name);
        }

        /** Number of lines so far. */
        public int size() {
            return lines.size;
        }

        /** Returns a section with the lines so far. The builder remains usable. */
        public FieldSection build() {
            return new FieldSection(
                    Arrays.copyOf(bytes, length),
                    Arrays.copyOf(lines.lines, lines.size * STRIDE),
                    lines.size,
                    lines.present,
                    0,
                    length);
        }

        /**
         * Like {@link #build()}, but without a copy, for a section of short lifetime. The section shares the arrays of
         * this builder, which may be larger than needed. The builder must not be used again while the section is in
         * use.
         */
        public FieldSection buildLast() {
            return new FieldSection(bytes, lines.lines, lines.size, lines.present, 0, length);
        }

        private Builder finishLine(int nameStart, int nameEnd, int valueAt, int valueLimit) {
            int valueStart = FieldLexer.skipSpace(bytes, valueAt, valueLimit);
            int valueEnd = FieldLexer.trimEnd(bytes, valueStart, valueLimit);
            for (int i = valueStart; i < valueEnd; i++) {
                if (!isValueByte(bytes[i])) {
                    throw new IllegalArgumentException("value of field "
                            + new String(bytes, nameStart, nameEnd - nameStart, StandardCharsets.ISO_8859_1)
                            + " has a control byte " + bytes[i] + " at " + (i - valueAt));
                }
            }
            if (valueStart != valueAt) {
                System.arraycopy(bytes, valueStart, bytes, valueAt, valueEnd - valueStart);
                valueEnd -= valueStart - valueAt;
            }
            bytes[valueEnd] = '\r';
            bytes[valueEnd + 1] = '\n';
            lines.addLine(nameStart, nameEnd, valueAt, valueEnd);
            length = valueEnd + 2;
            return this;
        }

        private int separator(int position) {
            bytes[position] = ':';
            bytes[position + 1] = ' ';
            return position + 2;
        }

        private int put(CharSequence text, int at) {
            int end = text.length();
            for (int i = 0; i < end; i++) {
                char c = text.charAt(i);
                if (c > 255) {
                    throw new IllegalArgumentException("character above 255 at " + i + " of '" + text + "'");
                }
                bytes[at + i] = (byte) c;
            }
            return at + end;
        }

        private void ensure(int more) {
            if (length + more > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
                lines.bytes = bytes;
            }
        }
    }
}
