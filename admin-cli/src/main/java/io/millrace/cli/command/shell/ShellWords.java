package io.millrace.cli.command.shell;

import java.util.ArrayList;
import java.util.List;

/**
 * A command line that is split into words as in a Unix shell. Quotes group characters, and a backslash makes the next
 * character literal. Variables, patterns and pipes are not supported. Immutable.
 *
 * @param words the words without quotes
 * @param isOpen true if a quote is not closed
 * @param endsInWord true if no space follows the last word, so that completion extends this word
 */
record ShellWords(List<String> words, boolean isOpen, boolean endsInWord) {
    /** Splits a line. A {@code #} at the beginning of a word starts a comment. */
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
