package io.millrace.proxy.admin;

import java.io.ByteArrayOutputStream;
import java.util.HashMap;
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

/** The JSON that the admin API reads and writes, by streaming. Thread-safe. */
final class Json {
    private static final JsonFactory FACTORY = new JsonFactory();

    private Json() {}

    /** One object as UTF-8. */
    static byte[] object(Consumer<JsonGenerator> members) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(512);
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            members.accept(json);
            json.writeEndObject();
        }
        return out.toByteArray();
    }

    static JsonParser parser(byte[] text) {
        return FACTORY.createParser(ObjectReadContext.empty(), text);
    }

    /** Writes a member unless its value is null. */
    static void optional(JsonGenerator json, String name, @Nullable String value) {
        if (value != null) {
            json.writeStringProperty(name, value);
        }
    }

    /**
     * Reads a request's body: an object whose members are strings.
     *
     * @param known the names it may have
     * @throws AdminException if it is anything else
     */
    static Map<String, String> strings(byte[] body, Set<String> known) throws AdminException {
        Map<String, String> members = new HashMap<>();
        if (body.length == 0) {
            return members;
        }
        try (JsonParser parser = parser(body)) {
            expect(parser.nextToken() == JsonToken.START_OBJECT, "the body must be a JSON object");
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = String.valueOf(parser.currentName());
                expect(known.contains(name), "unknown member '" + name + "', known are " + known);
                expect(parser.nextToken() == JsonToken.VALUE_STRING, "the member '" + name + "' must be a string");
                expect(members.put(name, parser.getString()) == null, "the member '" + name + "' stands there twice");
            }
            expect(parser.nextToken() == null, "the body goes on after the JSON object");
        } catch (JacksonException e) {
            throw new AdminException(400, "bad-request", "the body is not JSON: " + e.getOriginalMessage());
        }
        return members;
    }

    private static void expect(boolean condition, String message) throws AdminException {
        if (!condition) {
            throw new AdminException(400, "bad-request", message);
        }
    }
}
