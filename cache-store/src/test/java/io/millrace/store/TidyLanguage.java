package io.millrace.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Phrases that the project's texts avoid, in Markdown pages and in comments of Java files.
 *
 * <p>A sentence needs a noun as its subject, so a sentence that begins with Who, What or Whoever is found unless it is a
 * question. A list of words is found anywhere: metaphors for things that have a standard term.
 */
public final class TidyLanguage {
    /** The beginning of a sentence, then the pronoun, then no question mark before the end of the sentence. */
    private static final Pattern RELATIVE_SUBJECT = Pattern.compile(
            "(?:^|[.!?][\"')`*]*\\s+|<(?:p|li)>\\s*|\\|\\s+|(?:^|\\n)(?:[-*#]+|\\d+\\.)\\s+"
                    + "|@(?:return|(?:param|throws) \\S+)\\s+)\\**((?:Who|What|Whoever|Whatever)\\b(?![^.!|]*\\?)[^.!|\\n]*)");

    private static final Pattern METAPHOR = Pattern.compile(
            "(?i)\\b(?:house(?:s|keeps)?|ears?|legs?|upheavals?|foresees?|foreseen|foresight|hears? of|gets? up"
                    + "|look(?:s|ed)? after|nothing of what)\\b");
    private static final Pattern TRAILING = Pattern.compile("(?:^|[\\s;{}(),])//\\s?(.*)$");
    private static final Pattern STRING = Pattern.compile("\"(?:\\\\.|[^\"\\\\])*\"");

    private TidyLanguage() {}

    /** Returns each banned phrase in the file, as {@code file:line: phrase}; empty for files of other kinds. */
    public static List<String> violations(Path file) {
        List<String> found = new ArrayList<>();
        for (Block block : file.toString().endsWith(".java") ? comments(file) : paragraphs(file)) {
            collect(RELATIVE_SUBJECT, 1, file, block, found);
            collect(METAPHOR, 0, file, block, found);
        }
        return found;
    }

    /** Adjoining lines of text. Offsets in the text give the line. */
    private record Block(int firstLine, String text) {
        int lineOf(int offset) {
            return firstLine
                    + (int) text.substring(0, offset)
                            .chars()
                            .filter(c -> c == '\n')
                            .count();
        }
    }

    private static void collect(Pattern phrase, int group, Path file, Block block, List<String> found) {
        Matcher matcher = phrase.matcher(block.text());
        while (matcher.find()) {
            found.add(file + ":" + block.lineOf(matcher.start(group)) + ": "
                    + matcher.group(group).strip());
        }
    }

    private static List<Block> paragraphs(Path page) {
        List<Block> blocks = new ArrayList<>();
        Collector collector = new Collector(blocks);
        int number = 0;
        for (String line : TidyLinks.withoutCode(page)) {
            number++;
            boolean indentedCode = line.startsWith("    ") && !line.strip().matches("(?:[-*]|\\d+\\.) .*");
            collector.add(number, indentedCode ? "" : line.strip().replaceAll("`[^`]*`", "`"));
        }
        collector.end();
        return blocks;
    }

    private static List<Block> comments(Path source) {
        List<Block> blocks = new ArrayList<>();
        Collector collector = new Collector(blocks);
        int number = 0;
        boolean inside = false;
        for (String line : lines(source)) {
            number++;
            String text = line.strip();
            if (inside || text.startsWith("/*")) {
                inside = !text.endsWith("*/");
                collector.add(number, text.replaceAll("^/?\\*+/?\\s?|\\s*\\*+/$|\\{@\\w+ [^}]*}", ""));
            } else {
                Matcher trailing = TRAILING.matcher(STRING.matcher(line).replaceAll("\"\""));
                collector.add(number, trailing.find() ? trailing.group(1) : "");
            }
        }
        collector.end();
        return blocks;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Joins lines to blocks; an empty line ends a block. */
    private static final class Collector {
        private final List<Block> blocks;
        private final StringBuilder text = new StringBuilder();
        private int firstLine;

        Collector(List<Block> blocks) {
            this.blocks = blocks;
        }

        void add(int number, String line) {
            if (line.isBlank()) {
                end();
                return;
            }
            if (text.length() == 0) {
                firstLine = number;
            } else {
                text.append('\n');
            }
            text.append(line);
        }

        void end() {
            if (text.length() > 0) {
                blocks.add(new Block(firstLine, text.toString()));
                text.setLength(0);
            }
        }
    }
}
