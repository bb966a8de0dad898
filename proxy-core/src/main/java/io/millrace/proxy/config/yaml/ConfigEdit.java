package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.problem.ConfigProblems;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.CollectionNode;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * The result of writing one value into the text of a configuration file. All other characters are kept: comments,
 * order, blanks. If the exact position of the value is uncertain, nothing is written, and there is an obstacle. To
 * verify the edit, the caller must parse the changed text and compare its values. Immutable.
 *
 * @param text the changed text; null if there is an obstacle
 * @param obstacle why nothing was written; with file, line and column if a part of the file is the reason; empty on
 *     success
 */
public record ConfigEdit(@Nullable String text, String obstacle) {
    private static final String INDENT = "  ";

    /** Thrown if the edit cannot be made. */
    private static final class Obstacle extends Exception {
        private static final long serialVersionUID = 1;

        Obstacle(String message) {
            super(message, null, false, false);
        }
    }

    /** The edited text, addressed by code points like the parser's marks. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Source(String text, int[] codePoints, String name, String newline) {
        /** Returns the text with the code points from {@code start} to before {@code end} replaced. */
        String replaced(int start, int end, String replacement) {
            int from = text.offsetByCodePoints(0, start);
            int to = text.offsetByCodePoints(from, end - start);
            return text.substring(0, from) + replacement + text.substring(to);
        }

        /** Returns the end of the line that contains {@code index}, before its newline. */
        int lineEnd(int index) {
            int end = index;
            while (end < codePoints.length && codePoints[end] != '\n' && codePoints[end] != '\r') {
                end++;
            }
            return end;
        }

        boolean hasComment(int start, int end) {
            for (int i = start; i < end; i++) {
                if (codePoints[i] == '#') {
                    return true;
                }
            }
            return false;
        }

        Obstacle obstacle(Node at, String why) {
            Mark mark = at.getStartMark().orElseThrow();
            return new Obstacle(name + ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1) + ": " + why
                    + "; change it by hand, then reload");
        }
    }

    /**
     * Writes a value into the text of a configuration file.
     *
     * @param text a configuration file that was read without errors
     * @param name file name in the obstacle
     * @param path path of a key outside of list elements
     * @param value text as for {@code --set}; a list in square brackets
     */
    public static ConfigEdit of(String text, String name, String path, String value) {
        ConfigProblems problems = new ConfigProblems();
        boolean hasByteOrderMark = text.startsWith("\uFEFF");
        String plain = hasByteOrderMark ? text.substring(1) : text;
        Node root = YamlText.composeCompletely(plain, name, problems);
        Source source = new Source(plain, plain.codePoints().toArray(), name, plain.contains("\r\n") ? "\r\n" : "\n");
        try {
            ConfigKey<?> key = ConfigCatalog.find(path);
            if (key == null || !(root instanceof MappingNode mapping)) {
                throw new Obstacle(
                        name + ": " + path + " cannot be added: the file is not a mapping, or the key is unknown");
            }
            String edited = write(source, mapping, List.of(path.split("\\.", -1)), yaml(key, value));
            return new ConfigEdit(hasByteOrderMark ? "\uFEFF" + edited : edited, "");
        } catch (Obstacle e) {
            return new ConfigEdit(null, String.valueOf(e.getMessage()));
        }
    }

    private static String yaml(ConfigKey<?> key, String value) throws Obstacle {
        if (key.type() != ValueType.LIST) {
            return FlowText.value(key, FlowText.unbracketed(key, value.strip()));
        }
        String list = value.strip();
        if (!list.startsWith("[") || list.contains("\n") || list.contains("\r")) {
            throw new Obstacle(key.path() + " is a list: write the list in square brackets, on one line");
        }
        return list;
    }

    private static String write(Source source, MappingNode root, List<String> path, String value) throws Obstacle {
        MappingNode section = root;
        for (int depth = 0; ; depth++) {
            NodeTuple tuple = find(section, path.get(depth));
            List<String> rest = path.subList(depth, path.size());
            if (tuple == null) {
                return insert(source, root, section, rest, value);
            }
            refuseAnchors(source, tuple);
            if (rest.size() == 1) {
                return replace(source, tuple, value);
            }
            Node below = tuple.getValueNode();
            if (below instanceof MappingNode mapping) {
                section = mapping;
            } else {
                return fill(source, root, section, tuple, path.subList(depth + 1, path.size()), value);
            }
        }
    }

    private static @Nullable NodeTuple find(MappingNode section, String name) {
        for (NodeTuple tuple : section.getValue()) {
            if (tuple.getKeyNode() instanceof ScalarNode scalar
                    && scalar.getValue().equals(name)) {
                return tuple;
            }
        }
        return null;
    }

    /** Refuses a value with an anchor, an alias or a tag. An edit of an aliased value would change several places. */
    private static void refuseAnchors(Source source, NodeTuple tuple) throws Obstacle {
        Node value = tuple.getValueNode();
        boolean isAlias = start(value) < end(tuple.getKeyNode());
        if (value.getAnchor().isPresent() || isAlias) {
            throw source.obstacle(tuple.getKeyNode(), "has an anchor or an alias");
        }
        int start = start(value);
        if (start < source.codePoints().length && source.codePoints()[start] == '!') {
            throw source.obstacle(tuple.getKeyNode(), "has a tag");
        }
    }

    private static String replace(Source source, NodeTuple tuple, String value) throws Obstacle {
        Node old = tuple.getValueNode();
        if (old instanceof ScalarNode scalar) {
            if (scalar.getScalarStyle() == ScalarStyle.LITERAL || scalar.getScalarStyle() == ScalarStyle.FOLDED) {
                throw source.obstacle(old, "is a block of text");
            }
            if (start(old) == end(old)) {
                int colon = afterColon(source, tuple);
                return source.replaced(colon, colon, " " + value);
            }
            return source.replaced(start(old), end(old), value);
        }
        boolean flow = ((CollectionNode<?>) old).getFlowStyle() == FlowStyle.FLOW;
        int start = flow ? start(old) : afterColon(source, tuple);
        int end = contentEnd(source, old);
        if (source.hasComment(start, end)) {
            throw source.obstacle(old, "has comments inside, which would be lost");
        }
        return source.replaced(start, end, (flow ? "" : " ") + value);
    }

    /** Returns the position after the colon of a key. */
    private static int afterColon(Source source, NodeTuple tuple) throws Obstacle {
        int index = end(tuple.getKeyNode());
        while (index < source.codePoints().length && source.codePoints()[index] == ' ') {
            index++;
        }
        if (index == source.codePoints().length || source.codePoints()[index] != ':') {
            throw source.obstacle(tuple.getKeyNode(), "is written in a form that cannot be edited automatically");
        }
        return index + 1;
    }

    /** Writes the value as the first entry of an empty section. */
    private static String fill(
            Source source, MappingNode root, MappingNode parent, NodeTuple tuple, List<String> rest, String value)
            throws Obstacle {
        Node empty = tuple.getValueNode();
        if (parent.getFlowStyle() == FlowStyle.FLOW || start(empty) != end(empty)) {
            throw source.obstacle(tuple.getKeyNode(), "is written in a form that cannot be edited automatically");
        }
        int column = column(tuple.getKeyNode()) + indentWidth(root);
        int end = source.lineEnd(afterColon(source, tuple));
        return source.replaced(end, end, source.newline() + lines(source, root, column, rest, value));
    }

    private static String insert(
            Source source, MappingNode root, MappingNode section, List<String> rest, String value) {
        List<NodeTuple> tuples = section.getValue();
        NodeTuple last = tuples.isEmpty() ? null : tuples.get(tuples.size() - 1);
        if (section.getFlowStyle() == FlowStyle.FLOW) {
            StringBuilder entry = new StringBuilder(last == null ? "" : ", ").append(String.join(": {", rest));
            entry.append(": ").append(value).append("}".repeat(rest.size() - 1));
            int at = last == null ? start(section) + 1 : contentEnd(source, last);
            return source.replaced(at, at, entry.toString());
        }
        int end = source.lineEnd(last == null ? start(section) : contentEnd(source, last));
        int column = last == null ? 0 : column(tuples.get(0).getKeyNode());
        return source.replaced(end, end, source.newline() + lines(source, root, column, rest, value));
    }

    private static String lines(Source source, MappingNode root, int column, List<String> rest, String value) {
        StringBuilder lines = new StringBuilder();
        int indent = column;
        for (int i = 0; i < rest.size(); i++) {
            lines.append(i == 0 ? "" : source.newline())
                    .append(" ".repeat(indent))
                    .append(rest.get(i))
                    .append(':');
            indent += indentWidth(root);
        }
        return lines.append(' ').append(value).toString();
    }

    /** Returns the number of columns by which the file indents sections. */
    private static int indentWidth(MappingNode root) {
        for (NodeTuple tuple : root.getValue()) {
            if (tuple.getValueNode() instanceof MappingNode section
                    && section.getFlowStyle() != FlowStyle.FLOW
                    && column(section) > column(tuple.getKeyNode())) {
                return column(section) - column(tuple.getKeyNode());
            }
        }
        return INDENT.length();
    }

    private static int contentEnd(Source source, NodeTuple tuple) {
        boolean isAlias = start(tuple.getValueNode()) < end(tuple.getKeyNode());
        return isAlias ? source.lineEnd(end(tuple.getKeyNode())) : contentEnd(source, tuple.getValueNode());
    }

    /**
     * Returns the position after the last character of a value. The parser's end mark of a block also includes the
     * comments that follow the block.
     */
    private static int contentEnd(Source source, Node node) {
        boolean block = node instanceof CollectionNode<?> collection && collection.getFlowStyle() != FlowStyle.FLOW;
        if (block && node instanceof MappingNode mapping && !mapping.getValue().isEmpty()) {
            return contentEnd(source, mapping.getValue().get(mapping.getValue().size() - 1));
        }
        if (block
                && node instanceof SequenceNode sequence
                && !sequence.getValue().isEmpty()) {
            return contentEnd(
                    source, sequence.getValue().get(sequence.getValue().size() - 1));
        }
        int end = end(node);
        while (end > start(node) && Character.isWhitespace(source.codePoints()[end - 1])) {
            end--;
        }
        return end;
    }

    private static int start(Node node) {
        return node.getStartMark().orElseThrow().getIndex();
    }

    private static int end(Node node) {
        return node.getEndMark().orElseThrow().getIndex();
    }

    private static int column(Node node) {
        return node.getStartMark().orElseThrow().getColumn();
    }
}
