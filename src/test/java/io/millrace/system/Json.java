package io.millrace.system;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** A JSON value with access by dotted path. Immutable. */
final class Json {

    private static final JsonFactory FACTORY = new JsonFactory();

    private final @Nullable Object value;
    private final String source;

    private Json(@Nullable Object value, String source) {
        this.value = value;
        this.source = source;
    }

    static Json parse(String text) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
            parser.nextToken();
            Object value = read(parser);
            if (parser.nextToken() != null) {
                throw new AssertionError("more than one JSON value: " + text);
            }
            return new Json(value, text);
        }
    }

    private static @Nullable Object read(JsonParser parser) {
        JsonToken token = parser.currentToken();
        if (token == null) {
            throw new AssertionError("no JSON value");
        }
        switch (token) {
            case START_OBJECT -> {
                Map<String, @Nullable Object> object = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    object.put(name, read(parser));
                }
                return object;
            }
            case START_ARRAY -> {
                List<@Nullable Object> array = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    array.add(read(parser));
                }
                return array;
            }
            case VALUE_NUMBER_INT -> {
                return parser.getLongValue();
            }
            case VALUE_NUMBER_FLOAT -> {
                return parser.getDoubleValue();
            }
            case VALUE_TRUE -> {
                return true;
            }
            case VALUE_FALSE -> {
                return false;
            }
            case VALUE_NULL -> {
                return null;
            }
            default -> {
                return parser.getString();
            }
        }
    }

    /**
     * Returns the value at a dotted path such as {@code process.worker_pid}; a missing member or element is a null
     * value.
     */
    Json at(String path) {
        Object current = value;
        for (String name : path.split("\\.", -1)) {
            if (current instanceof Map<?, ?> object) {
                current = object.get(name);
            } else if (current instanceof List<?> array && name.chars().allMatch(Character::isDigit)) {
                int index = Integer.parseInt(name);
                current = index < array.size() ? array.get(index) : null;
            } else {
                current = null;
            }
        }
        return new Json(current, source);
    }

    boolean isNull() {
        return value == null;
    }

    String text() {
        return String.valueOf(value);
    }

    long number() {
        if (value instanceof Number number) {
            return number.longValue();
        }
        throw new AssertionError("not a number: " + value + " in " + source);
    }

    boolean isTrue() {
        return Boolean.TRUE.equals(value);
    }

    List<Json> elements() {
        if (value instanceof List<?> list) {
            return list.stream().map(element -> new Json(element, source)).toList();
        }
        throw new AssertionError("not an array: " + value + " in " + source);
    }

    @Override
    public String toString() {
        return source;
    }
}
