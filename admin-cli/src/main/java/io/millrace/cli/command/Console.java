package io.millrace.cli.command;

import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Prints results to standard output and messages to standard error. Confined to one thread. */
public final class Console {
    private final PrintStream out;
    private final PrintStream err;
    private final Paint paint;
    private @Nullable String node;

    public Console(PrintStream out, PrintStream err, Paint paint) {
        this.out = out;
        this.err = err;
        this.paint = paint;
    }

    public Paint paint() {
        return paint;
    }

    /** Returns standard output, for a command that draws a screen. */
    public PrintStream out() {
        return out;
    }

    /** Returns standard error, for a command that runs other commands. */
    public PrintStream err() {
        return err;
    }

    /** Prints result lines to standard output. */
    public void data(List<String> lines) {
        for (String line : lines) {
            out.print(line + "\n");
        }
    }

    /**
     * Begins the results of a node of the fleet. In a table they have a heading; a JSON result becomes the member
     * {@code report} of an object with the name of the node.
     *
     * @param name null ends the results of nodes
     */
    public void node(@Nullable String name, boolean isJson) {
        if (name != null && !isJson) {
            out.print((node == null ? "" : "\n") + Printable.of("== " + name + " ==") + "\n");
        }
        node = name;
    }

    /** Prints JSON and a line end to standard output. Characters that could control a terminal are escaped. */
    public void json(byte[] unescaped) {
        byte[] json = Printable.json(unescaped);
        if (node != null) {
            String report = new String(json, StandardCharsets.UTF_8).strip();
            out.print("{\"node\":\"" + Printable.of(node) + "\",\"report\":" + report + "}\n");
            return;
        }
        out.write(json, 0, json.length);
        if (json.length == 0 || json[json.length - 1] != '\n') {
            out.write('\n');
        }
    }

    /**
     * Separates two results of a repeated command. If colours are enabled, clears the terminal; otherwise prints an
     * empty line. Prints nothing between JSON results.
     */
    public void separate(boolean isJson) {
        if (!isJson) {
            out.print(paint.isEnabled() ? "\u001b[H\u001b[2J" : "\n");
        }
    }

    /** Prints a message to standard error. Control characters are escaped, since the text may come from a server. */
    public void say(String line) {
        err.print(Printable.of(line) + "\n");
    }

    /** Prints a failure and its advice to standard error. */
    public void report(CommandFailure failure) {
        say("millctl: " + failure.message());
        for (String line : failure.adviceLines()) {
            say("  " + line);
        }
    }

    /** Flushes both streams. Returns false if standard output could not be written. */
    public boolean flush() {
        err.flush();
        return !out.checkError();
    }
}
