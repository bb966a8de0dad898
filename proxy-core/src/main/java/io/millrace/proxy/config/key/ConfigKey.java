package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.InvalidValueException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A configuration key, with all properties of the setting. All keys together are the catalogue, from which validation,
 * {@code config describe}, the reference page and the JSON Schema are derived. Immutable; compared by identity.
 *
 * @param <T> the type of the value
 */
public final class ConfigKey<T> {
    /** How a change of a setting is applied. None of the ways needs downtime. */
    public enum Apply {
        /** The running worker (the process that serves requests) applies the change at once. */
        LIVE,
        /** A new worker starts beside the old one, which then finishes its requests and ends. */
        ROLLING,
        /** The launcher (the worker's parent) must be restarted; its sockets and its worker are kept. */
        RELAUNCH;

        /** Name in lower case, for reports and the reference page. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final String path;
    private final ValueType<T> type;
    private final @Nullable T min;
    private final @Nullable T max;
    private final @Nullable T defaultValue;
    private final @Nullable String defaultText;
    private final Apply apply;
    private final boolean perRule;
    private final boolean required;
    private final boolean wholeSeconds;
    private final boolean orZero;
    private final String description;
    private final @Nullable String trafficServerName;

    private ConfigKey(Builder<T> builder) {
        path = builder.path;
        type = builder.type;
        min = builder.min;
        max = builder.max;
        defaultValue = builder.defaultValue;
        defaultText = builder.defaultText;
        apply = builder.apply;
        perRule = builder.perRule;
        required = builder.required;
        wholeSeconds = builder.wholeSeconds;
        orZero = builder.orZero;
        description = builder.description;
        trafficServerName = builder.trafficServerName;
    }

    /** Full name, such as {@code cache.ram_size}; fields of list elements are written as {@code storage[].path}. */
    public String path() {
        return path;
    }

    /** Last part of the path: {@code ram_size}. */
    public String name() {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    public ValueType<T> type() {
        return type;
    }

    /** The smallest value, formatted as in a file; null if there is no bound. */
    public @Nullable String minText() {
        return min == null ? null : type.format(min);
    }

    /** The largest value, formatted as in a file; null if there is no bound. */
    public @Nullable String maxText() {
        return max == null ? null : type.format(max);
    }

    public @Nullable T min() {
        return min;
    }

    public @Nullable T max() {
        return max;
    }

    /** The default; null if there is none. */
    public @Nullable T defaultValue() {
        return defaultValue;
    }

    /** The default, formatted as in a file, or in words if it depends on the machine. Null if there is none. */
    public @Nullable String defaultText() {
        if (defaultText != null) {
            return defaultText;
        }
        return defaultValue == null ? null : type.format(defaultValue);
    }

    public Apply apply() {
        return apply;
    }

    /** Returns true if a remap rule may override this key. */
    public boolean isPerRule() {
        return perRule;
    }

    /** Returns true if 0 is allowed although it is below the smallest value. */
    public boolean allowsZero() {
        return orZero;
    }

    /** Returns true if this key is required in an element of a list. */
    public boolean isRequired() {
        return required;
    }

    /** The effect of the setting, in one or more sentences. */
    public String description() {
        return description;
    }

    /** The Traffic Server record with the same effect; null if there is none. */
    public @Nullable String trafficServerName() {
        return trafficServerName;
    }

    /** Returns true if a text, written as in a file, is the default value. */
    public boolean isDefault(String text) {
        try {
            return defaultValue != null && defaultValue.equals(read(text));
        } catch (InvalidValueException e) {
            return false;
        }
    }

    /** Parses a value and checks its bounds. */
    public T read(String text) throws InvalidValueException {
        T value = type.read(text.trim());
        check(value);
        return value;
    }

    /** Checks the bounds of a value. */
    void check(T value) throws InvalidValueException {
        boolean zero = orZero && type.format(value).equals("0");
        if (min != null && compare(value, min) < 0 && !zero) {
            throw new InvalidValueException(
                    type.format(value) + " is below the limit of " + type.format(min) + (orZero ? ", and not 0" : ""));
        }
        if (max != null && compare(value, max) > 0) {
            throw new InvalidValueException(type.format(value) + " is above the limit of " + type.format(max));
        }
        if (wholeSeconds && value instanceof Duration duration && duration.toNanosPart() != 0) {
            throw new InvalidValueException(type.format(value) + " is not a whole number of seconds");
        }
    }

    public String format(Object value) {
        return type.format(type.cast(value));
    }

    @SuppressWarnings("unchecked") // Bounds exist only for types that are Comparable to themselves.
    private static <V> int compare(V a, V b) {
        return ((Comparable<V>) a).compareTo(b);
    }

    @Override
    public String toString() {
        return path;
    }

    public static <T> Builder<T> builder(String path, ValueType<T> type) {
        return new Builder<>(path, type);
    }

    /** Collects the properties of a key; {@link #description} builds the key. */
    public static final class Builder<T> {
        private final String path;
        private final ValueType<T> type;
        private @Nullable T min;
        private @Nullable T max;
        private @Nullable T defaultValue;
        private @Nullable String defaultText;
        private Apply apply = Apply.LIVE;
        private boolean perRule;
        private boolean required;
        private boolean wholeSeconds;
        private boolean orZero;
        private String description = "";
        private @Nullable String trafficServerName;

        private Builder(String path, ValueType<T> type) {
            this.path = path;
            this.type = type;
        }

        public Builder<T> within(T least, T most) {
            min = least;
            max = most;
            return this;
        }

        public Builder<T> defaultsTo(T value) {
            defaultValue = value;
            return this;
        }

        public Builder<T> defaultsTo(T value, String words) {
            defaultText = words;
            return defaultsTo(value);
        }

        public Builder<T> rolling() {
            apply = Apply.ROLLING;
            return this;
        }

        Builder<T> relaunch() {
            apply = Apply.RELAUNCH;
            return this;
        }

        public Builder<T> perRule() {
            perRule = true;
            return this;
        }

        public Builder<T> required() {
            required = true;
            return this;
        }

        public Builder<T> wholeSeconds() {
            wholeSeconds = true;
            return this;
        }

        public Builder<T> orZero() {
            orZero = true;
            return this;
        }

        public Builder<T> atsName(String name) {
            trafficServerName = name;
            return this;
        }

        public ConfigKey<T> description(String text) {
            description = text;
            return new ConfigKey<>(this);
        }
    }
}
