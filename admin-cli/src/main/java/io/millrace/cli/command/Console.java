package io.millrace.cli.command;

import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import java.io.PrintStream;
import java.util.List;

/** The output of a command: results to standard output, messages to standard error. Confined to one thread. */
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

    /** Standard error, for a command that runs others. */
    public PrintStream err() {
        return err;
    }

    /** Prints lines of results. */
    public void data(List<String> lines) {
        for (String line : lines) {
            out.print(line + "\n");
        }
    }

    /** Prints JSON and a line end; characters that could control a terminal are escaped. */
    public void json(byte[] came) {
        byte[] json = Printable.json(came);
        out.write(json, 0, json.length);
        if (json.length == 0 || json[json.length - 1] != '\n') {
            out.write('\n');
        }
    }

    /**
     * Separates repeated results: clears a terminal with colours, else prints an empty line. Prints nothing between
     * JSON.
     */
    public void another(boolean isJson) {
        if (!isJson) {
            out.print(paint.isEnabled() ? "\u001b[H\u001b[2J" : "\n");
        }
    }

    /** Prints a message. Control characters are escaped, since it may contain text from others. */
    public void say(String line) {
        err.print(Printable.of(line) + "\n");
    }

    /** Prints a failure and the advice for it. */
    public void report(CommandFailure failure) {
        say("millctl: " + failure.message());
        for (String line : failure.nextLines()) {
            say("  " + line);
        }
    }

    /** Returns true if all output was written. */
    public boolean flush() {
        err.flush();
        return !out.checkError();
    }
}
