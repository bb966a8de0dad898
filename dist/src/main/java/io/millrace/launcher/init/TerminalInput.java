package io.millrace.launcher.init;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Opens standard input if it is a terminal. Stateless. */
public final class TerminalInput {
    private static final Path STDIN = Path.of("/proc/self/fd/0");

    private TerminalInput() {}

    /**
     * Returns a reader of the terminal; null if standard input is not a terminal. Does not use System.console(), which
     * newer JDKs return even if there is no terminal.
     */
    public static @Nullable BufferedReader open() {
        try {
            String target = Files.readSymbolicLink(STDIN).toString();
            boolean isTerminal =
                    target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
            return isTerminal ? new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)) : null;
        } catch (IOException | UnsupportedOperationException e) {
            return null;
        }
    }
}
