package io.millrace.launcher.varnish.syntax;

import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.List;

/** The lexer for VCL files. Marks the lines of comments as processed. Confined to one thread. */
final class VclLexer {
    /** The type of a token. */
    enum Type {
        WORD,
        STRING,
        NUMBER,
        OPERATOR,
        /** Inline C code: the text between "C{" and "}C". */
        CODE,
        END
    }

    /**
     * A token.
     *
     * @param text text of the token; without the quotes of a string
     * @param start index of the first character
     * @param end index after the last character
     */
    record Token(Type type, String text, int start, int end, int line, int column, int lastLine) {
        boolean is(String other) {
            return (type == Type.OPERATOR || type == Type.WORD) && text.equals(other);
        }
    }

    private static final List<String> OPERATORS =
            List.of("+=", "-=", "*=", "/=", "==", "!=", "!~", "<=", ">=", "&&", "||", "++", "--", "<<", ">>");

    private final SourceFile file;
    private final String text;
    private final List<Token> tokens = new ArrayList<>();
    /** Index of the next character. */
    private int at;

    private int line = 1;
    private int lineStart;

    VclLexer(SourceFile file) {
        this.file = file;
        text = String.join("\n", file.lines()) + "\n";
    }

    String text() {
        return text;
    }

    /** Returns all tokens; the last one has the type {@link Type#END}. */
    List<Token> tokens() {
        while (skip()) {
            token();
        }
        tokens.add(new Token(Type.END, "end of file", at, at, line, at - lineStart + 1, line));
        return tokens;
    }

    /** Skips white space and comments. Returns false at the end of the text. */
    private boolean skip() {
        while (at < text.length()) {
            char c = text.charAt(at);
            if (Character.isWhitespace(c)) {
                step();
            } else if (c == '#' || text.startsWith("//", at)) {
                int from = line;
                while (at < text.length() && text.charAt(at) != '\n') {
                    at++;
                }
                comment(from);
            } else if (text.startsWith("/*", at)) {
                int from = line;
                int end = text.indexOf("*/", at + 2);
                if (end < 0) {
                    file.problem(line, at - lineStart + 1, "the comment is not closed");
                    end = text.length() - 2;
                }
                while (at < end + 2) {
                    step();
                }
                comment(from);
            } else {
                return true;
            }
        }
        return false;
    }

    /**
     * Marks the lines of a comment as processed, except the line on which the token before the comment ends. The
     * importer of the statement with that token decides whether the line is processed.
     */
    private void comment(int from) {
        for (int i = from; i <= line; i++) {
            boolean hasToken =
                    !tokens.isEmpty() && tokens.get(tokens.size() - 1).lastLine() == i;
            if (!hasToken) {
                file.markProcessed(i, i);
            }
        }
    }

    private void step() {
        if (text.charAt(at++) == '\n') {
            line++;
            lineStart = at;
        }
    }

    private void token() {
        int start = at;
        int firstLine = line;
        int column = at - lineStart + 1;
        char c = text.charAt(at);
        Type type;
        String value;
        if (text.startsWith("C{", at)) {
            type = Type.CODE;
            value = upTo("}C", 2, 2);
        } else if (text.startsWith("\"\"\"", at)) {
            type = Type.STRING;
            value = upTo("\"\"\"", 3, 3);
        } else if (text.startsWith("{\"", at)) {
            type = Type.STRING;
            value = upTo("\"}", 2, 2);
        } else if (c == '"') {
            type = Type.STRING;
            value = string();
        } else if (Character.isLetter(c) || c == '_') {
            type = Type.WORD;
            value = run("_.-");
        } else if (Character.isDigit(c)) {
            type = Type.NUMBER;
            value = run(".");
        } else {
            type = Type.OPERATOR;
            value = operator();
        }
        tokens.add(new Token(type, value, start, at, firstLine, column, line));
    }

    /**
     * Reads a delimited text. Returns it without its delimiters.
     *
     * @param before length of the opening delimiter
     * @param after length of the closing delimiter
     */
    private String upTo(String end, int before, int after) {
        int close = text.indexOf(end, at + before);
        if (close < 0) {
            file.problem(line, at - lineStart + 1, "the text is not closed, expecting " + end);
            close = text.length() - after;
        }
        String value = text.substring(Math.min(at + before, close), close);
        while (at < Math.min(text.length(), close + after)) {
            step();
        }
        return value;
    }

    private String string() {
        int end = at + 1;
        while (end < text.length() && text.charAt(end) != '"' && text.charAt(end) != '\n') {
            end++;
        }
        if (end >= text.length() || text.charAt(end) == '\n') {
            file.problem(line, at - lineStart + 1, "the quotation mark is not closed on its line");
        }
        String value = text.substring(at + 1, end);
        at = Math.min(text.length(), end + 1);
        return value;
    }

    /** Reads letters, digits, and the characters of {@code more}. */
    private String run(String more) {
        int start = at;
        while (at < text.length()
                && (Character.isLetterOrDigit(text.charAt(at)) || more.indexOf(text.charAt(at)) >= 0)) {
            at++;
        }
        return text.substring(start, at);
    }

    private String operator() {
        for (String each : OPERATORS) {
            if (text.startsWith(each, at)) {
                at += each.length();
                return each;
            }
        }
        return String.valueOf(text.charAt(at++));
    }
}
