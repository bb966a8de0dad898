package io.millrace.cli.command;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads and changes the settings of the terminal with the program {@code stty}. Stateless. Blocks. */
public final class Stty {
    private static final File TTY = new File("/dev/tty");
    private static final int WIDTH_DEFAULT = 80;

    private Stty() {}

    /** Runs {@code stty} and returns its output; null if it fails or there is no terminal. */
    public static @Nullable String run(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add("stty");
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(TTY)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return process.waitFor() == 0 ? output.strip() : null;
        } catch (IOException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Returns the width of the terminal in columns; 80 if it is unknown. */
    public static int columns() {
        String size = run("size");
        int space = size == null ? -1 : size.indexOf(' ');
        try {
            int columns = size == null || space < 0 ? 0 : Integer.parseInt(size.substring(space + 1));
            return columns > 0 ? columns : WIDTH_DEFAULT;
        } catch (NumberFormatException e) {
            return WIDTH_DEFAULT;
        }
    }
}
