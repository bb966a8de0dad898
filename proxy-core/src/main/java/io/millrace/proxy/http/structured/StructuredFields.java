package io.millrace.proxy.http.structured;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Parses structured fields (RFC 9651 s4.2). The result is null if any part of a value is malformed, because the RFC
 * requires recipients to ignore such a field as a whole. Lines with the same name are first joined by commas.
 * Thread-safe: no state.
 */
public final class StructuredFields {

    private StructuredFields() {}

    /** Returns the members of a dictionary by key; empty if the field is absent or empty, null if it is malformed. */
    public static @Nullable Map<String, Member> dictionary(FieldSection fields, FieldName name) {
        String joined = fields.joined(name);
        return joined == null ? Map.of() : parseDictionary(joined);
    }

    /** Returns the members of a list; empty if the field is absent or empty, null if it is malformed. */
    public static @Nullable List<Member> list(FieldSection fields, FieldName name) {
        String joined = fields.joined(name);
        return joined == null ? List.of() : parseList(joined);
    }

    /** Returns the members of a dictionary (s4.2.2); null if the text is malformed. */
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

    /** Returns the members of a list (s4.2.1); null if the text is malformed. */
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

    /** Returns a single item (s4.2.3); null if the text is malformed. */
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
