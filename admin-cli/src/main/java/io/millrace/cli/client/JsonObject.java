package io.millrace.cli.client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * A parsed JSON object with lenient access. A member that is absent, null or of another type counts as missing, since
 * older and newer versions of Millrace may send other members. Immutable.
 */
public final class JsonObject {
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final JsonObject EMPTY = new JsonObject(Map.of());

    /** Each value is a String, Long, Double, Boolean, JsonObject, or a list of these. No value is null. */
    private final Map<String, Object> members;

    private JsonObject(Map<String, Object> members) {
        this.members = members;
    }

    /** Returns an object without members. */
    public static JsonObject empty() {
        return EMPTY;
    }

    /**
     * Parses an object in UTF-8.
     *
     * @throws IllegalArgumentException if the text is not a JSON object
     */
    public static JsonObject parse(byte[] text) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new IllegalArgumentException("it does not start with '{'");
            }
            JsonObject object = object(parser);
            if (parser.nextToken() != null) {
                throw new IllegalArgumentException("it has data after the closing '}'");
            }
            return object;
        } catch (JacksonException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
    }

    private static JsonObject object(JsonParser parser) {
        Map<String, Object> members = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            Object value = value(parser);
            if (name != null && value != null) {
                members.put(name, value);
            }
        }
        return new JsonObject(members);
    }

    private static List<Object> array(JsonParser parser) {
        List<Object> elements = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            Object value = value(parser);
            if (value != null) {
                elements.add(value);
            }
        }
        return elements;
    }

    private static @Nullable Object value(JsonParser parser) {
        return switch (parser.currentToken()) {
            case START_OBJECT -> object(parser);
            case START_ARRAY -> array(parser);
            case VALUE_STRING -> parser.getString();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NUMBER_INT -> integer(parser);
            case VALUE_NUMBER_FLOAT -> (Object) parser.getDoubleValue();
            default -> null;
        };
    }

    private static Object integer(JsonParser parser) {
        return parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                ? (Object) parser.getDoubleValue()
                : (Object) parser.getLongValue();
    }

    /** Returns the names of the members that are not null, in their order. */
    public Set<String> names() {
        return Collections.unmodifiableSet(members.keySet());
    }

    /** Whether the member exists and is not null. */
    public boolean has(String name) {
        return members.containsKey(name);
    }

    /** Returns a string; null if it is missing. */
    public @Nullable String text(String name) {
        return members.get(name) instanceof String text ? text : null;
    }

    /** Returns a string; {@code otherwise} if it is missing. */
    public String text(String name, String otherwise) {
        return members.get(name) instanceof String text ? text : otherwise;
    }

    /** Returns a number without its fraction; {@code otherwise} if it is missing. */
    public long number(String name, long otherwise) {
        return members.get(name) instanceof Number number ? number.longValue() : otherwise;
    }

    /** Returns a number with its fraction; {@code otherwise} if it is missing. */
    public double fraction(String name, double otherwise) {
        return members.get(name) instanceof Number number ? number.doubleValue() : otherwise;
    }

    /** Whether the member is {@code true}. */
    public boolean isTrue(String name) {
        return Boolean.TRUE.equals(members.get(name));
    }

    /** Returns an object; an empty object if it is missing. */
    public JsonObject object(String name) {
        return members.get(name) instanceof JsonObject object ? object : EMPTY;
    }

    /** Returns the objects of an array; empty if it is missing. */
    public List<JsonObject> objects(String name) {
        List<JsonObject> objects = new ArrayList<>();
        if (members.get(name) instanceof List<?> elements) {
            for (Object element : elements) {
                if (element instanceof JsonObject object) {
                    objects.add(object);
                }
            }
        }
        return objects;
    }

    /** Returns the numbers of an array; empty if it is missing. */
    public List<Double> fractions(String name) {
        List<Double> fractions = new ArrayList<>();
        if (members.get(name) instanceof List<?> elements) {
            for (Object element : elements) {
                if (element instanceof Number number) {
                    fractions.add(number.doubleValue());
                }
            }
        }
        return fractions;
    }

    /** Returns the strings of an array; empty if it is missing. */
    public List<String> texts(String name) {
        List<String> texts = new ArrayList<>();
        if (members.get(name) instanceof List<?> elements) {
            for (Object element : elements) {
                if (element instanceof String text) {
                    texts.add(text);
                }
            }
        }
        return texts;
    }
}
