package io.millrace.proxy.extension;

import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A section of configuration as a map. The values are texts, numbers, booleans, lists and maps, as a YAML parser
 * returns them.
 *
 * <p>Confined to one thread.
 */
public final class ConfigSection implements ExtensionConfig {
    /** A section without keys. */
    public static final ExtensionConfig EMPTY = new ConfigSection(Map.of(), key -> "");

    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ms|s|m|h|d)");

    private final Map<String, Object> values;
    private final UnaryOperator<String> places;
    private final String path;
    private final Set<String> read;

    /**
     * Creates the top section of an extension's configuration.
     *
     * @param values by key
     * @param places returns the file, line and column of a key, given its path such as {@code service.urls[2]}; an
     *     empty text if it is unknown
     */
    public ConfigSection(Map<String, ?> values, UnaryOperator<String> places) {
        this(values, places, "");
    }

    private ConfigSection(Map<?, ?> values, UnaryOperator<String> places, String path) {
        this.values = new LinkedHashMap<>();
        values.forEach((key, value) -> this.values.put(String.valueOf(key), value));
        this.places = places;
        this.path = path;
        this.read = new HashSet<>();
    }

    private @Nullable Object value(String key) {
        read.add(key);
        return values.get(key);
    }

    private String pathOf(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    @Override
    public Set<String> keys() {
        return Collections.unmodifiableSet(values.keySet());
    }

    @Override
    public boolean has(String key) {
        return values.get(key) != null;
    }

    @Override
    public String text(String key) throws ExtensionConfigException {
        if (value(key) == null) {
            throw problem(key, "the key is missing; it needs a text");
        }
        return text(key, "");
    }

    @Override
    public String text(String key, String defaultValue) throws ExtensionConfigException {
        Object value = value(key);
        return value == null ? defaultValue : scalar(key, value);
    }

    private String scalar(String key, @Nullable Object value) throws ExtensionConfigException {
        if (value instanceof String || value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        throw problem(key, "the value is not a text");
    }

    @Override
    public long number(String key, long defaultValue, long min, long max) throws ExtensionConfigException {
        Object value = value(key);
        if (value == null) {
            return defaultValue;
        }
        try {
            long number = Long.parseLong(scalar(key, value));
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below, as a number out of its bounds.
        }
        throw problem(key, "\"" + value + "\" is not an integer from " + min + " to " + max);
    }

    @Override
    public boolean flag(String key, boolean defaultValue) throws ExtensionConfigException {
        Object value = value(key);
        if (value == null) {
            return defaultValue;
        }
        return switch (scalar(key, value)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw problem(key, "\"" + value + "\" is neither true nor false");
        };
    }

    @Override
    public Duration duration(String key, Duration defaultValue) throws ExtensionConfigException {
        Object value = value(key);
        if (value == null) {
            return defaultValue;
        }
        Matcher found = DURATION.matcher(scalar(key, value).toLowerCase(Locale.ROOT));
        if (!found.matches()) {
            throw problem(key, "\"" + value + "\" is not a duration such as 500ms, 30s, 5m, 1h or 1d");
        }
        long number = Long.parseLong(found.group(1));
        return switch (found.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }

    @Override
    public List<String> texts(String key) throws ExtensionConfigException {
        Object value = value(key);
        List<String> texts = new ArrayList<>();
        if (value instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                texts.add(scalar(key + "[" + i + "]", list.get(i)));
            }
        } else if (value != null) {
            throw problem(key, "the value is not a list");
        }
        return List.copyOf(texts);
    }

    @Override
    public ExtensionConfig section(String key) throws ExtensionConfigException {
        Object value = value(key);
        return value == null ? EMPTY : section(key, value);
    }

    private ExtensionConfig section(String key, @Nullable Object value) throws ExtensionConfigException {
        if (value instanceof Map<?, ?> map) {
            return new ConfigSection(map, places, pathOf(key));
        }
        throw problem(key, "the value is not a section with keys of its own");
    }

    @Override
    public List<ExtensionConfig> sections(String key) throws ExtensionConfigException {
        Object value = value(key);
        List<ExtensionConfig> sections = new ArrayList<>();
        if (value instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                sections.add(section(key + "[" + i + "]", list.get(i)));
            }
        } else if (value != null) {
            throw problem(key, "the value is not a list of sections");
        }
        return List.copyOf(sections);
    }

    @Override
    public void rejectOtherKeys() throws ExtensionConfigException {
        for (String key : values.keySet()) {
            if (!read.contains(key)) {
                throw problem(key, "the extension has no such key; it reads " + new TreeSet<>(read));
            }
        }
    }

    @Override
    public ExtensionConfigException problem(String key, String message) {
        String full = pathOf(key);
        return new ExtensionConfigException(places.apply(full), full, message);
    }
}
