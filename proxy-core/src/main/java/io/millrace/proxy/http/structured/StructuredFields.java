package io.millrace.proxy.http.structured;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads structured fields (RFC 9651 s4.2). A value that breaks the grammar anywhere is no value at all: the answer is
 * then null, as the RFC wants such a field ignored as a whole. Lines of one name are joined with commas first.
 * Thread-safe: no state.
 */
public final class StructuredFields {

    private StructuredFields() {}

    /** The members of a dictionary by key, empty when the field is absent or empty; null when it is malformed. */
    public static @Nullable Map<String, Member> dictionary(FieldSection fields, FieldName name) {
        String joined = fields.joined(name);
        return joined == null ? Map.of() : parseDictionary(joined);
    }

    /** The members of a list, empty when the field is absent or empty; null when it is malformed. */
    public static @Nullable List<Member> list(FieldSection fields, FieldName name) {
        String joined = fields.joined(name);
        return joined == null ? List.of() : parseList(joined);
    }

    /** The members of a dictionary (s4.2.2); null when the text is none. */
    public static @Nullable Map<String, Member> parseDictionary(String text) {
        StructuredParser parser = parser(text);
        try {
            Map<String, Member> members = parser.dictionary();
            parser.end();
            return members;
        } catch (StructuredParser.Malformed e) {
            return null;
        }
    }

    /** The members of a list (s4.2.1); null when the text is none. */
    public static @Nullable List<Member> parseList(String text) {
        StructuredParser parser = parser(text);
        try {
            List<Member> members = parser.list();
            parser.end();
            return members;
        } catch (StructuredParser.Malformed e) {
            return null;
        }
    }

    /** A single item (s4.2.3); null when the text is none. */
    public static Member.@Nullable Item parseItem(String text) {
        StructuredParser parser = parser(text);
        try {
            Member.Item item = parser.item();
            parser.end();
            return item;
        } catch (StructuredParser.Malformed e) {
            return null;
        }
    }

    private static StructuredParser parser(String text) {
        return new StructuredParser(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
