package io.millrace.proxy.expression;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields that expressions of one place may name.
 *
 * <p>Immutable.
 *
 * @param <S> the subject that an expression is evaluated for
 */
public final class Schema<S> {
    private final Map<String, Field<S>> fields = new LinkedHashMap<>();

    private Schema(List<Field<S>> fields) {
        for (Field<S> field : fields) {
            if (this.fields.put(field.name(), field) != null) {
                throw new IllegalArgumentException("field twice: " + field);
            }
        }
    }

    /** Of these fields, each with a name of its own, in lower case letters, digits and underscores. */
    public static <S> Schema<S> of(List<Field<S>> fields) {
        return new Schema<>(fields);
    }

    /** The field of that name; null when there is none. */
    @Nullable
    Field<S> find(String name) {
        return fields.get(name);
    }

    /** Names in order. */
    Collection<String> names() {
        return fields.keySet();
    }

    /** The fields in order. */
    public List<Field<S>> fields() {
        return List.copyOf(fields.values());
    }
}
