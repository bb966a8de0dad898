package io.millrace.proxy.http;

/**
 * Walks the comma-separated members of all lines of one field (RFC 9110 s5.6.1). Commas inside quoted strings do not
 * separate, empty members are passed over, white space around a member is left out. A quoted string that is not closed
 * reaches to the end of its line. Confined to one thread.
 *
 * <pre>
 * ListCursor members = ListCursor.over(fields, FieldName.VARY);
 * while (members.next()) { use(members.bytes(), members.start(), members.end()); }
 * </pre>
 */
public final class ListCursor {

    private final FieldSection fields;
    private final FieldName name;
    private final byte[] bytes;
    private int line;
    private int position;
    private int limit;
    private int start;
    private int end;

    private ListCursor(FieldSection fields, FieldName name) {
        this.fields = fields;
        this.name = name;
        this.bytes = fields.bytes();
        this.line = -1;
    }

    /** A cursor before the first member; borrows the section. */
    public static ListCursor over(FieldSection fields, FieldName name) {
        return new ListCursor(fields, name);
    }

    /** Moves to the next member; false when there is none. */
    public boolean next() {
        while (true) {
            while (position < limit) {
                if (nextInLine()) {
                    return true;
                }
            }
            line = fields.next(name, line);
            if (line < 0) {
                line = fields.size();
                return false;
            }
            position = fields.valueStart(line);
            limit = fields.valueEnd(line);
        }
    }

    /** The array that {@link #start} and {@link #end} point into; borrowed. */
    public byte[] bytes() {
        return bytes;
    }

    /** Position of the member's first byte. */
    public int start() {
        return start;
    }

    /** Position after the member's last byte. */
    public int end() {
        return end;
    }

    /** Whether the member equals the text, without regard to ASCII case. */
    public boolean isToken(CharSequence text) {
        return FieldLexer.equalsIgnoreCase(bytes, start, end, text);
    }

    private boolean nextInLine() {
        start = FieldLexer.skipSpace(bytes, position, limit);
        int i = start;
        while (i < limit && bytes[i] != ',') {
            if (bytes[i] == '"') {
                int after = FieldLexer.skipQuoted(bytes, i, limit);
                i = after < 0 ? limit : after;
            } else {
                i++;
            }
        }
        end = FieldLexer.trimEnd(bytes, start, i);
        position = i + 1;
        return end > start;
    }
}
