package io.millrace.proxy.http;

/**
 * Iterates over the comma-separated members of all lines of one field (RFC 9110 s5.6.1). Commas in quoted strings do
 * not separate members. Empty members are skipped, white space around a member is removed. A quote that is not closed
 * in its line counts as an ordinary byte, so that it cannot hide later members. Confined to one thread.
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
     * True after an unclosed quote in the line. Searching for the end of each further quote would take quadratic time.
     */
    private boolean isUnclosed;

    private ListCursor(FieldSection fields, FieldName name, boolean hasEscapes) {
        this.fields = fields;
        this.name = name;
        this.bytes = fields.bytes();
        this.hasEscapes = hasEscapes;
        this.line = -1;
    }

    /** Creates a cursor before the first member. Borrows the section. */
    public static ListCursor over(FieldSection fields, FieldName name) {
        return new ListCursor(fields, name, true);
    }

    /**
     * Creates a cursor for entity tags, in which a backslash is not an escape (RFC 9110 s8.8.3). Borrows the section.
     */
    public static ListCursor overEntityTags(FieldSection fields, FieldName name) {
        return new ListCursor(fields, name, false);
    }

    /** Moves to the next member. Returns false if there is none. */
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

    /** The array that {@link #start} and {@link #end} refer to; borrowed. */
    public byte[] bytes() {
        return bytes;
    }

    /** Position of the first byte of the member. */
    public int start() {
        return start;
    }

    /** Position after the last byte of the member. */
    public int end() {
        return end;
    }

    /** Returns true if the member equals the text. Ignores ASCII case. */
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
