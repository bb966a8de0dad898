package io.millrace.cli.command.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the keys of the line editor. */
final class LineEditorTest {
    private static final String UP = "\u001b[A";
    private static final String DOWN = "\u001b[B";
    private static final String LEFT = "\u001b[D";
    private static final String DELETE = "\u001b[3~";
    private static final String HOME = "\u001bOH";

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private static List<String> none(String line) {
        return List.of();
    }

    private String read(String keys, List<String> history, Function<String, List<String>> completion)
            throws IOException {
        return editor(keys, completion).read("> ", history);
    }

    private LineEditor editor(String keys, Function<String, List<String>> completion) {
        return new LineEditor(
                new ByteArrayInputStream(keys.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                () -> 20,
                completion);
    }

    private String shown() {
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Control keys are written as ^A. */
    @ParameterizedTest
    @CsvSource({
        "status, status",
        "stattus^B^B^H, status",
        "tatus^As, status",
        "a b^W c, a  c",
        "a b^Ac^K, c",
        "abc^B^U, c",
        "bc^Aa^Ed, abcd",
        "abc^A^D, bc",
        "abc^A^F^D, ac",
        "aé^H, a",
        "aé^Bb, abé"
    })
    void keysEditTheLine(String keys, String line) throws IOException {
        StringBuilder raw = new StringBuilder();
        for (int i = 0; i < keys.length(); i++) {
            raw.append(keys.charAt(i) == '^' ? (char) (keys.charAt(++i) - '@') : keys.charAt(i));
        }
        assertEquals(line, read(raw + "\r", List.of(), LineEditorTest::none));
    }

    @Test
    void arrowsAndDeleteWork() throws IOException {
        assertEquals("abd", read("abcd" + LEFT + LEFT + DELETE + "\n", List.of(), LineEditorTest::none));
        assertEquals("xab", read("ab" + HOME + "x\n", List.of(), LineEditorTest::none));
    }

    @Test
    void arrowsShowTheHistoryAndTheBegunLineAgain() throws IOException {
        List<String> history = List.of("one", "two");
        assertEquals("two", read(UP + "\n", history, LineEditorTest::none));
        assertEquals("one", read(UP + UP + UP + "\n", history, LineEditorTest::none));
        assertEquals("begun", read("begun" + UP + UP + DOWN + DOWN + DOWN + "\n", history, LineEditorTest::none));
    }

    @Test
    void controlCClearsAndControlDEnds() throws IOException {
        assertEquals("", read("abc\u0003", List.of(), LineEditorTest::none));
        assertTrue(shown().contains("^C"), shown());
        assertNull(read("\u0004", List.of(), LineEditorTest::none));
        assertNull(read("", List.of(), LineEditorTest::none));
        assertEquals("rest", read("rest", List.of(), LineEditorTest::none));
    }

    @Test
    void tabCompletesAsFarAsTheWordIsUnique() throws IOException {
        Function<String, List<String>> commands =
                line -> line.endsWith("sto") ? List.of("storage", "store") : List.of("status");
        assertEquals("stor", read("sto\t\n", List.of(), commands));
        assertEquals("status x", read("stat\tx\n", List.of(), commands));
        Function<String, List<String>> two = line -> List.of("storage", "store");
        read("stor\t\n", List.of(), two);
        assertTrue(shown().contains("storage  store\r\n"), shown());
    }

    @Test
    void aLongLineScrollsSideways() throws IOException {
        String line = "0123456789".repeat(3);
        assertEquals(line, read(line + "\n", List.of(), LineEditorTest::none));
        String last = shown().substring(shown().lastIndexOf("> "));
        assertTrue(last.length() < 30, last);
        assertTrue(last.contains("6789"), last);
    }

    @Test
    void unknownKeysAreIgnored() throws IOException {
        assertEquals("ab", read("a\u001b[24~\u001bx\u0001\u0005b\u0000\n", List.of(), LineEditorTest::none));
    }
}
