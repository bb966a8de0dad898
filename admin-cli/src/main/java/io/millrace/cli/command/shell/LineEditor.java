package io.millrace.cli.command.shell;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A line editor with history and completion for a terminal in raw mode. It knows the usual Emacs
 * keys: arrows, Home, End, Delete, Ctrl with A B C D E F H K L N P U W, and Tab for completion. A line that is longer
 * than the terminal scrolls sideways. Confined to one thread.
 */
final class LineEditor {
    private static final int ESCAPE = 0x1b;
    private static final int BACKSPACE = 0x7f;
    private static final int LENGTH_MAX = 4096;
    private static final int CANDIDATES_MAX = 100;

    private final InputStream in;
    private final PrintStream out;
    private final IntSupplier width;
    private final Function<String, List<String>> completion;
    private final StringBuilder line = new StringBuilder();
    private int cursor;
    private List<String> history = List.of();
    private int historyIndex;
    private String unfinishedLine = "";
    private String prompt = "";
    private int columns;

    /**
     * Creates an editor.
     *
     * @param width returns the number of columns of the terminal
     * @param completion returns the candidates for the last word of a line
     */
    LineEditor(InputStream in, PrintStream out, IntSupplier width, Function<String, List<String>> completion) {
        this.in = in;
        this.out = out;
        this.width = width;
        this.completion = completion;
    }

    /**
     * Shows a prompt and lets the user edit a line. Blocks until the user ends the line.
     *
     * @param earlier the history, which the arrow keys show, oldest first
     * @return the line; empty after Ctrl-C; null at the end of the input, or after Ctrl-D on an empty line
     */
    @Nullable
    String read(String shownPrompt, List<String> earlier) throws IOException {
        prompt = shownPrompt;
        // The width is determined only once for each line, since this starts a process.
        columns = Math.max(8, width.getAsInt() - prompt.length() - 1);
        history = earlier;
        historyIndex = earlier.size();
        unfinishedLine = "";
        set("");
        redraw();
        while (true) {
            int key = in.read();
            switch (key) {
                case '\r', '\n' -> {
                    end("");
                    return line.toString();
                }
                case 'C' - '@' -> {
                    end("^C");
                    return "";
                }
                case -1 -> {
                    end("");
                    return line.isEmpty() ? null : line.toString();
                }
                case 'D' - '@' -> {
                    if (line.isEmpty()) {
                        end("");
                        return null;
                    }
                    delete(cursor, next(cursor));
                }
                default -> edit(key);
            }
            redraw();
        }
    }

    private void edit(int key) throws IOException {
        switch (key) {
            case 'A' - '@' -> cursor = 0;
            case 'B' - '@' -> cursor = previous(cursor);
            case 'E' - '@' -> cursor = line.length();
            case 'F' - '@' -> cursor = next(cursor);
            case 'H' - '@', BACKSPACE -> delete(previous(cursor), cursor);
            case 'K' - '@' -> delete(cursor, line.length());
            case 'L' - '@' -> out.print("\u001b[H\u001b[2J");
            case 'N' - '@' -> show(historyIndex + 1);
            case 'P' - '@' -> show(historyIndex - 1);
            case 'U' - '@' -> delete(0, cursor);
            case 'W' - '@' -> delete(startOfWord(), cursor);
            case '\t' -> complete();
            case ESCAPE -> escapeSequence();
            default -> insert(key);
        }
    }

    /** Handles the keys that send an escape sequence: arrows, Home, End, Delete. */
    private void escapeSequence() throws IOException {
        int second = in.read();
        if (second != '[' && second != 'O') {
            return;
        }
        int third = in.read();
        int number = 0;
        while ((third >= '0' && third <= '9') || third == ';') {
            number = third == ';' ? number : number * 10 + third - '0';
            third = in.read();
        }
        switch (third) {
            case 'A' -> show(historyIndex - 1);
            case 'B' -> show(historyIndex + 1);
            case 'C' -> cursor = next(cursor);
            case 'D' -> cursor = previous(cursor);
            case 'H' -> cursor = 0;
            case 'F' -> cursor = line.length();
            case '~' -> numberedKey(number);
            default -> {}
        }
    }

    private void numberedKey(int number) {
        switch (number) {
            case 1, 7 -> cursor = 0;
            case 3 -> delete(cursor, next(cursor));
            case 4, 8 -> cursor = line.length();
            default -> {}
        }
    }

    /** Reads the remaining bytes of a UTF-8 character and inserts the character. */
    private void insert(int first) throws IOException {
        int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
        byte[] bytes = new byte[1 + more];
        bytes[0] = (byte) first;
        if (in.readNBytes(bytes, 1, more) < more || first < ' ' || line.length() >= LENGTH_MAX) {
            return;
        }
        String character = new String(bytes, StandardCharsets.UTF_8);
        line.insert(cursor, character);
        cursor += character.length();
    }

    private void delete(int from, int to) {
        line.delete(from, to);
        cursor = from;
    }

    private int previous(int at) {
        return at == 0 ? 0 : line.offsetByCodePoints(at, -1);
    }

    private int next(int at) {
        return at == line.length() ? at : line.offsetByCodePoints(at, 1);
    }

    private int startOfWord() {
        int at = cursor;
        while (at > 0 && line.charAt(at - 1) == ' ') {
            at--;
        }
        while (at > 0 && line.charAt(at - 1) != ' ') {
            at--;
        }
        return at;
    }

    /**
     * Shows a line of the history by its index. The index after the last one shows the new line that the user has not
     * finished.
     */
    private void show(int number) {
        if (number < 0 || number > history.size()) {
            return;
        }
        if (historyIndex == history.size()) {
            unfinishedLine = line.toString();
        }
        historyIndex = number;
        set(number == history.size() ? unfinishedLine : history.get(number));
    }

    private void set(String text) {
        line.setLength(0);
        line.append(text);
        cursor = line.length();
    }

    /**
     * Extends the word before the cursor by the characters that all candidates share. If there are none, lists them.
     */
    private void complete() {
        String before = line.substring(0, cursor);
        List<String> candidates = completion.apply(before);
        if (candidates.isEmpty()) {
            out.print('\u0007');
            return;
        }
        int start = startOfLastWord(before);
        String common = ShellCompletion.commonPrefix(candidates) + (candidates.size() == 1 ? " " : "");
        if (common.length() > before.length() - start) {
            line.replace(start, cursor, common);
            cursor = start + common.length();
        } else if (candidates.size() > 1) {
            out.print("\r\n");
            List<String> shown = candidates.subList(0, Math.min(CANDIDATES_MAX, candidates.size()));
            out.print(String.join("  ", shown) + (shown.size() < candidates.size() ? " ..." : "") + "\r\n");
        }
    }

    private static int startOfLastWord(String text) {
        return text.lastIndexOf(' ') + 1;
    }

    /** Draws the visible part of the line and places the cursor. */
    private void redraw() {
        int start = Math.max(0, cursor - columns);
        int end = Math.min(line.length(), start + columns);
        out.print("\r" + prompt + line.substring(start, end) + "\u001b[K");
        int back = line.codePointCount(cursor, end);
        if (back > 0) {
            out.print("\u001b[" + back + "D");
        }
        out.flush();
    }

    private void end(String mark) {
        out.print(mark + "\r\n");
        out.flush();
    }
}
