package io.millrace.proxy.esi;

import io.millrace.proxy.esi.EsiSyntaxException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses ESI documents (ESI Language Specification 1.0, W3C note of 4 August 2001). All other markup is treated as
 * text, so the parser also finds ESI elements inside HTML comments, scripts and attributes. Reads each byte a constant
 * number of times; the nesting of elements is limited.
 *
 * <p>Confined to one thread; one instance for each document.
 */
public final class EsiParser {
    /** Limit of nested {@code esi:try} elements. */
    static final int NESTING_MAX = 16;

    /** Limit in characters of the text of a failure. */
    private static final int MESSAGE_MAX = 160;

    private static final byte[] ELEMENT = ascii("<esi:");
    private static final byte[] END_TAG = ascii("</esi:");
    private static final byte[] COMMENT = ascii("<!--esi");
    private static final byte[] COMMENT_END = ascii("-->");
    private static final byte[] REMOVE_END = ascii("</esi:remove");

    /**
     * Elements of ESI 1.0 and of its extensions that this parser refuses, because they need variables or requests of
     * other kinds.
     */
    private static final Set<String> UNSUPPORTED = Set.of(
            "vars",
            "choose",
            "when",
            "otherwise",
            "inline",
            "invalidate",
            "assign",
            "eval",
            "foreach",
            "function",
            "text");

    /** The start tag of an element. */
    private record Tag(
            String name,
            boolean isEmpty,
            @Nullable String src,
            @Nullable String alt,
            @Nullable String onerror,
            int start) {}

    private final byte[] bytes;
    private final int includesMax;
    private int position;
    private int includes;
    /** Number of parts so far, on all levels. */
    private int size;

    private int nesting;
    /** Position of the comment {@code <!--esi} that is open; negative for none. */
    private int commentStart = -1;

    private EsiParser(byte[] bytes, int includesMax) {
        this.bytes = bytes;
        this.includesMax = includesMax;
    }

    /**
     * Parses a document.
     *
     * @param bytes the document in an encoding that contains ASCII; borrowed, and must not be changed afterwards
     * @param includesMax limit of {@code esi:include} elements
     * @throws EsiSyntaxException if the markup is malformed, not supported or over the limit
     */
    public static EsiDocument parse(byte[] bytes, int includesMax) throws EsiSyntaxException {
        EsiParser parser = new EsiParser(bytes, includesMax);
        List<EsiPart> parts = parser.sequence(null, 0);
        if (parser.commentStart >= 0) {
            throw parser.malformed(parser.commentStart, "<!--esi has no -->");
        }
        return new EsiDocument(bytes, parts, parser.size);
    }

    /**
     * Parses parts up to the end tag of an element, or to the end of the document.
     *
     * @param name name of the element; null for the document
     * @param start position of the element
     */
    private List<EsiPart> sequence(@Nullable String name, int start) throws EsiSyntaxException {
        List<EsiPart> parts = new ArrayList<>();
        while (position < bytes.length) {
            int text = position;
            position = nextMarkup();
            if (position > text) {
                size++;
                parts.add(new EsiPart.Text(text, position));
            }
            if (position == bytes.length || skipCommentMark()) {
                continue;
            }
            if (startsWith(END_TAG)) {
                int at = position;
                String closed = endTag();
                if (closed.equals(name)) {
                    return parts;
                }
                // Elements without content may have an end tag.
                if (!closed.equals("include") && !closed.equals("comment")) {
                    throw malformed(at, "</esi:" + closed + "> closes no element");
                }
            } else {
                element(startTag(), parts);
            }
        }
        if (name != null) {
            throw malformed(start, "<esi:" + name + "> has no end tag");
        }
        return parts;
    }

    /** Skips the begin or end of a comment {@code <!--esi}. Returns false if there is neither at the position. */
    private boolean skipCommentMark() throws EsiSyntaxException {
        if (startsWith(COMMENT)) {
            if (commentStart >= 0) {
                throw malformed(position, "<!--esi in another <!--esi");
            }
            commentStart = position;
            position += COMMENT.length;
            return true;
        }
        if (startsWith(COMMENT_END)) {
            commentStart = -1;
            position += COMMENT_END.length;
            return true;
        }
        return false;
    }

    private void element(Tag tag, List<EsiPart> parts) throws EsiSyntaxException {
        switch (tag.name()) {
            case "include" -> {
                size++;
                parts.add(include(tag));
            }
            case "comment" -> {
                // The element has no effect.
            }
            case "remove" -> skipRemoved(tag);
            case "try" -> {
                size++;
                parts.add(tryElement(tag));
            }
            case "attempt", "except" -> throw malformed(tag.start(), "<esi:" + tag.name() + "> is not in <esi:try>");
            default -> throw unknown(tag);
        }
    }

    private EsiSyntaxException unknown(Tag tag) {
        return UNSUPPORTED.contains(tag.name())
                ? failure(Reason.UNSUPPORTED, tag.start(), "<esi:" + tag.name() + "> is not supported")
                : malformed(tag.start(), "<esi:" + tag.name() + "> is no element of ESI 1.0");
    }

    private EsiPart.Include include(Tag tag) throws EsiSyntaxException {
        String src = tag.src();
        if (src == null || src.isBlank()) {
            throw malformed(tag.start(), "<esi:include> has no src");
        }
        if (src.contains("$(") || (tag.alt() != null && tag.alt().contains("$("))) {
            throw failure(Reason.UNSUPPORTED, tag.start(), "variables such as $(HTTP_HOST) are not supported");
        }
        if (tag.onerror() != null && !tag.onerror().equals("continue")) {
            throw malformed(tag.start(), "the only permitted value of onerror is continue");
        }
        includes++;
        if (includes > includesMax) {
            throw failure(
                    Reason.TOO_MANY_INCLUDES,
                    tag.start(),
                    "include " + includes + ", at most " + includesMax + " are permitted (esi.max_includes)");
        }
        String alt = tag.alt() == null || tag.alt().isBlank() ? null : tag.alt();
        return new EsiPart.Include(src, alt, tag.onerror() != null, tag.start());
    }

    private void skipRemoved(Tag tag) throws EsiSyntaxException {
        if (tag.isEmpty()) {
            return;
        }
        int at = position;
        while (at < bytes.length && (!matches(REMOVE_END, at) || isLetter(at + REMOVE_END.length))) {
            at++;
        }
        if (at == bytes.length) {
            throw malformed(tag.start(), "<esi:remove> has no end tag");
        }
        position = at;
        endTag();
    }

    private EsiPart.Try tryElement(Tag tag) throws EsiSyntaxException {
        if (++nesting > NESTING_MAX) {
            throw malformed(tag.start(), "more than " + NESTING_MAX + " nested <esi:try>");
        }
        List<EsiPart> attempt = null;
        List<EsiPart> except = null;
        boolean isOpen = !tag.isEmpty();
        while (isOpen) {
            // Text outside of esi:attempt and esi:except is not sent.
            position = nextMarkup();
            if (position == bytes.length) {
                throw malformed(tag.start(), "<esi:try> has no end tag");
            }
            if (skipCommentMark()) {
                continue;
            }
            int at = position;
            if (startsWith(END_TAG)) {
                String closed = endTag();
                if (!closed.equals("try")) {
                    throw malformed(at, "</esi:" + closed + "> in <esi:try>");
                }
                isOpen = false;
                continue;
            }
            Tag inner = startTag();
            if (inner.name().equals("attempt") && attempt == null) {
                attempt = inner.isEmpty() ? List.of() : sequence("attempt", at);
            } else if (inner.name().equals("except") && except == null) {
                except = inner.isEmpty() ? List.of() : sequence("except", at);
            } else if (!inner.name().equals("comment")) {
                throw malformed(
                        at, "unexpected <esi:" + inner.name() + "> in <esi:try>, which has one attempt and one except");
            }
        }
        nesting--;
        if (attempt == null || except == null) {
            throw malformed(tag.start(), "<esi:try> needs <esi:attempt> and <esi:except>");
        }
        return new EsiPart.Try(attempt, except);
    }

    /** Returns the position of the next markup, or the end of the document. */
    private int nextMarkup() {
        for (int at = position; at < bytes.length; at++) {
            byte b = bytes[at];
            if (b == '<'
                    && (matches(ELEMENT, at)
                            || matches(END_TAG, at)
                            || (matches(COMMENT, at) && !isLetter(at + COMMENT.length)))) {
                return at;
            }
            if (b == '-' && commentStart >= 0 && matches(COMMENT_END, at)) {
                return at;
            }
        }
        return bytes.length;
    }

    /** Reads an end tag and returns the name of its element. */
    private String endTag() throws EsiSyntaxException {
        int start = position;
        position += END_TAG.length;
        String name = name();
        skipSpace();
        if (position == bytes.length || bytes[position] != '>') {
            throw malformed(start, "the end tag has no >");
        }
        position++;
        return name;
    }

    private Tag startTag() throws EsiSyntaxException {
        int start = position;
        position += ELEMENT.length;
        String name = name();
        String src = null;
        String alt = null;
        String onerror = null;
        while (true) {
            boolean isSpaced = skipSpace();
            if (position == bytes.length) {
                throw malformed(start, "<esi:" + name + " has no >");
            }
            if (bytes[position] == '>') {
                position++;
                return new Tag(name, false, src, alt, onerror, start);
            }
            if (bytes[position] == '/' && position + 1 < bytes.length && bytes[position + 1] == '>') {
                position += 2;
                return new Tag(name, true, src, alt, onerror, start);
            }
            int at = position;
            String attribute = name();
            if (attribute.isEmpty() || !isSpaced) {
                throw malformed(at, "a character that is not allowed in <esi:" + name + ">");
            }
            String value = value(start, attribute);
            switch (attribute) {
                case "src" -> src = once(src, value, at, attribute);
                case "alt" -> alt = once(alt, value, at, attribute);
                case "onerror" -> onerror = once(onerror, value, at, attribute);
                default -> {
                    // Other attributes, such as ttl and maxwait, belong to extensions of the language.
                }
            }
        }
    }

    private String once(@Nullable String before, String value, int at, String attribute) throws EsiSyntaxException {
        if (before != null) {
            throw malformed(at, "a second attribute " + attribute);
        }
        return value;
    }

    private String value(int start, String attribute) throws EsiSyntaxException {
        skipSpace();
        if (position == bytes.length || bytes[position] != '=') {
            throw malformed(start, "the attribute " + attribute + " has no value");
        }
        position++;
        skipSpace();
        byte quote = position == bytes.length ? 0 : bytes[position];
        if (quote != '"' && quote != '\'') {
            throw malformed(start, "the value of the attribute " + attribute + " is not in quotation marks");
        }
        int from = ++position;
        while (position < bytes.length && bytes[position] != quote) {
            position++;
        }
        if (position == bytes.length) {
            throw malformed(start, "the value of the attribute " + attribute + " has no end");
        }
        String raw = new String(bytes, from, position - from, StandardCharsets.ISO_8859_1);
        position++;
        return raw.indexOf('&') < 0 ? raw : decoded(raw);
    }

    /** Decodes the five entities of XML; other references stay as they are. */
    private static String decoded(String raw) {
        return raw.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&apos;", "'")
                .replace("&amp;", "&");
    }

    private String name() {
        int from = position;
        while (position < bytes.length && isNameByte(bytes[position])) {
            position++;
        }
        return new String(bytes, from, position - from, StandardCharsets.ISO_8859_1);
    }

    private static boolean isNameByte(byte b) {
        return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || b == '-' || b == '_';
    }

    private boolean isLetter(int at) {
        return at < bytes.length && isNameByte(bytes[at]) && bytes[at] != '-';
    }

    private boolean skipSpace() {
        int from = position;
        while (position < bytes.length && isSpace(bytes[position])) {
            position++;
        }
        return position > from;
    }

    private static boolean isSpace(byte b) {
        return b == ' ' || b == '\t' || b == '\r' || b == '\n';
    }

    private boolean startsWith(byte[] text) {
        return matches(text, position);
    }

    private boolean matches(byte[] text, int at) {
        if (at + text.length > bytes.length) {
            return false;
        }
        for (int i = 0; i < text.length; i++) {
            if (bytes[at + i] != text[i]) {
                return false;
            }
        }
        return true;
    }

    private EsiSyntaxException malformed(int at, String text) {
        return failure(Reason.MALFORMED, at, text);
    }

    private EsiSyntaxException failure(Reason reason, int at, String text) {
        // Names of elements and attributes may be as long as the document.
        String bounded = text.length() <= MESSAGE_MAX ? text : text.substring(0, MESSAGE_MAX) + "...";
        return new EsiSyntaxException(reason, EsiDocument.placeIn(bytes, at) + ": " + bounded);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
