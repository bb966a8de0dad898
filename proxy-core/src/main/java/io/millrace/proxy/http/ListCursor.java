package io.millrace.proxy.http;

/**
 * Walks the comma-separated members of all lines of one field (RFC 9110 s5.6.1). Commas inside quoted strings do not
 * separate, empty members are passed over, white space around a member is left out. A quote that its line does not
 * close is an ordinary byte, so that nothing after it is hidden. Confined to one thread.
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
    private final boolean hasEscapes;
    private int line;
    private int position;
    private int limit;
    private int start;
    private int end;
    /**
     * Set once a quote of the line is not closed: looking for the end of each further one would take quadratic time.
     */
    private boolean isUnclosed;

    private ListCursor(FieldSection fields, FieldName name, boolean hasEscapes) {
        this.fields = fields;
        this.name = name;
        this.bytes = fields.bytes();
        this.hasEscapes = hasEscapes;
        this.line = -1;
    }

    /** A cursor before the first member; borrows the section. */
    public static ListCursor over(FieldSection fields, FieldName name) {
        return new ListCursor(fields, name, true);
    }

    /** A cursor over entity tags, in which a backslash escapes nothing (RFC 9110 s8.8.3); borrows the section. */
    public static ListCursor overEntityTags(FieldSection fields, FieldName name) {
        return new ListCursor(fields, name, false);
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
            isUnclosed = false;
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
            boolean opens = bytes[i] == '"' && !isUnclosed;
            int after = opens ? FieldLexer.skipQuoted(bytes, i, limit, hasEscapes) : i + 1;
            isUnclosed |= after < 0;
            i = after < 0 ? i + 1 : after;
        }
        end = FieldLexer.trimEnd(bytes, start, i);
        position = i + 1;
        return end > start;
    }
}
