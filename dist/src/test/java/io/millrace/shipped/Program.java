package io.millrace.shipped;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A finished run of a program that checks shipped files. Immutable. */
record Program(int exitCode, String output) {
    private static final long LIMIT_SECONDS = 120;

    /** Skips the test if the program is neither in the PATH nor in the directory of Go programs. */
    static String require(String name, String remedy) {
        List<Path> directories = new ArrayList<>();
        for (String directory : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            directories.add(Path.of(directory));
        }
        directories.add(Path.of(System.getProperty("user.home"), "go", "bin"));
        for (Path directory : directories) {
            if (Files.isExecutable(directory.resolve(name))) {
                return directory.resolve(name).toString();
            }
        }
        Assumptions.abort("SKIPPED: " + name + " is not installed; " + remedy);
        return name;
    }

    /** Runs a program and returns both of its output streams together. */
    static Program run(Path directory, List<String> line) throws IOException, InterruptedException {
        Path output = Files.createTempFile("millrace-program-", ".out");
        try {
            Process process = new ProcessBuilder(line)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(line + " did not end: " + Files.readString(output));
            }
            return new Program(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
        } finally {
            Files.delete(output);
        }
    }

    /** Returns the output after a check that the program succeeded. */
    String succeeds() {
        if (exitCode != 0) {
            throw new AssertionError("exit code " + exitCode + ": " + output);
        }
        return output;
    }
}
