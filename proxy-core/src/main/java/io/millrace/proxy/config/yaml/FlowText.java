package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.problem.ConfigProblems;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Formats values as one line of YAML. Thread-safe: the methods are static and share no state. */
public final class FlowText {
    /** Characters besides letters and digits that a scalar without quotes may contain. */
    private static final String PLAIN_PUNCTUATION = "_-./%+";

    private FlowText() {}

    /**
     * Formats the value of a key; a list becomes {@code [{map: /, to: "http://origin/"}]}. Null if there is no value.
     *
     * @param lengthMax length after which the text of a list is cut; then the number of entries is appended
     */
    public static @Nullable String of(ConfigValues values, ConfigKey<?> key, int lengthMax) {
        if (key.type() == ValueType.SECTION) {
            return values.find(key) instanceof ConfigTree tree ? tree(tree) : null;
        }
        if (key.type() != ValueType.LIST) {
            return values.text(key);
        }
        Object value = values.find(key);
        return value == null ? null : list(ValueType.LIST.cast(value), key, lengthMax);
    }

    private static String list(List<ConfigValues> elements, ConfigKey<?> key, int lengthMax) {
        StringBuilder text = new StringBuilder("[");
        for (ConfigValues element : elements) {
            if (text.length() > lengthMax) {
                return text + ", ...] (" + key.format(elements) + ")";
            }
            text.append(text.length() == 1 ? "" : ", ");
            // An element that sets only this key is written as a plain scalar.
            ConfigKey<?> shorthandKey = ConfigShape.keyOfWord(key);
            String wordText = shorthandKey == null || element.size() > 1 ? null : element.text(shorthandKey);
            if (wordText == null) {
                Map<String, Object> tree = new LinkedHashMap<>();
                collect(ConfigShape.element(key), element, tree, lengthMax);
                write(tree, text);
            } else {
                text.append(scalar(wordText));
            }
        }
        return text.append(']').toString();
    }

    private static void collect(ConfigShape shape, ConfigValues element, Map<String, Object> tree, int lengthMax) {
        for (String name : shape.names()) {
            ConfigKey<?> key = shape.key(name);
            ConfigShape section = shape.section(name);
            if (key != null && element.isSet(key)) {
                String text = of(element, key, lengthMax);
                tree.put(name, key.type() == ValueType.LIST ? String.valueOf(text) : value(key, String.valueOf(text)));
            } else if (section != null && key == null) {
                Map<String, Object> subtree = new LinkedHashMap<>();
                collect(section, element, subtree, lengthMax);
                if (!subtree.isEmpty()) {
                    tree.put(name, subtree);
                }
            }
        }
    }

    private static void write(Map<?, ?> tree, StringBuilder text) {
        text.append('{');
        String separator = "";
        for (Map.Entry<?, ?> entry : tree.entrySet()) {
            text.append(separator).append(entry.getKey()).append(": ");
            if (entry.getValue() instanceof Map<?, ?> subtree) {
                write(subtree, text);
            } else {
                text.append(entry.getValue());
            }
            separator = ", ";
        }
        text.append('}');
    }

    /** Formats one value as YAML text from which the loader reads the same value. */
    static String value(ConfigKey<?> key, String text) {
        if (key.type() == ValueType.SECTION) {
            return text;
        }
        if (key.type() == ValueType.FIELD_LINES) {
            return fieldLines(text);
        }
        // The loader reads a list of expressions as one text separated by spaces.
        if (!key.type().isWords() || key.type().isSpaced()) {
            return scalar(text);
        }
        if (text.equals("[]")) {
            return text;
        }
        StringBuilder list = new StringBuilder("[");
        for (String word : text.split(",", -1)) {
            list.append(list.length() == 1 ? "" : ", ").append(scalar(word.trim()));
        }
        return list.append(']').toString();
    }

    private static String tree(ConfigTree node) {
        Map<String, ConfigTree> children = node.children();
        List<ConfigTree> elements = node.elements();
        if (children != null) {
            List<String> pairs = new ArrayList<>();
            children.forEach((key, child) -> pairs.add(scalar(key) + ": " + tree(child)));
            return "{" + String.join(", ", pairs) + "}";
        }
        if (elements != null) {
            return "[" + String.join(", ", elements.stream().map(FlowText::tree).toList()) + "]";
        }
        return scalar(String.valueOf(node.text()));
    }

    /** Formats lines {@code Name: value} as a section; lines with the same name become a list. */
    private static String fieldLines(String text) {
        Map<String, List<String>> fields = new LinkedHashMap<>();
        for (String line : text.split("\n", -1)) {
            int colon = line.indexOf(':');
            String value = line.substring(colon + 1).strip();
            fields.computeIfAbsent(line.substring(0, colon), name -> new ArrayList<>())
                    .add(scalar(value));
        }
        StringBuilder section = new StringBuilder("{");
        fields.forEach((name, values) -> section.append(section.length() == 1 ? "" : ", ")
                .append(scalar(name))
                .append(": ")
                .append(values.size() == 1 ? values.get(0) : "[" + String.join(", ", values) + "]"));
        return section.append('}').toString();
    }

    /**
     * Converts a list of words in square brackets to words separated by commas, or by spaces if words may contain
     * commas. Any other text is returned unchanged.
     *
     * <p>{@code ["a", b]} becomes {@code a,b}, the same value as a YAML list of these words.
     */
    static String unbracketed(ConfigKey<?> key, String text) {
        String list = text.strip();
        if (!key.type().isWords() || !list.startsWith("[") || !list.endsWith("]") || list.equals("[]")) {
            return text;
        }
        if (!(YamlText.compose(list, "", new ConfigProblems()) instanceof SequenceNode sequence)) {
            return text;
        }
        List<String> words = new ArrayList<>();
        for (Node element : sequence.getValue()) {
            if (!(element instanceof ScalarNode scalar)) {
                return text;
            }
            words.add(scalar.getValue());
        }
        return words.isEmpty() ? "[]" : String.join(key.type().isSpaced() ? " " : ",", words);
    }

    /**
     * Formats a scalar so that no environment variable is replaced. It is quoted unless a plain scalar is safe in every
     * context.
     */
    static String scalar(String text) {
        boolean plain = !text.isEmpty()
                && Character.isLetterOrDigit(text.charAt(0))
                && text.chars()
                        .allMatch(c -> c < 0x80 && (Character.isLetterOrDigit(c) || PLAIN_PUNCTUATION.indexOf(c) >= 0))
                && !text.equalsIgnoreCase("null");
        if (plain || text.equals("/")) {
            return text;
        }
        StringBuilder quoted = new StringBuilder("\"");
        text.replace("${", "$${").codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                quoted.append('\\').appendCodePoint(c);
            } else if (c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff) {
                String digits = Integer.toHexString(c);
                quoted.append("\\u").append("0".repeat(4 - digits.length())).append(digits);
            } else {
                quoted.appendCodePoint(c);
            }
        });
        return quoted.append('"').toString();
    }
}
