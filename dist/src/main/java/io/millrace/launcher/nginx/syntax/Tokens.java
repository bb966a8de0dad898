package io.millrace.launcher.nginx.syntax;

import io.millrace.launcher.importing.source.SourceFile;
import org.jspecify.annotations.Nullable;

/** The lexer for nginx configuration files, which returns words and punctuation. Confined to one thread. */
final class Tokens {
    /**
     * A token: a word, a semicolon, or a brace.
     *
     * @param text the word without quotes and their escapes
     * @param start index of the first character in the file
     * @param end index after the last character
     */
    record Token(String text, boolean punctuation, int start, int end, int line, int column) {
        boolean isPunctuation(String other) {
            return punctuation && text.equals(other);
        }
    }

    private final SourceFile file;
    private final String text;
    private int at;
    private int line = 1;
    private int lineStart;

    Tokens(SourceFile file) {
        this.file = file;
        text = String.join("\n", file.lines()) + "\n";
    }

    SourceFile file() {
        return file;
    }

    /** Index of the next character. */
    int position() {
        return at;
    }

    /** Reports an error at the current position. */
    void problem(String message) {
        if (at < text.length()) {
            file.problem(line, at - lineStart + 1, message);
        } else {
            int last = Math.max(1, file.lines().size());
            file.problem(last, text.length() - 1 - text.lastIndexOf('\n', text.length() - 2), message);
        }
    }

    /** Reports an error at a token. */
    void problem(Token token, String message) {
        file.problem(token.line(), token.column(), message);
    }

    /** Returns the source between two indexes as one line, without comments. */
    String source(int from, int to) {
        StringBuilder out = new StringBuilder();
        for (String each : text.substring(from, to).split("\n", -1)) {
            String part = each.strip().replace('\t', ' ');
            if (!part.startsWith("#")) {
                out.append(out.isEmpty() ? "" : " ").append(part.replaceAll("\\s+#.*", ""));
            }
        }
        return out.toString();
    }

    /** Returns the next token; null at the end of the file. */
    @Nullable
    Token next() {
        skip();
        if (at >= text.length()) {
            return null;
        }
        int start = at;
        int startLine = line;
        int column = at - lineStart + 1;
        char c = text.charAt(at);
        if (c == ';' || c == '{' || c == '}') {
            at++;
            return new Token(String.valueOf(c), true, start, at, startLine, column);
        }
        String word = c == '"' || c == '\'' ? quoted(c) : unquoted();
        return new Token(word, false, start, at, startLine, column);
    }

    private void skip() {
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '#') {
                while (at < text.length() && text.charAt(at) != '\n') {
                    at++;
                }
            } else if (Character.isWhitespace(c)) {
                step();
            } else {
                return;
            }
        }
    }

    private void step() {
        if (text.charAt(at++) == '\n') {
            line++;
            lineStart = at;
        }
    }

    private String quoted(char quote) {
        StringBuilder word = new StringBuilder();
        int first = line;
        int column = at - lineStart + 1;
        at++;
        while (at < text.length() && text.charAt(at) != quote) {
            if (text.charAt(at) == '\\' && at + 1 < text.length()) {
                escape(word);
            } else {
                word.append(text.charAt(at));
                step();
            }
        }
        if (at >= text.length()) {
            file.problem(first, column, "a quotation mark is not closed");
        } else {
            at++;
        }
        return word.toString();
    }

    private String unquoted() {
        StringBuilder word = new StringBuilder();
        boolean variable = false;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (Character.isWhitespace(c) || c == ';' || (c == '{' && !variable)) {
                break;
            }
            if (c == '{') {
                // The braces of a variable such as ${name} belong to the word.
                while (at < text.length() && text.charAt(at) != '}' && text.charAt(at) != '\n') {
                    word.append(text.charAt(at++));
                }
                variable = false;
            } else if (c == '\\' && at + 1 < text.length()) {
                escape(word);
                variable = false;
            } else {
                variable = c == '$';
                word.append(c);
                at++;
            }
        }
        return word.toString();
    }

    /** Reads an escape sequence. Keeps the backslash before other characters, because regular expressions need it. */
    private void escape(StringBuilder word) {
        char next = text.charAt(at + 1);
        switch (next) {
            case '"', '\'', '\\' -> word.append(next);
            case 't' -> word.append('\t');
            case 'r' -> word.append('\r');
            case 'n' -> word.append('\n');
            default -> word.append('\\').append(next);
        }
        step();
        step();
    }

    /**
     * Skips a block that does not consist of directives. Returns the line of its closing brace; -1 if there is none.
     */
    int skipBlock() {
        int depth = 1;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '{') {
                depth++;
            } else if (c == '}' && --depth == 0) {
                at++;
                return line;
            }
            step();
        }
        problem("unexpected end of file, expecting '}'");
        return -1;
    }
}
