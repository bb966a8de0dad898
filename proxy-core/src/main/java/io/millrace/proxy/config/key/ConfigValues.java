package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.InvalidValueException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Values by key: of a whole configuration, of one element of a list, or the settings that one remap rule makes for
 * itself. A key that was not set has the catalogue's default. Immutable.
 */
public final class ConfigValues {
    private static final ConfigValues EMPTY = new ConfigValues(new LinkedHashMap<>(), null);

    private final Map<ConfigKey<?>, Object> values;
    private final @Nullable String origin;

    private ConfigValues(Map<ConfigKey<?>, Object> values, @Nullable String origin) {
        this.values = values;
        this.origin = origin;
    }

    public static ConfigValues empty() {
        return EMPTY;
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Whether the key was set, to whatever value. */
    public boolean isSet(ConfigKey<?> key) {
        return values.containsKey(key);
    }

    /** How many keys were set. */
    public int size() {
        return values.size();
    }

    /** The value that was set, else the default, else null. */
    public <T> @Nullable T find(ConfigKey<T> key) {
        Object value = values.get(key);
        return value == null ? key.defaultValue() : key.type().cast(value);
    }

    /**
     * The value that was set, else the default.
     *
     * @throws IllegalStateException when there is neither
     */
    public <T> T get(ConfigKey<T> key) {
        T value = find(key);
        if (value == null) {
            throw new IllegalStateException(key.path() + ": no value and no default");
        }
        return value;
    }

    /** The elements of a list; none when it was not set. */
    public List<ConfigValues> elements(ConfigKey<List<ConfigValues>> key) {
        List<ConfigValues> elements = find(key);
        return elements == null ? List.of() : elements;
    }

    /** As it would be written in the file; null when there is no value. */
    public @Nullable <T> String text(ConfigKey<T> key) {
        T value = find(key);
        return value == null ? null : key.type().format(value);
    }

    /** Where these values stand, as {@code millrace.yaml:12:5}; null when they come from code. */
    public @Nullable String origin() {
        return origin;
    }

    /** These values, and for what they do not set those of {@code fallback}. */
    public ConfigValues over(ConfigValues fallback) {
        LinkedHashMap<ConfigKey<?>, Object> merged = new LinkedHashMap<>(fallback.values);
        merged.putAll(values);
        return new ConfigValues(merged, origin);
    }

    /** Those of the keys that a rule may set for itself. */
    public ConfigValues settingsOfRule() {
        LinkedHashMap<ConfigKey<?>, Object> settings = new LinkedHashMap<>();
        values.forEach((key, value) -> {
            if (key.isPerRule()) {
                settings.put(key, value);
            }
        });
        return settings.isEmpty() ? EMPTY : new ConfigValues(settings, null);
    }

    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.values.putAll(values);
        builder.origin = origin;
        return builder;
    }

    /** Equal values for the same keys, wherever they stand. */
    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof ConfigValues that) || values.size() != that.values.size()) {
            return false;
        }
        for (Map.Entry<ConfigKey<?>, Object> entry : values.entrySet()) {
            if (!entry.getValue().equals(that.values.get(entry.getKey()))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        int hash = 0;
        for (Map.Entry<ConfigKey<?>, Object> entry : values.entrySet()) {
            hash += entry.getKey().path().hashCode() ^ entry.getValue().hashCode();
        }
        return hash;
    }

    /** As {@link #toString(Iterable)} in the order in which the keys were set. */
    @Override
    public String toString() {
        return toString(values.keySet());
    }

    /** In the order of the given keys: {@code {cache.enabled=false, cache.ram_size=1GiB}}. */
    public String toString(Iterable<? extends ConfigKey<?>> order) {
        StringBuilder text = new StringBuilder("{");
        for (ConfigKey<?> key : order) {
            Object value = values.get(key);
            if (value != null) {
                text.append(text.length() == 1 ? "" : ", ")
                        .append(key.path())
                        .append('=')
                        .append(key.format(value));
            }
        }
        return text.append('}').toString();
    }

    /** Collects values. Confined to one thread. */
    public static final class Builder {
        private final LinkedHashMap<ConfigKey<?>, Object> values = new LinkedHashMap<>();
        private @Nullable String origin;

        private Builder() {}

        /**
         * Sets a value.
         *
         * @throws IllegalArgumentException when it is out of bounds; the message names key and limit
         */
        public <T> Builder set(ConfigKey<T> key, T value) {
            try {
                key.check(value);
            } catch (InvalidValueException e) {
                throw new IllegalArgumentException(key.path() + ": " + e.problem(), e);
            }
            values.put(key, value);
            return this;
        }

        /** Puts a value that the key has read itself. */
        public void put(ConfigKey<?> key, Object value) {
            values.put(key, value);
        }

        public void origin(String where) {
            origin = where;
        }

        public boolean isSet(ConfigKey<?> key) {
            return values.containsKey(key);
        }

        /** What was set so far; null when nothing was. */
        public <T> @Nullable T find(ConfigKey<T> key) {
            Object value = values.get(key);
            return value == null ? null : key.type().cast(value);
        }

        /** The elements of a list so far. */
        public List<ConfigValues> elements(ConfigKey<?> list) {
            Object value = values.get(list);
            return value == null ? List.of() : ValueType.LIST.cast(value);
        }

        public ConfigValues build() {
            return new ConfigValues(new LinkedHashMap<>(values), origin);
        }
    }
}
