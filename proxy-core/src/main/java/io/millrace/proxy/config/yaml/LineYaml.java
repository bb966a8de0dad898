package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.problem.ConfigDocument;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.resolver.ScalarResolver;
import org.snakeyaml.engine.v2.schema.JsonSchema;

/**
 * A fast parser of the YAML that long configurations consist of: block mappings and block sequences whose scalars and
 * flow collections do not span lines. It gives up at anything else, such as aliases, tags, tabs and errors. Then the
 * complete parser reads the text, so that only the complete parser reports errors.
 *
 * <p>Returns the same nodes as the complete parser, with the same start marks, but without end marks. Confined to one
 * thread.
 */
final class LineYaml {
    /** Limit of nested collections. */
    private static final int DEPTH_MAX = 64;

    /** Limit of characters of a key. The complete parser permits 1024. */
    private static final int KEY_LENGTH_MAX = 1000;

    /** Characters that no plain scalar begins with, or whose meaning depends on the next character. */
    private static final String INDICATORS = "-?:,[]{}#&*!|>'\"%@`";

    private static final String FLOW_ENDS = ",[]{}";
    private static final ScalarResolver RESOLVER = new JsonSchema().getScalarResolver();
    private static final int[] NO_BUFFER = {};

    private final String text;
    /** The characters of the text. An array is read faster than a string before the JVM has compiled this class. */
    private final char[] chars;

    private final String name;
    /** Begin of the current line. */
    private int lineStart;
    /** End of the current line, without the line feed. */
    private int end = -1;
    /** Number of the current line, from 0. */
    private int line = -1;
    /** First character of the content of the current line. */
    private int at;
    /** Column of the content; -1 after the last line. */
    private int indent;
    /** First index after the last scalar or flow collection. */
    private int after;

    /** Thrown for text that the complete parser has to read. */
    private static final class OtherYamlException extends Exception {
        private static final long serialVersionUID = 1;

        OtherYamlException() {
            super("not in the supported form", null, false, false);
        }
    }

    private LineYaml(String text, String name) {
        this.text = text;
        this.name = name;
        chars = text.toCharArray();
    }

    /**
     * Returns the root node of a text; null if the complete parser has to read the text.
     *
     * @param name name of the text in marks
     */
    static @Nullable Node compose(String text, String name) {
        if (text.length() > ConfigDocument.LENGTH_MAX) {
            return null;
        }
        LineYaml parser = new LineYaml(text, name);
        if (!hasSupportedCharacters(parser.chars)) {
            return null;
        }
        try {
            parser.advance();
            Node root = parser.indent == 0 ? parser.block(0, 0) : null;
            return parser.indent == -1 ? root : null;
        } catch (OtherYamlException e) {
            return null;
        }
    }

    /** Returns true if each character is a line feed, or is printable and occupies exactly one column. */
    private static boolean hasSupportedCharacters(char[] chars) {
        for (char c : chars) {
            boolean isAscii = c == '\n' || (c >= ' ' && c <= '~');
            if (!isAscii && !isOtherLetter(c)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isOtherLetter(char c) {
        boolean isSeparator = c == '\u2028' || c == '\u2029' || c == '\uFEFF';
        return c >= '\u00A0' && c <= '\uFFFD' && !Character.isSurrogate(c) && !isSeparator;
    }

    /** Goes to the next line with content. */
    private void advance() throws OtherYamlException {
        while (end < text.length()) {
            lineStart = end + 1;
            line++;
            int feed = text.indexOf('\n', lineStart);
            end = feed < 0 ? text.length() : feed;
            at = lineStart;
            while (at < end && chars[at] == ' ') {
                at++;
            }
            if (at < end && chars[at] != '#') {
                indent = at - lineStart;
                if (indent == 0 && (text.startsWith("---", at) || text.startsWith("...", at))) {
                    throw new OtherYamlException();
                }
                return;
            }
        }
        indent = -1;
    }

    /** Reads the mapping or sequence that begins on the current line, whose column is {@code column}. */
    private Node block(int column, int depth) throws OtherYamlException {
        if (depth > DEPTH_MAX) {
            throw new OtherYamlException();
        }
        return isDash(at) ? sequence(column, depth) : mapping(column, at, depth);
    }

    private Node sequence(int column, int depth) throws OtherYamlException {
        Optional<Mark> start = mark(at);
        List<Node> elements = new ArrayList<>();
        while (indent == column && isDash(at)) {
            int content = skipSpaces(at + 1);
            if (isEnd(content)) {
                Optional<Mark> empty = mark(at + 1);
                advance();
                elements.add(indent > column ? block(indent, depth + 1) : nothing(empty));
            } else if (isDash(content)) {
                throw new OtherYamlException();
            } else {
                elements.add(element(content, column, depth));
            }
        }
        if (indent > column) {
            throw new OtherYamlException();
        }
        return new SequenceNode(Tag.SEQ, true, elements, FlowStyle.BLOCK, start, Optional.empty());
    }

    /** Reads an element that begins on the line of its dash. */
    private Node element(int content, int column, int depth) throws OtherYamlException {
        Node first = scalarOrFlow(content, depth);
        if (isColon(skipSpaces(after))) {
            return mapping(content - lineStart, content, depth + 1);
        }
        endLine(column);
        return first;
    }

    private Node mapping(int column, int first, int depth) throws OtherYamlException {
        Optional<Mark> start = mark(first);
        List<NodeTuple> tuples = new ArrayList<>(4);
        int position = first;
        do {
            ScalarNode key = scalar(position, false);
            int colon = skipSpaces(after);
            if (!isColon(colon)
                    || colon - position > KEY_LENGTH_MAX
                    || key.getValue().equals("<<")) {
                throw new OtherYamlException();
            }
            tuples.add(new NodeTuple(key, value(colon, column, depth)));
            position = at;
        } while (indent == column && !isDash(at));
        if (indent > column) {
            throw new OtherYamlException();
        }
        return new MappingNode(Tag.MAP, true, tuples, FlowStyle.BLOCK, start, Optional.empty());
    }

    /** Reads the value of a key, and goes to the line after it. */
    private Node value(int colon, int column, int depth) throws OtherYamlException {
        int content = skipSpaces(colon + 1);
        if (isEnd(content)) {
            Optional<Mark> empty = mark(colon + 1);
            advance();
            if (indent > column) {
                return block(indent, depth + 1);
            }
            return indent == column && isDash(at) ? sequence(column, depth + 1) : nothing(empty);
        }
        Node value = scalarOrFlow(content, depth);
        endLine(column);
        return value;
    }

    /** Requires that the line ends here, and that the next line does not continue it. */
    private void endLine(int column) throws OtherYamlException {
        int next = skipSpaces(after);
        boolean isComment = next > after && next < end && chars[next] == '#';
        if (next < end && !isComment) {
            throw new OtherYamlException();
        }
        advance();
        if (indent > column) {
            throw new OtherYamlException();
        }
    }

    private Node scalarOrFlow(int position, int depth) throws OtherYamlException {
        char c = chars[position];
        return c == '[' || c == '{' ? flow(position, depth + 1) : scalar(position, false);
    }

    private Node flow(int position, int depth) throws OtherYamlException {
        if (depth > DEPTH_MAX) {
            throw new OtherYamlException();
        }
        boolean isMapping = chars[position] == '{';
        char closing = isMapping ? '}' : ']';
        List<Node> elements = new ArrayList<>();
        List<NodeTuple> tuples = new ArrayList<>();
        int next = skipSpaces(position + 1);
        boolean isEmpty = charAt(next) == closing;
        while (!isEmpty) {
            if (isMapping) {
                ScalarNode key = scalar(next, true);
                int colon = skipSpaces(after);
                if (!isColon(colon)
                        || colon - next > KEY_LENGTH_MAX
                        || key.getValue().equals("<<")) {
                    throw new OtherYamlException();
                }
                tuples.add(new NodeTuple(key, flowValue(skipSpaces(colon + 1), depth)));
            } else {
                elements.add(flowValue(next, depth));
            }
            next = skipSpaces(after);
            if (charAt(next) == closing) {
                break;
            }
            if (charAt(next) != ',') {
                throw new OtherYamlException();
            }
            next = skipSpaces(next + 1);
        }
        after = next + 1;
        return isMapping
                ? new MappingNode(Tag.MAP, true, tuples, FlowStyle.FLOW, mark(position), Optional.empty())
                : new SequenceNode(Tag.SEQ, true, elements, FlowStyle.FLOW, mark(position), Optional.empty());
    }

    private Node flowValue(int position, int depth) throws OtherYamlException {
        char c = charAt(position);
        return c == '[' || c == '{' ? flow(position, depth + 1) : scalar(position, true);
    }

    private ScalarNode scalar(int position, boolean isInFlow) throws OtherYamlException {
        char first = charAt(position);
        if (first == '\'') {
            return singleQuoted(position);
        }
        if (first == '"') {
            return doubleQuoted(position);
        }
        char second = charAt(position + 1);
        boolean isBeforeEnd = second == ' ' || second == '\n' || (isInFlow && FLOW_ENDS.indexOf(second) >= 0);
        boolean isSign = (first == '-' || (first == ':' && !isInFlow)) && !isBeforeEnd;
        if (first == '\n' || (INDICATORS.indexOf(first) >= 0 && !isSign)) {
            throw new OtherYamlException();
        }
        return plain(position, isInFlow);
    }

    private ScalarNode plain(int position, boolean isInFlow) {
        int last = position;
        int i = position;
        for (; i < end; i++) {
            char c = chars[i];
            if (c == ' ') {
                continue;
            }
            boolean isComment = c == '#' && i > position && chars[i - 1] == ' ';
            boolean isFlowEnd = isInFlow && FLOW_ENDS.indexOf(c) >= 0;
            if (isComment || isFlowEnd || (c == ':' && isValueIndicator(i, isInFlow))) {
                break;
            }
            last = i;
        }
        after = last + 1;
        String value = text.substring(position, after);
        Tag tag = isWord(chars[position]) ? Tag.STR : RESOLVER.resolve(value, true);
        return new ScalarNode(tag, true, value, ScalarStyle.PLAIN, mark(position), Optional.empty());
    }

    /**
     * Returns true if a plain scalar with this first character is always a text: no number, boolean, null or variable
     * begins with it. Most scalars then need no resolver, which matches regular expressions.
     */
    private static boolean isWord(char first) {
        boolean isLetter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
        return first == '/' || (isLetter && "tfnTFN".indexOf(first) < 0);
    }

    private boolean isValueIndicator(int colon, boolean isInFlow) {
        char next = charAt(colon + 1);
        return next == ' ' || next == '\n' || (isInFlow && FLOW_ENDS.indexOf(next) >= 0);
    }

    private ScalarNode singleQuoted(int position) throws OtherYamlException {
        StringBuilder value = new StringBuilder();
        int i = position + 1;
        while (charAt(i) != '\'' || charAt(i + 1) == '\'') {
            char c = charAt(i);
            if (c == '\n') {
                throw new OtherYamlException();
            }
            value.append(c);
            i += c == '\'' ? 2 : 1;
        }
        after = i + 1;
        return quoted(value.toString(), ScalarStyle.SINGLE_QUOTED, position);
    }

    private ScalarNode doubleQuoted(int position) throws OtherYamlException {
        int i = position + 1;
        while (charAt(i) != '"') {
            if (charAt(i) == '\n' || charAt(i) == '\\') {
                throw new OtherYamlException();
            }
            i++;
        }
        after = i + 1;
        return quoted(text.substring(position + 1, i), ScalarStyle.DOUBLE_QUOTED, position);
    }

    private ScalarNode quoted(String value, ScalarStyle style, int position) {
        return new ScalarNode(Tag.STR, true, value, style, mark(position), Optional.empty());
    }

    private ScalarNode nothing(Optional<Mark> mark) {
        return new ScalarNode(Tag.NULL, true, "", ScalarStyle.PLAIN, mark, Optional.empty());
    }

    private boolean isDash(int position) {
        return charAt(position) == '-' && (charAt(position + 1) == ' ' || charAt(position + 1) == '\n');
    }

    private boolean isColon(int position) {
        return charAt(position) == ':' && (charAt(position + 1) == ' ' || charAt(position + 1) == '\n');
    }

    /** Returns true if the line has no content from here on. */
    private boolean isEnd(int position) {
        return position >= end || chars[position] == '#';
    }

    /** Returns a character of the current line; a line feed after its end. */
    private char charAt(int position) {
        return position < end ? chars[position] : '\n';
    }

    private int skipSpaces(int position) {
        int next = position;
        while (next < end && chars[next] == ' ') {
            next++;
        }
        return next;
    }

    private Optional<Mark> mark(int position) {
        return Optional.of(new Mark(name, position, line, position - lineStart, NO_BUFFER, 0));
    }
}
