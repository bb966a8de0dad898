package io.millrace.launcher.ats.source;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.List;

/**
 * The words of one line of a configuration file, separated by white space. Quoted text is one word. A backslash at the
 * end of a line joins the next line to it. Immutable.
 *
 * @param entry the line in the report
 * @param words words without their quotation marks; in remap.config, a word that begins with a quotation mark keeps
 *     this first mark. Words after a {@code #} are omitted, except in remap.config
 * @param columns start column of each word in its own line, from 1
 */
public record Words(Entry entry, List<String> words, List<Integer> columns) {
    /** Returns the word with an index; empty beyond the last. */
    public String at(int index) {
        return index < words.size() ? words.get(index) : "";
    }

    /** Returns the words of every line that is neither empty nor a comment. */
    public static List<Words> of(SourceFile file) {
        return of(file, false);
    }

    /**
     * Returns the words of every line of remap.config. In this file a {@code #} begins a comment only at the start of a
     * line. A backslash at the end of a comment line continues the comment. A word that begins with {@code @} is an
     * argument, but not if it is quoted.
     */
    public static List<Words> ofRemap(SourceFile file) {
        return of(file, true);
    }

    private static List<Words> of(SourceFile file, boolean remap) {
        List<Words> all = new ArrayList<>();
        List<String> lines = file.lines();
        for (int i = 0; i < lines.size(); i++) {
            int from = i;
            String line = lines.get(i);
            if (line.isBlank() || line.strip().startsWith("#")) {
                while (remap && line.endsWith("\\") && i + 1 < lines.size()) {
                    line = lines.get(++i);
                    file.entry(i + 1, i + 1, 1, line)
                            .note("the line continues the comment before it, which ends with a backslash");
                }
                continue;
            }
            List<String> words = new ArrayList<>();
            List<Integer> columns = new ArrayList<>();
            StringBuilder text = new StringBuilder();
            boolean closed = true;
            while (line.stripTrailing().endsWith("\\") && i + 1 < lines.size()) {
                String part = line.stripTrailing();
                closed &= split(part.substring(0, part.length() - 1), words, columns, remap);
                text.append(part, 0, part.length() - 1).append(' ');
                line = lines.get(++i);
            }
            closed &= split(line, words, columns, remap);
            text.append(line.strip());
            int column = columns.isEmpty() ? 1 : columns.get(0);
            if (!closed) {
                file.problem(from + 1, column, "a quotation mark is not closed");
            }
            all.add(new Words(file.entry(from + 1, i + 1, column, text.toString()), words, columns));
        }
        return all;
    }

    /** Splits a line into words. Returns false if a quote is not closed. */
    private static boolean split(String line, List<String> words, List<Integer> columns, boolean remap) {
        char quote = 0;
        int i = 0;
        while (i < line.length()) {
            if (Character.isWhitespace(line.charAt(i))) {
                i++;
                continue;
            }
            if (line.charAt(i) == '#' && !remap) {
                return true;
            }
            int start = i;
            StringBuilder word = new StringBuilder();
            while (i < line.length() && (quote != 0 || !Character.isWhitespace(line.charAt(i)))) {
                char c = line.charAt(i);
                boolean mark = quote == 0 ? c == '"' || (remap && c == '\'') : c == quote;
                if (mark) {
                    quote = quote == 0 ? c : 0;
                }
                if (!mark || (remap && i == start)) {
                    word.append(c);
                }
                i++;
            }
            words.add(word.toString());
            columns.add(start + 1);
        }
        return quote == 0;
    }
}
