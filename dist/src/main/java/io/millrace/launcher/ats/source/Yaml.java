package io.millrace.launcher.ats.source;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
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

/** Reads YAML files into nodes with positions, and accesses these nodes. Stateless. */
public final class Yaml {
    /** Limit of a file's length in code points, above the default limit of the parser. */
    private static final int LENGTH_MAX = 64 << 20;

    /**
     * An IPv6 address that begins with a colon, in a list in brackets. YAML 1.2 section 7.3.3 permits it as a plain
     * scalar, but the parser refuses it. The address is therefore quoted, which shifts the columns after it by two.
     */
    private static final Pattern ADDRESS = Pattern.compile("([\\[,]\\s*)(::[0-9A-Fa-f:.]*(?:/\\d+)?)(?=\\s*[,\\]])");

    private Yaml() {}

    /** Receives problems with their positions. */
    public interface Problems {
        void add(int line, int column, String message);
    }

    /** Returns the root node. Returns null if the file is empty or not YAML, after reporting the problem. */
    public static @Nullable Node root(SourceFile file) {
        return root(file.lines(), file::problem);
    }

    /**
     * Returns the root node of {@code lines}. Returns null if they are empty or not YAML, after reporting the problem.
     */
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
            // The parser is recursive, so a text that is nested too deeply overflows the stack.
            problems.add(1, 1, "YAML: the text is nested too deeply");
        }
        return null;
    }

    private static @Nullable Node compose(LoadSettings settings, String text) {
        return new Compose(settings).composeString(text).orElse(null);
    }

    /** Returns the pairs of a mapping by key; empty for any other node. */
    public static Map<String, NodeTuple> pairs(@Nullable Node node) {
        Map<String, NodeTuple> pairs = new LinkedHashMap<>();
        if (node instanceof MappingNode mapping) {
            for (NodeTuple tuple : mapping.getValue()) {
                pairs.put(text(tuple.getKeyNode()), tuple);
            }
        }
        return pairs;
    }

    /** Returns the value of a key; null if there is none. */
    public static @Nullable Node value(@Nullable Node node, String key) {
        NodeTuple tuple = pairs(node).get(key);
        return tuple == null ? null : tuple.getValueNode();
    }

    /** Returns the text of a key's scalar value; empty if there is none. */
    public static String text(@Nullable Node node, String key) {
        Node value = value(node, key);
        return value == null ? "" : text(value);
    }

    /** Returns the text of a scalar; empty for any other node. */
    public static String text(Node node) {
        return node instanceof ScalarNode scalar ? scalar.getValue() : "";
    }

    /** Returns the elements of a list; a single value is a list of one. */
    public static List<Node> elements(@Nullable Node node) {
        if (node == null) {
            return List.of();
        }
        return node instanceof SequenceNode sequence ? sequence.getValue() : List.of(node);
    }

    /** Returns the texts of a list; a single value is split at commas. */
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

    /** Returns the line of a node, from 1. */
    public static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }

    static int column(Node node) {
        return node.getStartMark().map(mark -> mark.getColumn() + 1).orElse(1);
    }

    /** Returns the last line of a node's text. The end mark of a block is in the following line. */
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

    /** Returns an entry for the lines from a node, such as a key, to the end of another. */
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

    /** Marks the line of a section's key as processed. The report does not list such a line. */
    public static void section(SourceFile file, Node key) {
        file.markProcessed(line(key), line(key));
    }
}
