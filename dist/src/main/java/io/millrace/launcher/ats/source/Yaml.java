package io.millrace.launcher.ats.source;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads Traffic Server's YAML files, with the places of what is in them. */
public final class Yaml {
    private static final int LENGTH_MAX = 64 << 20;

    /**
     * An IPv6 address that begins with a colon, in a list in brackets. YAML takes it for a plain scalar (s7.3.3), the parser does not:
     * it is quoted, behind which columns of that line are two further on.
     */
    private static final Pattern ADDRESS = Pattern.compile("([\\[,]\\s*)(::[0-9A-Fa-f:.]*(?:/\\d+)?)(?=\\s*[,\\]])");

    private Yaml() {}

    /** Takes what is wrong, with its place. */
    public interface Problems {
        void add(int line, int column, String message);
    }

    /** The root; null when the file is empty, or no YAML, which is then among the problems. */
    public static @Nullable Node root(SourceFile file) {
        return root(file.lines(), file::problem);
    }

    /** The same of lines. */
    public static @Nullable Node root(List<String> lines, Problems problems) {
        LoadSettings settings = LoadSettings.builder()
                .setUseMarks(true)
                .setAllowNonScalarKeys(true)
                .setCodePointLimit(LENGTH_MAX)
                .build();
        String text = String.join("\n", lines) + "\n";
        try {
            return compose(settings, text);
        } catch (MarkedYamlEngineException e) {
            String quoted = ADDRESS.matcher(text).replaceAll("$1\"$2\"");
            if (!quoted.equals(text)) {
                return root(List.of(quoted.split("\n", -1)), problems);
            }
            Mark mark = e.getProblemMark().or(e::getContextMark).orElse(null);
            String what = e.getProblem() == null ? "cannot be read" : e.getProblem();
            problems.add(
                    mark == null ? 1 : mark.getLine() + 1,
                    mark == null ? 1 : mark.getColumn() + 1,
                    "YAML: " + what.replaceAll("\\s*\\R\\s*", " "));
        } catch (YamlEngineException e) {
            problems.add(1, 1, "YAML: " + String.valueOf(e.getMessage()).replaceAll("\\s*\\R\\s*", " "));
        } catch (StackOverflowError e) {
            // The parser recurses; nothing of it is kept.
            problems.add(1, 1, "YAML: is nested too deeply");
        }
        return null;
    }

    private static @Nullable Node compose(LoadSettings settings, String text) {
        return new Compose(settings).composeString(text).orElse(null);
    }

    /** The pairs of a mapping by their keys; none of anything else. */
    public static Map<String, NodeTuple> pairs(@Nullable Node node) {
        Map<String, NodeTuple> pairs = new LinkedHashMap<>();
        if (node instanceof MappingNode mapping) {
            for (NodeTuple tuple : mapping.getValue()) {
                pairs.put(text(tuple.getKeyNode()), tuple);
            }
        }
        return pairs;
    }

    /** The value of a key; null when it is not there. */
    public static @Nullable Node value(@Nullable Node node, String key) {
        NodeTuple tuple = pairs(node).get(key);
        return tuple == null ? null : tuple.getValueNode();
    }

    /** The text of a scalar that is a key's value, or nothing. */
    public static String text(@Nullable Node node, String key) {
        Node value = value(node, key);
        return value == null ? "" : text(value);
    }

    /** The text of a scalar; of anything else, nothing. */
    public static String text(Node node) {
        return node instanceof ScalarNode scalar ? scalar.getValue() : "";
    }

    /** The elements of a list; a single value stands for a list of one. */
    public static List<Node> elements(@Nullable Node node) {
        if (node == null) {
            return List.of();
        }
        return node instanceof SequenceNode sequence ? sequence.getValue() : List.of(node);
    }

    /** The texts of a list; commas separate the words of a single value. */
    public static List<String> words(@Nullable Node node) {
        List<String> words = new ArrayList<>();
        for (Node each : elements(node)) {
            for (String word : text(each).split(",", -1)) {
                if (!word.isBlank()) {
                    words.add(word.strip());
                }
            }
        }
        return words;
    }

    /** Line of a node from 1. */
    public static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }

    static int column(Node node) {
        return node.getStartMark().map(mark -> mark.getColumn() + 1).orElse(1);
    }

    /** The last line that has something of it: of a block the mark behind it stands in the next line. */
    public static int lastLine(Node node) {
        if (node instanceof MappingNode mapping && !mapping.getValue().isEmpty()) {
            return lastLine(
                    mapping.getValue().get(mapping.getValue().size() - 1).getValueNode());
        }
        if (node instanceof SequenceNode sequence && !sequence.getValue().isEmpty()) {
            return lastLine(sequence.getValue().get(sequence.getValue().size() - 1));
        }
        Mark end = node.getEndMark().orElse(null);
        if (end == null) {
            return line(node);
        }
        return end.getColumn() == 0 && end.getLine() + 1 > line(node) ? end.getLine() : end.getLine() + 1;
    }

    /** An entry for a node, from a key on where there is one. */
    public static Entry entry(SourceFile file, Node from, Node to) {
        int first = line(from);
        int last = Math.max(first, lastLine(to));
        StringBuilder text = new StringBuilder();
        for (int i = first; i <= last && i <= file.lines().size(); i++) {
            String line = file.lines().get(i - 1).strip();
            if (!line.startsWith("#")) {
                text.append(i == first ? "" : " ").append(line);
            }
        }
        return file.entry(first, last, column(from), text.toString());
    }

    /** Says that the line of a key only opens a section. */
    public static void section(SourceFile file, Node key) {
        file.claim(line(key), line(key));
    }
}
