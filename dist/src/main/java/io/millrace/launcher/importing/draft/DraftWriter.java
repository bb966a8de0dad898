package io.millrace.launcher.importing.draft;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Printable;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The writer of an imported configuration as YAML with comments. Keys are written in the order of the reference page.
 * An object writes one file.
 */
public final class DraftWriter {
    /** Scalars that need no quotes, whether alone or in a list in brackets. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9/._+~-]+(:[A-Za-z0-9/._+~-]+)*");

    /** Texts that YAML would not read as the same text without quotes. */
    private static final Pattern WORD_OF_YAML = Pattern.compile("(?i)~|-+|null|yes|no|on|off|[-+.]?[0-9].*:.*|-.*");

    /** Limit of a comment line in characters, including its indentation. */
    private static final int WIDTH = 110;

    private final StringBuilder out = new StringBuilder();

    /** Source lines whose remarks were already written, at an earlier key. */
    private final Set<Entry> remarked = new HashSet<>();

    /**
     * Writes a whole file.
     *
     * @param head comment at the beginning
     * @param tail comment at the end
     */
    String write(DraftNode root, List<String> head, List<String> tail) {
        writeComment("", head);
        for (Map.Entry<String, DraftNode> field : sorted(root, "")) {
            out.append('\n');
            writeField(field.getKey(), field.getKey(), field.getValue(), "");
        }
        if (!tail.isEmpty()) {
            out.append('\n');
            writeComment("", tail);
        }
        return out.toString();
    }

    private static List<Map.Entry<String, DraftNode>> sorted(DraftNode section, String path) {
        List<Map.Entry<String, DraftNode>> fields = new ArrayList<>();
        section.fields().entrySet().stream()
                .filter(field -> !field.getValue().isEmpty())
                .forEach(fields::add);
        fields.sort(
                Comparator.comparingInt(field -> order(path.isEmpty() ? field.getKey() : path + "." + field.getKey())));
        return fields;
    }

    /** Returns the position on the reference page of a key or section. */
    private static int order(String path) {
        List<ConfigKey<?>> keys = ConfigCatalog.keys();
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i).path();
            if (key.startsWith(path)
                    && (key.length() == path.length() || ".[".indexOf(key.charAt(path.length())) >= 0)) {
                return i;
            }
        }
        return keys.size();
    }

    private void writeField(String name, String path, DraftNode node, String indent) {
        writeRemarks(node, indent);
        out.append(indent).append(name).append(':');
        writeValue(path, node, indent);
    }

    private void writeValue(String path, DraftNode node, String indent) {
        if (node.isLeaf()) {
            out.append(' ').append(scalar(node));
            endLine(node);
        } else if (!node.elements().isEmpty()) {
            endLine(node);
            for (DraftNode element : node.elements()) {
                writeElement(path + "[]", element, indent + "  ");
            }
        } else {
            endLine(node);
            for (Map.Entry<String, DraftNode> field : sorted(node, path)) {
                writeField(field.getKey(), path + "." + field.getKey(), field.getValue(), indent + "  ");
            }
        }
    }

    private void writeElement(String path, DraftNode element, String indent) {
        writeRemarks(element, indent);
        if (element.isLeaf()) {
            out.append(indent).append("- ").append(scalar(element));
            endLine(element);
            return;
        }
        boolean first = true;
        for (Map.Entry<String, DraftNode> field : element.fields().entrySet()) {
            DraftNode node = field.getValue();
            if (node.isEmpty()) {
                continue;
            }
            if (!first) {
                writeRemarks(node, indent + "  ");
            }
            out.append(indent)
                    .append(first ? "- " : "  ")
                    .append(field.getKey())
                    .append(':');
            int at = out.length();
            writeValue(path + "." + field.getKey(), node, indent + "  ");
            if (first) {
                sourceComment(element, at);
            }
            first = false;
        }
    }

    /** Writes the source lines of an element as a comment after its first key. */
    private void sourceComment(DraftNode element, int after) {
        int endLine = out.indexOf("\n", after);
        String sourceComment = sourcePlaces(element);
        if (sourceComment != null && out.indexOf("  # ", after) < 0) {
            out.insert(endLine, "  # " + sourceComment);
        }
    }

    private static String scalar(DraftNode node) {
        List<String> words = node.words();
        return words == null
                ? quoted(String.valueOf(node.text()))
                : words.stream().map(DraftWriter::quoted).collect(Collectors.joining(", ", "[", "]"));
    }

    /**
     * Formats a text as a YAML scalar. Uses single quotes if necessary, and double quotes if characters need escapes.
     * Escapes {@code $} before braces, since the loader would insert an environment variable.
     */
    public static String quoted(String text) {
        String literal = text.replace("${", "$${");
        if (!literal.equals(Printable.text(literal))) {
            return escaped(literal);
        }
        return PLAIN.matcher(literal).matches()
                        && !WORD_OF_YAML.matcher(literal).matches()
                ? literal
                : "'" + literal.replace("'", "''") + "'";
    }

    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                escaped.append('\\').append(c);
            } else if (c >= ' ' && c < 0x7f) {
                escaped.append(c);
            } else {
                escaped.append(String.format("\\u%04x", (int) c));
            }
        }
        return escaped.append('"').toString();
    }

    private void endLine(DraftNode node) {
        String sourceComment = sourcePlaces(node);
        out.append(sourceComment == null ? "\n" : "  # " + sourceComment + "\n");
    }

    private static @Nullable String sourcePlaces(DraftNode node) {
        return node.sources().isEmpty()
                ? null
                : node.sources().stream().map(Entry::place).distinct().collect(Collectors.joining(", "));
    }

    private void writeRemarks(DraftNode node, String indent) {
        List<String> lines = new ArrayList<>(node.remarks());
        for (Entry source : node.sources()) {
            String remark = source.remark();
            if (remark != null && remarked.add(source)) {
                lines.add(remark);
            }
        }
        writeComment(indent, lines);
    }

    private void writeComment(String indent, List<String> lines) {
        for (String line : lines) {
            int width = Math.max(40, WIDTH - indent.length());
            String rest = Printable.text(line);
            while (rest.length() > width) {
                int cut = rest.lastIndexOf(' ', width);
                cut = cut <= 0 ? width : cut;
                out.append(indent).append("# ").append(rest, 0, cut).append('\n');
                rest = "  " + rest.substring(cut).strip();
            }
            out.append(indent).append(rest.isEmpty() ? "#" : "# " + rest).append('\n');
        }
    }
}
