package io.millrace.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A finished command. Immutable. */
record Command(List<String> line, int exitCode, String out, String err) {

    private static final Duration TIME_LIMIT = Duration.ofMinutes(2);

    /** Runs a command in a directory in which no launcher of this machine's user is found. */
    static Command run(Path directory, List<String> line) {
        return run(directory, TIME_LIMIT, line);
    }

    /** Runs a command with a longer time limit. */
    static Command run(Path directory, Duration limit, List<String> line) {
        return run(directory, directory.resolve("no-state"), limit, line);
    }

    /** Runs a command that searches for launchers in this {@code XDG_STATE_HOME}. */
    static Command run(Path directory, Path stateHome, List<String> line) {
        return run(directory, stateHome, TIME_LIMIT, line);
    }

    private static Command run(Path directory, Path stateHome, Duration limit, List<String> line) {
        try {
            Path out = Files.createTempFile("millrace-command-", ".out");
            Path err = Files.createTempFile("millrace-command-", ".err");
            try {
                ProcessBuilder builder = new ProcessBuilder(line)
                        .directory(directory.toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
                builder.environment().put("XDG_STATE_HOME", stateHome.toString());
                builder.environment().remove("MILLRACE_ADMIN");
                Process process = builder.start();
                process.getOutputStream().close();
                if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    throw new AssertionError(line + " did not end: " + Files.readString(out) + Files.readString(err));
                }
                return new Command(line, process.exitValue(), Files.readString(out), Files.readString(err));
            } finally {
                Files.delete(out);
                Files.delete(err);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    static boolean isInstalled(String name) {
        return run(Path.of("/"), List.of("sh", "-c", "command -v " + name)).exitCode() == 0;
    }

    /** Returns this after a check that the command succeeded. */
    Command succeeds() {
        if (exitCode != 0) {
            throw new AssertionError("exit code " + exitCode + " of " + this);
        }
        return this;
    }

    Json json() {
        return Json.parse(out);
    }

    @Override
    public String toString() {
        return String.join(" ", line) + "\nexit code " + exitCode + "\n" + out + err;
    }
}
