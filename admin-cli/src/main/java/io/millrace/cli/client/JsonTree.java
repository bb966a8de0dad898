package io.millrace.cli.client;

import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** A fluent writer of nested JSON objects and arrays. Confined to one thread. */
public final class JsonTree {
    private final JsonGenerator json;

    private JsonTree(JsonGenerator json) {
        this.json = json;
    }

    /** Returns an object in UTF-8, whose members the consumer writes. */
    public static byte[] object(Consumer<JsonTree> members) {
        return JsonText.object(json -> members.accept(new JsonTree(json)));
    }

    /** Writes a string; omitted if the value is null. */
    public JsonTree text(String name, @Nullable String value) {
        if (value != null) {
            json.writeStringProperty(name, value);
        }
        return this;
    }

    /** Writes a number. */
    public JsonTree number(String name, long value) {
        json.writeNumberProperty(name, value);
        return this;
    }

    /** Writes a number with at most three decimals; omitted if it is NaN or infinite. */
    public JsonTree fraction(String name, double value) {
        if (!Double.isNaN(value) && !Double.isInfinite(value)) {
            json.writeNumberProperty(name, Math.round(value * 1000) / 1000.0);
        }
        return this;
    }

    /** Writes a boolean. */
    public JsonTree bool(String name, boolean value) {
        json.writeBooleanProperty(name, value);
        return this;
    }

    /** Writes an array of strings. */
    public JsonTree texts(String name, Iterable<String> values) {
        json.writeArrayPropertyStart(name);
        values.forEach(json::writeString);
        json.writeEndArray();
        return this;
    }

    /** Writes a nested object. */
    public JsonTree nested(String name, Consumer<JsonTree> members) {
        json.writeObjectPropertyStart(name);
        members.accept(this);
        json.writeEndObject();
        return this;
    }

    /** Writes a nested object that contains an object for each map entry, named by its key. */
    public <T> JsonTree each(String name, Map<String, T> entries, BiConsumer<JsonTree, T> members) {
        return nested(
                name, self -> entries.forEach((key, value) -> nested(key, inner -> members.accept(inner, value))));
    }

    /** Writes an array of objects. */
    public <T> JsonTree array(String name, Iterable<T> elements, BiConsumer<JsonTree, T> members) {
        json.writeArrayPropertyStart(name);
        for (T element : elements) {
            json.writeStartObject();
            members.accept(this, element);
            json.writeEndObject();
        }
        json.writeEndArray();
        return this;
    }
}
