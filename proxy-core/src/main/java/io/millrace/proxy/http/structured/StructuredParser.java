package io.millrace.proxy.http.structured;

import io.millrace.proxy.http.FieldLexer;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A parser of one structured field value, with one method per rule of RFC 9651 s4.2. Confined to one thread. */
final class StructuredParser {

    /** Thrown if the text violates the grammar. Has no details and no stack trace, because callers use neither. */
    static final class Malformed extends Exception {
        private Malformed() {
            super("malformed", null, false, false);
        }
    }

    private static final BareItem.SfBoolean TRUE = new BareItem.SfBoolean(true);
    private static final BareItem.SfBoolean FALSE = new BareItem.SfBoolean(false);

    private static final int INTEGER_DIGITS_MAX = 15;
    private static final int DECIMAL_INTEGER_DIGITS_MAX = 12;
    private static final int FRACTION_DIGITS_MAX = 3;

    private final byte[] bytes;
    private int position;

    StructuredParser(byte[] bytes) {
        this.bytes = bytes;
        skipSpaces();
    }

    /** Checks that only spaces follow (s4.2 step 7). */
    void end() throws Malformed {
        skipSpaces();
        if (position < bytes.length) {
            throw new Malformed();
        }
    }

    /** Parses a dictionary (s4.2.2). A repeated key keeps its position and takes the later value. */
    Map<String, Member> dictionary() throws Malformed {
        Map<String, Member> members = new LinkedHashMap<>();
        while (position < bytes.length) {
            String key = key();
            Member member = take('=') ? member() : new Member.Item(TRUE, parameters());
            members.put(key, member);
            if (!nextMember()) {
                break;
            }
        }
        return Collections.unmodifiableMap(members);
    }

    /** Parses a list (s4.2.1). */
    List<Member> list() throws Malformed {
        List<Member> members = new ArrayList<>();
        while (position < bytes.length) {
            members.add(member());
            if (!nextMember()) {
                break;
            }
        }
        return List.copyOf(members);
    }

    /** Skips the comma before another member. Returns false at the end. */
    private boolean nextMember() throws Malformed {
        position = FieldLexer.skipSpace(bytes, position, bytes.length);
        if (position == bytes.length) {
            return false;
        }
        expect(',');
        position = FieldLexer.skipSpace(bytes, position, bytes.length);
        if (position == bytes.length) {
            throw new Malformed();
        }
        return true;
    }

    /** Parses a member of a list or dictionary (s4.2.1.1). */
    private Member member() throws Malformed {
        return peek() == '(' ? innerList() : item();
    }

    /** Parses an inner list (s4.2.1.2). */
    private Member.InnerList innerList() throws Malformed {
        expect('(');
        List<Member.Item> items = new ArrayList<>();
        while (position < bytes.length) {
            skipSpaces();
            if (take(')')) {
                return new Member.InnerList(List.copyOf(items), parameters());
            }
            items.add(item());
            if (peek() != ' ' && peek() != ')') {
                throw new Malformed();
            }
        }
        throw new Malformed();
    }

    /** Parses an item (s4.2.3). */
    Member.Item item() throws Malformed {
        BareItem value = bareItem();
        return new Member.Item(value, parameters());
    }

    /** Parses parameters (s4.2.3.2). */
    private Map<String, BareItem> parameters() throws Malformed {
        if (peek() != ';') {
            return Map.of();
        }
        Map<String, BareItem> parameters = new LinkedHashMap<>();
        while (take(';')) {
            skipSpaces();
            String key = key();
            parameters.put(key, take('=') ? bareItem() : TRUE);
        }
        return Collections.unmodifiableMap(parameters);
    }

    /** Parses a key (s4.2.3.3). */
    private String key() throws Malformed {
        int start = position;
        if (!isLowerAlpha(peek()) && peek() != '*') {
            throw new Malformed();
        }
        int c = peek();
        while (isLowerAlpha(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c == '*') {
            position++;
            c = peek();
        }
        return text(start, position);
    }

    /** Parses a bare item (s4.2.3.1). */
    private BareItem bareItem() throws Malformed {
        int c = peek();
        return switch (c) {
            case '"' -> string();
            case ':' -> byteSequence();
            case '?' -> booleanItem();
            case '@' -> date();
            case '%' -> displayString();
            default -> {
                if (c == '-' || isDigit(c)) {
                    yield number();
                }
                if (isAlpha(c) || c == '*') {
                    yield token();
                }
                throw new Malformed();
            }
        };
    }

    /** Parses an integer or a decimal (s4.2.4). */
    private BareItem number() throws Malformed {
        boolean negative = take('-');
        int start = position;
        long value = digits();
        int digits = position - start;
        if (digits == 0 || digits > INTEGER_DIGITS_MAX) {
            throw new Malformed();
        }
        if (!take('.')) {
            return new BareItem.SfInteger(negative ? -value : value);
        }
        int fractionStart = position;
        long fraction = digits();
        int fractionDigits = position - fractionStart;
        if (digits > DECIMAL_INTEGER_DIGITS_MAX || fractionDigits == 0 || fractionDigits > FRACTION_DIGITS_MAX) {
            throw new Malformed();
        }
        for (int i = fractionDigits; i < FRACTION_DIGITS_MAX; i++) {
            fraction *= 10;
        }
        long thousandths = value * 1000 + fraction;
        return new BareItem.SfDecimal(negative ? -thousandths : thousandths);
    }

    /**
     * Reads the next digits and returns their value. The value is undefined for too many digits; the caller refuses
     * them.
     */
    private long digits() {
        long value = 0;
        while (isDigit(peek())) {
            value = value * 10 + (bytes[position++] - '0');
        }
        return value;
    }

    /** Parses a string (s4.2.5). */
    private BareItem string() throws Malformed {
        expect('"');
        StringBuilder text = new StringBuilder();
        while (position < bytes.length) {
            int c = bytes[position++] & 0xff;
            if (c == '"') {
                return new BareItem.SfString(text.toString());
            }
            if (c == '\\') {
                c = peek();
                if (c != '"' && c != '\\') {
                    throw new Malformed();
                }
                position++;
            }
            if (c < ' ' || c > '~') {
                throw new Malformed();
            }
            text.append((char) c);
        }
        throw new Malformed();
    }

    /** Parses a token (s4.2.6). */
    private BareItem token() {
        int start = position;
        while (position < bytes.length
                && (FieldLexer.isTokenByte(bytes[position]) || bytes[position] == ':' || bytes[position] == '/')) {
            position++;
        }
        return new BareItem.SfToken(text(start, position));
    }

    /** Parses a byte sequence (s4.2.7). */
    private BareItem byteSequence() throws Malformed {
        expect(':');
        int start = position;
        while (position < bytes.length && bytes[position] != ':') {
            position++;
        }
        String encoded = text(start, position);
        expect(':');
        try {
            return new BareItem.SfBytes(Base64.getDecoder().decode(encoded));
        } catch (IllegalArgumentException e) {
            throw new Malformed();
        }
    }

    /** Parses a boolean (s4.2.8). */
    private BareItem booleanItem() throws Malformed {
        expect('?');
        if (take('1')) {
            return TRUE;
        }
        expect('0');
        return FALSE;
    }

    /** Parses a date (s4.2.9). */
    private BareItem date() throws Malformed {
        expect('@');
        int c = peek();
        if ((c == '-' || isDigit(c)) && number() instanceof BareItem.SfInteger seconds) {
            return new BareItem.SfDate(seconds.value());
        }
        throw new Malformed();
    }

    /** Parses a display string (s4.2.10). */
    private BareItem displayString() throws Malformed {
        expect('%');
        expect('"');
        ByteBuffer utf8 = ByteBuffer.allocate(bytes.length - position);
        while (position < bytes.length) {
            int c = bytes[position++] & 0xff;
            if (c < ' ' || c > '~') {
                throw new Malformed();
            }
            if (c == '"') {
                return new BareItem.SfDisplayString(decoded(utf8.flip()));
            }
            utf8.put((byte) (c == '%' ? lowerHex() * 16 + lowerHex() : c));
        }
        throw new Malformed();
    }

    private static String decoded(ByteBuffer utf8) throws Malformed {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(utf8).toString();
        } catch (CharacterCodingException e) {
            throw new Malformed();
        }
    }

    private int lowerHex() throws Malformed {
        int c = peek();
        position++;
        if (isDigit(c)) {
            return c - '0';
        }
        if (c >= 'a' && c <= 'f') {
            return c - 'a' + 10;
        }
        throw new Malformed();
    }

    private void skipSpaces() {
        while (position < bytes.length && bytes[position] == ' ') {
            position++;
        }
    }

    /** Returns the current byte; -1 at the end. */
    private int peek() {
        return position < bytes.length ? bytes[position] & 0xff : -1;
    }

    /** Skips the current byte if it equals {@code c}. Returns true if it does. */
    private boolean take(char c) {
        boolean here = peek() == c;
        position += here ? 1 : 0;
        return here;
    }

    private void expect(char c) throws Malformed {
        if (!take(c)) {
            throw new Malformed();
        }
    }

    private String text(int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isLowerAlpha(int c) {
        return c >= 'a' && c <= 'z';
    }

    private static boolean isAlpha(int c) {
        return isLowerAlpha(FieldLexer.lower(c));
    }
}
