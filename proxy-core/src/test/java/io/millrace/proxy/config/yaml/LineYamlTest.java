package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.problem.ConfigProblems;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.CollectionNode;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** The fast parser gives the nodes of the complete parser, or leaves the text to it. */
class LineYamlTest {
    private static final int MUTATIONS = 3000 * Integer.getInteger("millrace.test.effort", 1);

    private static final String TYPICAL = """
            # A comment
            listen: [":8080", ':8443']
            cache: {ram_size: 1GiB, enabled: true, other: {a: 1, b: [x, -2, null]}}
            empty:
            remap:
              # rules
              - map: http://a.example/   # first
                to: http://10.0.0.1:8080/a b/
              -   map: /
                  to: 'it''s'
                  rules:
                  - if: path == "/x"
                    then: [deny]
              -
                map: http://b.example/#x
                to: "http://c/"

              - word
              -
            origins:
            - name: ~
              hosts: []
              more: {}
            number: -1.5
            text: a:b c#d \u00e9\u4e00
            last: ${NAME:x}
            """;

    /** Formats a tree with everything that the readers of a configuration use. */
    private static String described(Node node) {
        StringBuilder text = new StringBuilder();
        describe(node, text);
        return text.toString();
    }

    private static void describe(Node node, StringBuilder text) {
        Mark mark = node.getStartMark().orElseThrow();
        text.append(node.getNodeType()).append('@').append(mark.getLine()).append(':');
        text.append(mark.getColumn()).append('/').append(mark.getIndex()).append(node.getTag());
        if (node instanceof CollectionNode<?> collection) {
            text.append(collection.getFlowStyle());
        }
        if (node instanceof ScalarNode scalar) {
            text.append(scalar.getScalarStyle()).append('<').append(scalar.getValue());
            text.append(">\n");
        } else if (node instanceof SequenceNode sequence) {
            text.append("[\n");
            sequence.getValue().forEach(element -> describe(element, text));
            text.append("]\n");
        } else if (node instanceof MappingNode mapping) {
            text.append(mapping.hasMergeTag()).append("{\n");
            for (NodeTuple tuple : mapping.getValue()) {
                describe(tuple.getKeyNode(), text);
                describe(tuple.getValueNode(), text);
            }
            text.append("}\n");
        }
    }

    /** Returns true if the fast parser has read the text, with the result of the complete parser. */
    private static boolean isReadEqually(String text) {
        Node fast = LineYaml.compose(text, "file");
        if (fast == null) {
            return false;
        }
        ConfigProblems problems = new ConfigProblems();
        Node complete = YamlText.composeCompletely(text, "file", problems);
        assertFalse(problems.hasErrors(), () -> "accepted: " + text + "\n" + problems.sorted());
        assertNotNull(complete, text);
        assertEquals(described(complete), described(fast), text);
        return true;
    }

    @Test
    void aTypicalConfigurationIsReadFast() {
        assertTrue(isReadEqually(TYPICAL));
        assertTrue(isReadEqually(TYPICAL.strip()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "# only a comment",
                "word",
                "a: b: c",
                "a: [b\n  c]",
                "a: {b: c",
                "a: 'b",
                "a: \"\\x41\"",
                "a: |\n  text",
                "a: >\n  text",
                "a: &x b",
                "a: *x",
                "a: !!str b",
                "<<: b",
                "a: {<<: b}",
                "a: {b}",
                "a: [b, ]",
                "a: [b: c]",
                "a: {b: }",
                "a: b\n  c",
                "a:\n  b\n",
                "a: 1\n b: 2",
                "a:\n    b: 1\n  c: 2",
                "a: - b",
                "- a\n b",
                "- - a",
                "a: 1\n- b",
                "? a\n: b",
                "a:\tb",
                "a: b\r\nc: d",
                "--- a: b",
                "a: b\n...\n",
                "%YAML 1.2",
                "a: @b",
                "a: `b",
                "a: b\u0007",
                "a: \uD83D\uDE00",
                "a: 'b'#c",
                "a: 'b' c",
                "a: [b] c",
                "[a]: b",
                " a: b\nc: d"
            })
    void otherTextIsLeftToTheCompleteParser(String text) {
        assertNull(LineYaml.compose(text, "file"), text);
    }

    @Test
    void deepNestingAndLongKeysAreLeftToTheCompleteParser() {
        assertNull(LineYaml.compose("a: " + "[".repeat(100) + "]".repeat(100), "file"));
        StringBuilder deep = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            deep.append(" ".repeat(i)).append("a:\n");
        }
        assertNull(LineYaml.compose(deep.toString(), "file"));
        assertNull(LineYaml.compose("k".repeat(1025) + ": v", "file"));
        assertNull(LineYaml.compose("a: {" + "k".repeat(1025) + ": v}", "file"));
        assertNull(LineYaml.compose("a: [{k" + " ".repeat(1025) + ": v}]", "file"));
    }

    /** Inserts, removes and doubles characters of a typical text that have a meaning in YAML. */
    @Test
    void changedTextsAreReadAsTheCompleteParserDoes() {
        long seed = Long.getLong("millrace.test.seed", System.nanoTime());
        System.out.println("-Dmillrace.test.seed=" + seed);
        Random random = new Random(seed);
        String characters = " \n:-#'\"[]{},?&*!|>%@`~<.x1";
        int read = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? TYPICAL : ofLines(random));
            for (int changes = random.nextInt(3); changes >= 0 && !text.isEmpty(); changes--) {
                int at = random.nextInt(text.length());
                char c = characters.charAt(random.nextInt(characters.length()));
                switch (random.nextInt(4)) {
                    case 0 -> text.insert(at, c);
                    case 1 -> text.deleteCharAt(at);
                    case 2 -> text.setCharAt(at, c);
                    default -> text.insert(at, ": " + c);
                }
            }
            read += isReadEqually(text.toString()) ? 1 : 0;
        }
        assertTrue(read > MUTATIONS / 20, "texts read by the fast parser: " + read);
    }

    private static String ofLines(Random random) {
        List<String> contents = List.of(
                "a: b",
                "b:",
                "- c",
                "-",
                "- d: e",
                "- f:",
                "g: [h, 'i']",
                "'j': \"k\"",
                "# l",
                "m: {n: o:p}",
                "q : r",
                "");
        List<String> lines = new ArrayList<>();
        int indent = 0;
        for (int i = random.nextInt(12); i >= 0; i--) {
            lines.add(" ".repeat(indent) + contents.get(random.nextInt(contents.size())));
            indent = Math.max(0, indent + 2 * (random.nextInt(4) - 2) + (random.nextInt(8) == 0 ? 1 : 0));
            indent = random.nextInt(3) == 0 ? indent + 2 : indent;
        }
        return String.join("\n", lines) + "\n";
    }

    /** All YAML of the guide is read equally, and most of it by the fast parser. */
    @Test
    void examplesOfTheGuideAreReadEqually() throws IOException {
        List<String> examples = new ArrayList<>();
        try (Stream<Path> pages = Files.list(Path.of("../docs/guide"))) {
            for (Path page :
                    pages.filter(file -> file.toString().endsWith(".md")).toList()) {
                Matcher block = Pattern.compile("(?ms)^ *```yaml\n(.*?)^ *```").matcher(Files.readString(page));
                while (block.find()) {
                    examples.add(block.group(1).stripIndent());
                }
            }
        }
        long read = examples.stream().filter(LineYamlTest::isReadEqually).count();
        assertTrue(read > 0.9 * examples.size(), "read by the fast parser: " + read + " of " + examples.size());
    }
}
