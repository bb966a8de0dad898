package io.millrace.proxy.expression;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The set of fields that the expressions of one command or setting may name.
 *
 * <p>Immutable.
 *
 * @param <S> the type of the subject
 */
public final class Schema<S> {
    private final Map<String, Field<S>> fields = new LinkedHashMap<>();

    private Schema(List<Field<S>> fields) {
        for (Field<S> field : fields) {
            if (this.fields.put(field.name(), field) != null) {
                throw new IllegalArgumentException("duplicate field: " + field);
            }
        }
    }

    /** Returns a schema of fields with different names, each of lower-case letters, digits and underscores. */
    public static <S> Schema<S> of(List<Field<S>> fields) {
        return new Schema<>(fields);
    }

    /** Returns the field with the name; null if there is none. */
    @Nullable
    Field<S> find(String name) {
        return fields.get(name);
    }

    /** Returns the names, in the order of the fields. */
    Collection<String> names() {
        return fields.keySet();
    }

    /** Returns the fields, in their order on the reference page. */
    public List<Field<S>> fields() {
        return List.copyOf(fields.values());
    }
}
