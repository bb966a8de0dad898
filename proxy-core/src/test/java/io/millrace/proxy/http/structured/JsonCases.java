package io.millrace.proxy.http.structured;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** The working group's cases as maps, lists, strings, booleans, {@link Long}s and {@link BigDecimal}s. */
final class JsonCases {

    private JsonCases() {}

    /** Returns the cases of one file of the test resources. */
    static List<Map<String, Object>> of(String file) {
        try (InputStream in = JsonCases.class.getResourceAsStream("/structured-fields/" + file)) {
            if (in == null) {
                throw new AssertionError("no test resource " + file);
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), text)) {
                parser.nextToken();
                List<Map<String, Object>> cases = new ArrayList<>();
                for (Object one : (List<?>) read(parser)) {
                    cases.add(object(one));
                }
                return cases;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @SuppressWarnings("unchecked") // Returns an object as read() returns it.
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    private static Object read(JsonParser parser) {
        @Nullable JsonToken token = parser.currentToken();
        switch (token) {
            case START_OBJECT -> {
                Map<String, Object> object = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    object.put(name, read(parser));
                }
                return object;
            }
            case START_ARRAY -> {
                List<Object> array = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    array.add(read(parser));
                }
                return array;
            }
            case VALUE_NUMBER_INT -> {
                return parser.getLongValue();
            }
            case VALUE_NUMBER_FLOAT -> {
                return parser.getDecimalValue();
            }
            case VALUE_TRUE -> {
                return true;
            }
            case VALUE_FALSE -> {
                return false;
            }
            case VALUE_STRING -> {
                return parser.getString();
            }
            default -> throw new AssertionError("unexpected in a case: " + token);
        }
    }
}
