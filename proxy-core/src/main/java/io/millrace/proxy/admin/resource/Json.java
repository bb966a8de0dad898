package io.millrace.proxy.admin.resource;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Reads and writes JSON of the admin API with a streaming parser. Thread-safe: no state. */
public final class Json {
    private static final JsonFactory FACTORY = new JsonFactory();

    private Json() {}

    /** Returns a JSON object as UTF-8 text. */
    static byte[] object(Consumer<JsonGenerator> members) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(512);
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            members.accept(json);
            json.writeEndObject();
        }
        return out.toByteArray();
    }

    /** Returns a parser of a JSON text; the caller must close it. */
    public static JsonParser parser(byte[] text) {
        return FACTORY.createParser(ObjectReadContext.empty(), text);
    }

    /** Writes a member unless its value is null. */
    static void optional(JsonGenerator json, String name, @Nullable String value) {
        if (value != null) {
            json.writeStringProperty(name, value);
        }
    }

    /** Writes an array of strings. */
    public static void strings(JsonGenerator json, String name, List<String> values) {
        json.writeArrayPropertyStart(name);
        values.forEach(json::writeString);
        json.writeEndArray();
    }

    /**
     * Reads the body of a request: an object with string members.
     *
     * @param known the permitted names
     * @throws AdminException if the body is not such an object
     */
    public static Map<String, String> strings(byte[] body, Set<String> known) throws AdminException {
        Map<String, String> members = new HashMap<>();
        if (body.length == 0) {
            return members;
        }
        try (JsonParser parser = parser(body)) {
            expect(parser.nextToken() == JsonToken.START_OBJECT, "the body must be a JSON object");
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = unicode(String.valueOf(parser.currentName()));
                expect(known.contains(name), "unknown member '" + name + "', known are " + known);
                expect(parser.nextToken() == JsonToken.VALUE_STRING, "the member '" + name + "' must be a string");
                expect(
                        members.put(name, unicode(parser.getString())) == null,
                        "the member '" + name + "' is given twice");
            }
            expect(parser.nextToken() == null, "the body contains data after the JSON object");
        } catch (JacksonException e) {
            throw new AdminException(400, "bad-request", "the body is not JSON: " + e.getOriginalMessage());
        }
        return members;
    }

    /**
     * Reads the body of a request, a JSON object. Its values are strings, numbers, booleans, lists of strings and
     * objects of strings.
     *
     * @throws AdminException if the body is not such an object
     */
    public static Map<String, Object> members(byte[] body) throws AdminException {
        Map<String, Object> members = new LinkedHashMap<>();
        if (body.length == 0) {
            return members;
        }
        try (JsonParser parser = parser(body)) {
            expect(parser.nextToken() == JsonToken.START_OBJECT, "the body must be a JSON object");
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = unicode(String.valueOf(parser.currentName()));
                parser.nextToken();
                expect(members.put(name, value(parser, name)) == null, "the member '" + name + "' is given twice");
            }
            expect(parser.nextToken() == null, "the body contains data after the JSON object");
        } catch (JacksonException e) {
            throw new AdminException(400, "bad-request", "the body is not JSON: " + e.getOriginalMessage());
        }
        return members;
    }

    private static Object value(JsonParser parser, String name) throws AdminException {
        JsonToken token = parser.currentToken();
        if (token == JsonToken.VALUE_STRING) {
            return unicode(parser.getString());
        } else if (token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE) {
            return token == JsonToken.VALUE_TRUE;
        } else if (token == JsonToken.VALUE_NUMBER_INT) {
            return parser.getLongValue();
        } else if (token == JsonToken.START_ARRAY) {
            List<String> words = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                expect(parser.currentToken() == JsonToken.VALUE_STRING, "'" + name + "' must contain strings only");
                words.add(unicode(parser.getString()));
            }
            return words;
        }
        expect(token == JsonToken.START_OBJECT, "the member '" + name + "' has an unsupported type");
        Map<String, String> nested = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = unicode(String.valueOf(parser.currentName()));
            expect(parser.nextToken() == JsonToken.VALUE_STRING, "'" + name + "." + key + "' must be a string");
            expect(nested.put(key, unicode(parser.getString())) == null, "'" + name + "." + key + "' is given twice");
        }
        return nested;
    }

    /** Refuses members with unknown names. */
    public static void onlyMembers(Map<String, Object> members, List<String> known) throws AdminException {
        for (String name : members.keySet()) {
            expect(known.contains(name), "unknown member '" + name + "', known are " + known);
        }
    }

    /** Returns a member; null if it is missing. */
    public static <T> @Nullable T member(Map<String, Object> members, String name, Class<T> type)
            throws AdminException {
        Object value = members.get(name);
        expect(value == null || type.isInstance(value), "the member '" + name + "' has the wrong type");
        return value == null ? null : type.cast(value);
    }

    /** Returns a member that is an object of strings; empty if it is missing. */
    public static Map<String, String> strings(Map<String, Object> members, String name) throws AdminException {
        Map<String, String> strings = new LinkedHashMap<>();
        Map<?, ?> value = member(members, name, Map.class);
        if (value != null) {
            value.forEach((key, text) -> strings.put(String.valueOf(key), String.valueOf(text)));
        }
        return strings;
    }

    /** Returns a member that is a list of strings; empty if it is missing. */
    public static List<String> list(Map<String, Object> members, String name) throws AdminException {
        List<String> words = new ArrayList<>();
        List<?> value = member(members, name, List.class);
        if (value != null) {
            value.forEach(word -> words.add(String.valueOf(word)));
        }
        return words;
    }

    /** Returns the text. Refuses an unpaired surrogate, which cannot be written to an answer or a log. */
    private static String unicode(String text) throws AdminException {
        expect(StandardCharsets.UTF_8.newEncoder().canEncode(text), "the body has an unpaired surrogate");
        return text;
    }

    private static void expect(boolean condition, String message) throws AdminException {
        if (!condition) {
            throw new AdminException(400, "bad-request", message);
        }
    }
}
