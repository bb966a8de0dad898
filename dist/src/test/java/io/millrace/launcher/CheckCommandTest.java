package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.exit.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Tests the choice of the checked file, and the report about it. */
class CheckCommandTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Path good;
    private Path bad;

    @BeforeEach
    void writeFiles() throws Exception {
        good = Files.writeString(
                directory.resolve("good.yaml"), "listen: [':8080']\nremap: [{map: /, to: 'http://127.0.0.1:1/'}]\n");
        bad = Files.writeString(directory.resolve("bad.yaml"), "lisen: [':8080']\n");
    }

    private int check(String... words) {
        return new CommandLine(new CheckCommand())
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(words);
    }

    @Test
    void aFileIsNamedAloneOrAsForRun() {
        assertEquals(ExitCode.OK, check(good.toString()));
        assertEquals(ExitCode.OK, check("--config", good.toString()));
        assertEquals((good + ": ok\n").repeat(2), out.toString());
    }

    @Test
    void everyProblemIsALine() {
        assertEquals(ExitCode.USAGE, check("--config", bad.toString()));
        assertTrue(err.toString().contains(bad + ":1:1: lisen: unknown key (did you mean listen?)"), err::toString);
    }

    @Test
    void twoFilesAreOneTooMany() {
        assertEquals(ExitCode.USAGE, check(bad.toString(), "--config", good.toString()));
        assertTrue(err.toString().contains("name one file: " + bad + " or " + good), err::toString);
    }
}
