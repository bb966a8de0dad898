package io.millrace.launcher.ats;

import java.util.ArrayList;
import java.util.List;

/**
 * A line of a file of lines, taken apart at white space; quotes hold words together, and a backslash at the end of a line goes on in
 * the next. Immutable.
 *
 * @param entry the line in the report
 * @param words without quotes around them; those behind a {@code #} are left out
 * @param columns where each begins, from 1, in its own line
 */
record Words(Entry entry, List<String> words, List<Integer> columns) {
    String at(int index) {
        return index < words.size() ? words.get(index) : "";
    }

    /** Every line of a file that says something. */
    static List<Words> of(SourceFile file) {
        List<Words> all = new ArrayList<>();
        List<String> lines = file.lines();
        for (int i = 0; i < lines.size(); i++) {
            int from = i;
            String line = lines.get(i);
            if (line.isBlank() || line.strip().startsWith("#")) {
                continue;
            }
            List<String> words = new ArrayList<>();
            List<Integer> columns = new ArrayList<>();
            StringBuilder text = new StringBuilder();
            boolean closed = true;
            while (line.stripTrailing().endsWith("\\") && i + 1 < lines.size()) {
                String part = line.stripTrailing();
                closed &= split(part.substring(0, part.length() - 1), words, columns);
                text.append(part, 0, part.length() - 1).append(' ');
                line = lines.get(++i);
            }
            closed &= split(line, words, columns);
            text.append(line.strip());
            int column = columns.isEmpty() ? 1 : columns.get(0);
            if (!closed) {
                file.problem(from + 1, column, "a quote is not closed");
            }
            all.add(new Words(file.entry(from + 1, i + 1, column, text.toString()), words, columns));
        }
        return all;
    }

    /** Returns whether every quote is closed: one that is not would hide the words behind it. */
    private static boolean split(String line, List<String> words, List<Integer> columns) {
        boolean quoted = false;
        int i = 0;
        while (i < line.length()) {
            if (Character.isWhitespace(line.charAt(i))) {
                i++;
                continue;
            }
            if (line.charAt(i) == '#') {
                return true;
            }
            int start = i;
            StringBuilder word = new StringBuilder();
            while (i < line.length() && (quoted || !Character.isWhitespace(line.charAt(i)))) {
                char c = line.charAt(i);
                if (c == '"') {
                    quoted = !quoted;
                } else {
                    word.append(c);
                }
                i++;
            }
            words.add(word.toString());
            columns.add(start + 1);
        }
        return !quoted;
    }
}
