package io.millrace.cli.command;

import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import java.io.PrintStream;
import java.util.List;

/** Where a command's words go: data to standard output, talk to standard error. Confined to one thread. */
public final class Console {
    private final PrintStream out;
    private final PrintStream err;
    private final Paint paint;

    public Console(PrintStream out, PrintStream err, Paint paint) {
        this.out = out;
        this.err = err;
        this.paint = paint;
    }

    public Paint paint() {
        return paint;
    }

    /** Standard output, for a command that draws on it. */
    public PrintStream out() {
        return out;
    }

    /** Lines of data. */
    public void data(List<String> lines) {
        for (String line : lines) {
            out.print(line + "\n");
        }
    }

    /** JSON as it came, save that nothing in it steers a terminal, and the end of a line. */
    public void json(byte[] came) {
        byte[] json = Printable.json(came);
        out.write(json, 0, json.length);
        if (json.length == 0 || json[json.length - 1] != '\n') {
            out.write('\n');
        }
    }

    /** Before another look: a clear screen on a terminal that shows colours, else an empty line, and nothing among JSON. */
    public void another(boolean isJson) {
        if (!isJson) {
            out.print(paint.isEnabled() ? "\u001b[H\u001b[2J" : "\n");
        }
    }

    /** A line of talk, in which nothing steers the terminal: it may say what others gave. */
    public void say(String line) {
        err.print(Printable.of(line) + "\n");
    }

    /** What went wrong and what to do next. */
    public void report(CommandFailure failure) {
        say("millctl: " + failure.message());
        for (String line : failure.nextLines()) {
            say("  " + line);
        }
    }

    /** Whether everything was written that was to be. */
    public boolean flush() {
        err.flush();
        return !out.checkError();
    }
}
