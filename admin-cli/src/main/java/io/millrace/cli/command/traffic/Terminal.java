package io.millrace.cli.command.traffic;

import io.millrace.cli.command.Stty;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A terminal that shows full-screen output and delivers each key at once, without echo. {@link #close} restores the
 * former settings; after Ctrl-C a shutdown hook restores them. Confined to one thread, except for the hook.
 */
final class Terminal implements Screen, AutoCloseable {
    /** Selects the alternate screen and hides the cursor. */
    private static final String ENTER = "\u001b[?1049h\u001b[?25l\u001b[2J";

    /** Shows the cursor and returns to the normal screen. */
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";

    private static final int WIDTH = 80;
    private static final int HEIGHT = 24;

    private final PrintStream out;
    private final String savedSettings;
    private final Thread atExit;
    private final AtomicBoolean isLeft = new AtomicBoolean();

    private Terminal(PrintStream out, String savedSettings) {
        this.out = out;
        this.savedSettings = savedSettings;
        this.atExit = new Thread(this::leave, "terminal");
    }

    /** Switches the terminal to full-screen output; returns null if there is no terminal. */
    static @Nullable Terminal take(PrintStream out) {
        String savedSettings = Stty.run("-g");
        if (savedSettings == null || Stty.run("-icanon", "-echo", "min", "0", "time", "0") == null) {
            return null;
        }
        Terminal terminal = new Terminal(out, savedSettings);
        Runtime.getRuntime().addShutdownHook(terminal.atExit);
        out.print(ENTER);
        out.flush();
        return terminal;
    }

    /** Returns the current size; 80 by 24 if it is unknown. */
    @Override
    public Size size() {
        String size = Stty.run("size");
        int space = size == null ? -1 : size.indexOf(' ');
        try {
            if (size != null && space > 0) {
                int height = Integer.parseInt(size.substring(0, space));
                int width = Integer.parseInt(size.substring(space + 1));
                return new Size(width > 0 ? width : WIDTH, height > 0 ? height : HEIGHT);
            }
        } catch (NumberFormatException e) {
            return new Size(WIDTH, HEIGHT);
        }
        return new Size(WIDTH, HEIGHT);
    }

    /** Overwrites the screen without clearing it first, so that nothing flickers. */
    @Override
    public void draw(List<String> lines) {
        StringBuilder screen = new StringBuilder("\u001b[H");
        for (int i = 0; i < lines.size(); i++) {
            screen.append(lines.get(i)).append("\u001b[K").append(i < lines.size() - 1 ? "\r\n" : "");
        }
        out.print(screen.append("\u001b[J"));
        out.flush();
    }

    private void leave() {
        if (isLeft.compareAndSet(false, true)) {
            out.print(LEAVE);
            out.flush();
            Stty.run(savedSettings);
        }
    }

    @Override
    public void close() {
        leave();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The process is exiting, and the shutdown hook restores the settings.
        }
    }
}
