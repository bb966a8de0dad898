package io.millrace.proxy.config.key;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A node of a configuration section whose keys are not in the catalogue, because an extension defines them. A node is a
 * text, a list or a section. Immutable. Two nodes are equal if they have the same content; the places are not compared.
 */
public final class ConfigTree {
    /** A section without keys and without a place. */
    public static final ConfigTree EMPTY = section(Map.of(), "");

    /** A text, a list of nodes, or a map of nodes. */
    private final Object content;

    private final String place;

    private ConfigTree(Object content, String place) {
        this.content = content;
        this.place = place;
    }

    /**
     * Returns a node with a single value.
     *
     * @param place file, line and column, such as {@code millrace.yaml:12:3}; empty if unknown
     */
    public static ConfigTree text(String text, String place) {
        return new ConfigTree(text, place);
    }

    /** Returns a list. The place is as for {@link #text(String, String)}. */
    public static ConfigTree list(List<ConfigTree> elements, String place) {
        return new ConfigTree(List.copyOf(elements), place);
    }

    /** Returns a section with its keys in the order of the map. The place is as for {@link #text(String, String)}. */
    public static ConfigTree section(Map<String, ConfigTree> children, String place) {
        return new ConfigTree(new LinkedHashMap<>(children), place);
    }

    /** The single value; null for a list or a section. */
    public @Nullable String text() {
        return content instanceof String text ? text : null;
    }

    /** The elements of a list; null for a single value or a section. */
    public @Nullable List<ConfigTree> elements() {
        return content instanceof List<?> list
                ? list.stream().map(ConfigTree.class::cast).toList()
                : null;
    }

    /** The nodes of a section by key, in the order of the file; null for a single value or a list. */
    public @Nullable Map<String, ConfigTree> children() {
        if (!(content instanceof Map<?, ?> map)) {
            return null;
        }
        Map<String, ConfigTree> children = new LinkedHashMap<>();
        map.forEach((key, node) -> children.put((String) key, (ConfigTree) node));
        return children;
    }

    /** File, line and column of the node; empty if unknown. */
    public String place() {
        return place;
    }

    /** The form of the node for messages: {@code a section}, {@code a list} or {@code a single value}. */
    public String kind() {
        return content instanceof Map ? "a section" : content instanceof List ? "a list" : "a single value";
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ConfigTree that && content.equals(that.content);
    }

    @Override
    public int hashCode() {
        return content.hashCode();
    }

    /** The content as Java collections, for display only. */
    @Override
    public String toString() {
        return content.toString();
    }
}
