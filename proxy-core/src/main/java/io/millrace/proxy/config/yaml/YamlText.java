package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigProblems;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;

/** Parses YAML text into nodes that have line and column. A syntax error is reported with its position. */
final class YamlText {
    private static final int BUFFER_SIZE_MIN = 1024;

    /** Number of buffers into which a text is divided for reading. */
    private static final int BUFFERS_MAX = 16;

    private YamlText() {}

    /**
     * Returns the root node of the document, whose nodes have start marks. Returns null if the text is empty or not
     * YAML, after reporting the problem.
     */
    static @Nullable Node compose(String text, String name, ConfigProblems problems) {
        Node root = LineYaml.compose(text, name);
        return root == null ? composeCompletely(text, name, problems) : root;
    }

    /** As {@link #compose}; the nodes have end marks too. */
    static @Nullable Node composeCompletely(String text, String name, ConfigProblems problems) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(name)
                .setUseMarks(true)
                // ConfigBinder refuses these keys, since it can report their position.
                .setAllowNonScalarKeys(true)
                .setCodePointLimit(ConfigDocument.LENGTH_MAX)
                // The parser copies its window for each buffer of a long scalar. With a fixed buffer size this would
                // take quadratic time.
                .setBufferSize(Math.max(BUFFER_SIZE_MIN, text.length() / BUFFERS_MAX))
                // An alias does not copy nodes, so no limit is needed here. ConfigBinder limits the expansion.
                .setMaxAliasesForCollections(Integer.MAX_VALUE)
                .build();
        try {
            return new Compose(settings).composeString(text).orElse(null);
        } catch (MarkedYamlEngineException e) {
            Optional<Mark> mark = e.getProblemMark().or(e::getContextMark);
            String problem = e.getProblem() == null ? "cannot be read" : e.getProblem();
            String context = e.getContext() == null || e.getContext().isEmpty() ? "" : e.getContext() + ", ";
            problems.error(
                    mark.map(m -> new ConfigProblems.Place(name, m.getLine() + 1, m.getColumn() + 1))
                            .orElse(new ConfigProblems.Place(name, 0, 0)),
                    "",
                    isTab(text, mark.orElse(null))
                            ? "YAML: a tab indents this line, but YAML permits only spaces; replace the tab"
                            : "YAML: " + oneLine(context + problem));
        } catch (ReaderException e) {
            problems.error(
                    placeOf(text, name, e.getPosition()),
                    "",
                    "YAML: the character U+" + String.format("%04X", e.getCodePoint()) + " is not allowed");
        } catch (YamlEngineException e) {
            problems.error(
                    new ConfigProblems.Place(name, 0, 0), "", "YAML: " + oneLine(String.valueOf(e.getMessage())));
        } catch (StackOverflowError e) {
            // The parser is recursive, so deeply nested text overflows the stack. This is reported as an error of the
            // text.
            problems.error(new ConfigProblems.Place(name, 0, 0), "", "YAML: the text is nested too deeply");
        }
        return null;
    }

    /** Returns true if there is a tab in the indentation of the line of a problem. */
    private static boolean isTab(String text, @Nullable Mark mark) {
        if (mark == null) {
            return false;
        }
        int line = 0;
        int start = 0;
        while (line < mark.getLine() && start >= 0) {
            start = text.indexOf('\n', start) + 1;
            line = start == 0 ? mark.getLine() : line + 1;
        }
        int at = start;
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
        return at < text.length() && text.charAt(at) == '\t';
    }

    /** Returns the line and column of a code point. */
    static ConfigProblems.Place placeOf(String text, String name, int codePointIndex) {
        int line = 1;
        int column = 1;
        int[] codePoints = text.codePoints().limit(Math.max(0, codePointIndex)).toArray();
        for (int codePoint : codePoints) {
            column = codePoint == '\n' ? 1 : column + 1;
            line += codePoint == '\n' ? 1 : 0;
        }
        return new ConfigProblems.Place(name, line, column);
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s*\\R\\s*", " ").trim();
    }
}
