package io.millrace.cli.command.traffic;

import io.millrace.cli.command.Stty;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The terminal while a command uses the whole screen. Keys are read one by one without echo. The former modes are
 * restored at the end of the command, even after an interrupt. Confined to one thread, except for the end.
 */
final class Terminal implements Screen, AutoCloseable {
    /** Selects the alternate screen and hides the cursor. */
    private static final String ENTER = "\u001b[?1049h\u001b[?25l\u001b[2J";

    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
    private static final int WIDTH = 80;
    private static final int HEIGHT = 24;

    private final PrintStream out;
    private final String modes;
    private final Thread atExit;
    private final AtomicBoolean isLeft = new AtomicBoolean();

    private Terminal(PrintStream out, String modes) {
        this.out = out;
        this.modes = modes;
        this.atExit = new Thread(this::leave, "terminal");
    }

    /** Takes over the screen; returns null if there is no terminal. */
    static @Nullable Terminal take(PrintStream out) {
        String modes = Stty.run("-g");
        if (modes == null || Stty.run("-icanon", "-echo", "min", "0", "time", "0") == null) {
            return null;
        }
        Terminal terminal = new Terminal(out, modes);
        Runtime.getRuntime().addShutdownHook(terminal.atExit);
        out.print(ENTER);
        out.flush();
        return terminal;
    }

    /** The current size; 80 by 24 if it is unknown. */
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
            Stty.run(modes);
        }
    }

    @Override
    public void close() {
        leave();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // the process is already ending
        }
    }
}
