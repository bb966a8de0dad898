package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.InvalidValueException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A map from keys to values. The values belong to a whole configuration, a list element, or a remap rule. A key that
 * was not set has its default value. Immutable.
 */
public final class ConfigValues {
    private static final ConfigValues EMPTY = new ConfigValues(new LinkedHashMap<>(), null);

    private final Map<ConfigKey<?>, Object> values;
    private final @Nullable String filePosition;

    private ConfigValues(Map<ConfigKey<?>, Object> values, @Nullable String filePosition) {
        this.values = values;
        this.filePosition = filePosition;
    }

    public static ConfigValues empty() {
        return EMPTY;
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Returns true if the key was set, even if to its default. */
    public boolean isSet(ConfigKey<?> key) {
        return values.containsKey(key);
    }

    /** The number of keys that were set. */
    public int size() {
        return values.size();
    }

    /** Returns the value that was set, else the default, else null. */
    public <T> @Nullable T find(ConfigKey<T> key) {
        Object value = values.get(key);
        return value == null ? key.defaultValue() : key.type().cast(value);
    }

    /**
     * Returns the value that was set, else the default.
     *
     * @throws IllegalStateException if there is neither
     */
    public <T> T get(ConfigKey<T> key) {
        T value = find(key);
        if (value == null) {
            throw new IllegalStateException(key.path() + ": no value and no default");
        }
        return value;
    }

    /** Returns the elements of a list; empty if the list was not set. */
    public List<ConfigValues> elements(ConfigKey<List<ConfigValues>> key) {
        List<ConfigValues> elements = find(key);
        return elements == null ? List.of() : elements;
    }

    /** Returns the value, formatted as in a file; null if there is no value. */
    public @Nullable <T> String text(ConfigKey<T> key) {
        T value = find(key);
        return value == null ? null : key.type().format(value);
    }

    /** File position of these values, such as {@code millrace.yaml:12:5}; null if they were set in code. */
    public @Nullable String filePosition() {
        return filePosition;
    }

    /** Returns these values, completed by the values of {@code fallback} for keys that are not set here. */
    public ConfigValues over(ConfigValues fallback) {
        LinkedHashMap<ConfigKey<?>, Object> merged = new LinkedHashMap<>(fallback.values);
        merged.putAll(values);
        return new ConfigValues(merged, filePosition);
    }

    /** Returns these values except that of one key. */
    public ConfigValues without(ConfigKey<?> key) {
        if (!isSet(key)) {
            return this;
        }
        LinkedHashMap<ConfigKey<?>, Object> others = new LinkedHashMap<>(values);
        others.remove(key);
        return new ConfigValues(others, filePosition);
    }

    /** Returns true if a key was set that a remap rule may override. Most rules set none. */
    public boolean hasSettingsOfRule() {
        for (ConfigKey<?> key : values.keySet()) {
            if (key.isPerRule()) {
                return true;
            }
        }
        return false;
    }

    /** Returns only the values of keys that a remap rule may override. */
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
        builder.filePosition = filePosition;
        return builder;
    }

    /** Equal if the same keys have equal values; the file positions are not compared. */
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

    /** Like {@link #toString(Iterable)}, in the order in which the keys were set. */
    @Override
    public String toString() {
        return toString(values.keySet());
    }

    /** Formats the values in the order of the given keys: {@code {cache.enabled=false, cache.ram_size=1GiB}}. */
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
        private @Nullable String filePosition;

        private Builder() {}

        /**
         * Sets a value.
         *
         * @throws IllegalArgumentException if the value is out of bounds; the message contains key and limit
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

        /** Sets a value that the key itself has parsed, without another check. */
        public void put(ConfigKey<?> key, Object value) {
            values.put(key, value);
        }

        public void filePosition(String position) {
            filePosition = position;
        }

        public boolean isSet(ConfigKey<?> key) {
            return values.containsKey(key);
        }

        /** Returns the value that was set so far; null if there is none. */
        public <T> @Nullable T find(ConfigKey<T> key) {
            Object value = values.get(key);
            return value == null ? null : key.type().cast(value);
        }

        /** Returns the elements of a list that were set so far. */
        public List<ConfigValues> elements(ConfigKey<?> list) {
            Object value = values.get(list);
            return value == null ? List.of() : ValueType.LIST.cast(value);
        }

        public ConfigValues build() {
            return new ConfigValues(new LinkedHashMap<>(values), filePosition);
        }
    }
}
