package io.millrace.cli.command.shell;

import java.util.ArrayList;
import java.util.List;

/**
 * A line divided into words as by a shell: quotes group characters, a backslash takes the next one literally. There are
 * no variables, patterns or pipes. Immutable.
 *
 * @param words the words without quotes
 * @param isOpen whether a quote is not closed
 * @param endsInWord whether the line ends within the last word, so that completion continues it
 */
record ShellWords(List<String> words, boolean isOpen, boolean endsInWord) {
    /** Divides a line. A word that begins with # begins a comment. */
    static ShellWords of(String line) {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean inWord = false;
        char quote = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (quote != 0) {
                if (c == quote) {
                    quote = 0;
                } else if (c == '\\' && quote == '"' && i + 1 < line.length()) {
                    word.append(line.charAt(++i));
                } else {
                    word.append(c);
                }
            } else if (c == '"' || c == '\'') {
                quote = c;
                inWord = true;
            } else if (c == '\\' && i + 1 < line.length()) {
                word.append(line.charAt(++i));
                inWord = true;
            } else if (c == ' ' || c == '\t') {
                if (inWord) {
                    words.add(word.toString());
                    word.setLength(0);
                    inWord = false;
                }
            } else if (c == '#' && !inWord) {
                return new ShellWords(words, false, false);
            } else {
                word.append(c);
                inWord = true;
            }
        }
        if (inWord) {
            words.add(word.toString());
        }
        return new ShellWords(words, quote != 0, inWord);
    }
}
