package io.millrace.cli.client;

import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** JSON with names and values that others give, as a tree of objects and arrays. */
public final class JsonTree {
    private final JsonGenerator json;

    private JsonTree(JsonGenerator json) {
        this.json = json;
    }

    /** An object. */
    public static byte[] object(Consumer<JsonTree> members) {
        return JsonText.object(json -> members.accept(new JsonTree(json)));
    }

    /** A member; left out when its value is null. */
    public JsonTree text(String name, @Nullable String value) {
        if (value != null) {
            json.writeStringProperty(name, value);
        }
        return this;
    }

    /** A number. */
    public JsonTree number(String name, long value) {
        json.writeNumberProperty(name, value);
        return this;
    }

    /** A number with three digits behind the point at most; left out when it is none. */
    public JsonTree fraction(String name, double value) {
        if (!Double.isNaN(value) && !Double.isInfinite(value)) {
            json.writeNumberProperty(name, Math.round(value * 1000) / 1000.0);
        }
        return this;
    }

    /** Whether something holds. */
    public JsonTree truth(String name, boolean value) {
        json.writeBooleanProperty(name, value);
        return this;
    }

    /** An array of strings. */
    public JsonTree texts(String name, Iterable<String> values) {
        json.writeArrayPropertyStart(name);
        values.forEach(json::writeString);
        json.writeEndArray();
        return this;
    }

    /** An object below. */
    public JsonTree below(String name, Consumer<JsonTree> members) {
        json.writeObjectPropertyStart(name);
        members.accept(this);
        json.writeEndObject();
        return this;
    }

    /** An object below, with a member for each entry. */
    public <T> JsonTree each(String name, Map<String, T> entries, BiConsumer<JsonTree, T> members) {
        return below(name, self -> entries.forEach((key, value) -> below(key, inner -> members.accept(inner, value))));
    }

    /** An array of objects. */
    public <T> JsonTree all(String name, Iterable<T> elements, BiConsumer<JsonTree, T> members) {
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
