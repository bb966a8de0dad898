package io.millrace.proxy.extension.config;

import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Suggestions;
import io.millrace.proxy.config.value.Units;
import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A section of an extension's configuration, read from a {@link ConfigTree}. Confined to one thread. */
public final class SectionConfig implements ExtensionConfig {
    private final Map<String, ConfigTree> children;
    private final String place;
    private final String path;

    /** Keys that a method has asked for. */
    private final Set<String> read = new LinkedHashSet<>();

    private SectionConfig(Map<String, ConfigTree> children, String place, String path) {
        this.children = children;
        this.place = place;
        this.path = path;
    }

    /**
     * Returns the view of a section.
     *
     * @throws IllegalArgumentException if the node is a list or a single value
     */
    public static SectionConfig of(ConfigTree section) {
        Map<String, ConfigTree> children = section.children();
        if (children == null) {
            throw new IllegalArgumentException("must be a section, this is " + section.kind());
        }
        return new SectionConfig(children, section.place(), "");
    }

    /** Returns the view of a section without keys. */
    public static SectionConfig empty() {
        return of(ConfigTree.EMPTY);
    }

    @Override
    public Set<String> keys() {
        return Collections.unmodifiableSet(children.keySet());
    }

    @Override
    public boolean has(String key) {
        return children.containsKey(key);
    }

    @Override
    public String text(String key) throws ExtensionConfigException {
        String text = find(key);
        if (text == null) {
            throw new ExtensionConfigException(place, pathOf(key), "missing; it takes a text");
        }
        return text;
    }

    @Override
    public String text(String key, String defaultValue) throws ExtensionConfigException {
        String text = find(key);
        return text == null ? defaultValue : text;
    }

    @Override
    public long number(String key, long defaultValue, long min, long max) throws ExtensionConfigException {
        String text = find(key);
        if (text == null) {
            return defaultValue;
        }
        long number;
        try {
            number = Long.parseLong(text.strip());
        } catch (NumberFormatException e) {
            throw problem(key, "'" + text + "' is not an integer");
        }
        if (number < min || number > max) {
            throw problem(
                    key, number + (number < min ? " is below the limit of " + min : " is above the limit of " + max));
        }
        return number;
    }

    @Override
    public boolean flag(String key, boolean defaultValue) throws ExtensionConfigException {
        String text = find(key);
        if (text == null) {
            return defaultValue;
        }
        boolean isTrue = text.strip().equals("true");
        if (!isTrue && !text.strip().equals("false")) {
            throw problem(key, "'" + text + "' is neither true nor false");
        }
        return isTrue;
    }

    @Override
    public Duration duration(String key, Duration defaultValue) throws ExtensionConfigException {
        String text = find(key);
        if (text == null) {
            return defaultValue;
        }
        try {
            return Units.parseDuration(text.strip());
        } catch (InvalidValueException e) {
            throw problem(key, e.problem());
        }
    }

    @Override
    public List<String> texts(String key) throws ExtensionConfigException {
        List<String> texts = new ArrayList<>();
        for (ConfigTree element : elements(key)) {
            String text = element.text();
            if (text == null) {
                throw new ExtensionConfigException(
                        element.place(),
                        pathOf(key) + "[" + texts.size() + "]",
                        "must be a single value, this is " + element.kind());
            }
            texts.add(text);
        }
        return List.copyOf(texts);
    }

    @Override
    public ExtensionConfig section(String key) throws ExtensionConfigException {
        read.add(key);
        ConfigTree node = children.get(key);
        return node == null ? new SectionConfig(Map.of(), place, pathOf(key)) : below(node, pathOf(key));
    }

    @Override
    public List<ExtensionConfig> sections(String key) throws ExtensionConfigException {
        List<ExtensionConfig> elements = new ArrayList<>();
        for (ConfigTree element : elements(key)) {
            elements.add(below(element, pathOf(key) + "[" + elements.size() + "]"));
        }
        return List.copyOf(elements);
    }

    private SectionConfig below(ConfigTree node, String nodePath) throws ExtensionConfigException {
        Map<String, ConfigTree> nodes = node.children();
        if (nodes == null) {
            throw new ExtensionConfigException(node.place(), nodePath, "must be a section, this is " + node.kind());
        }
        return new SectionConfig(nodes, node.place(), nodePath);
    }

    @Override
    public void rejectOtherKeys() throws ExtensionConfigException {
        for (Map.Entry<String, ConfigTree> entry : children.entrySet()) {
            if (!read.contains(entry.getKey())) {
                String suggestion = Suggestions.closest(entry.getKey(), read);
                throw problem(
                        entry.getKey(),
                        "unknown key" + (suggestion == null ? "" : " (did you mean " + suggestion + "?)"));
            }
        }
    }

    @Override
    public ExtensionConfigException problem(String key, String message) {
        ConfigTree node = children.get(key);
        return new ExtensionConfigException(node == null ? place : node.place(), pathOf(key), message);
    }

    private List<ConfigTree> elements(String key) throws ExtensionConfigException {
        read.add(key);
        ConfigTree node = children.get(key);
        if (node == null) {
            return List.of();
        }
        List<ConfigTree> elements = node.elements();
        if (elements == null) {
            throw problem(key, "must be a list, this is " + node.kind());
        }
        return elements;
    }

    /** Returns a single value; null if the key is missing. */
    private @Nullable String find(String key) throws ExtensionConfigException {
        read.add(key);
        ConfigTree node = children.get(key);
        if (node == null) {
            return null;
        }
        String text = node.text();
        if (text == null) {
            throw problem(key, "must be a single value, this is " + node.kind());
        }
        return text;
    }

    private String pathOf(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }
}
