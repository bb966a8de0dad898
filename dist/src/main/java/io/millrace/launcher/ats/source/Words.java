package io.millrace.launcher.ats.source;

import java.util.ArrayList;
import java.util.List;

/**
 * A line of a file of lines, taken apart at white space; quotes hold words together, and a backslash at the end of a line goes on in
 * the next. Immutable.
 *
 * @param entry the line in the report
 * @param words without quotes around them; those behind a {@code #} are left out, but in remap.config
 * @param columns where each begins, from 1, in its own line
 */
public record Words(Entry entry, List<String> words, List<Integer> columns) {
    /** The word of that index; empty behind the last. */
    public String at(int index) {
        return index < words.size() ? words.get(index) : "";
    }

    /** Every line of a file that says something. */
    public static List<Words> of(SourceFile file) {
        return of(file, false);
    }

    /**
     * Every line of remap.config that says something. There a {@code #} begins a comment at the beginning of a line alone, a
     * backslash continues comments too, and a word that begins with a quote is none that begins with {@code @}.
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
                            .note("continues the comment before it, which ends with a backslash");
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

    /** Returns whether every quote is closed: one that is not would hide the words behind it. */
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
