package io.millrace.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What bash makes of the script, and the page for man. */
final class CompletionTest {
    @TempDir
    private Path directory;

    private Run millctl(String... arguments) {
        return Run.of(new Surroundings(Map.of(), directory, directory, null, false), arguments);
    }

    private String completed(String line) throws IOException, InterruptedException {
        Path script = directory.resolve("script");
        Run run = millctl("completion", "bash");
        assertEquals(0, run.exitCode(), run.err());
        Files.writeString(script, run.out());
        int last = line.split(" ", -1).length - 1;
        // compopt says something to a line editor, and there is none.
        String words = "compopt() { :; }; COMP_WORDS=(" + line + ");";
        Process bash = new ProcessBuilder(
                        "bash",
                        "--norc",
                        "-c",
                        "source '" + script + "'; " + words + " COMP_CWORD=" + last + "; COMP_LINE='" + line
                                + "'; COMP_POINT=${#COMP_LINE}; _complete_millctl; echo \"${COMPREPLY[*]}\"")
                .redirectErrorStream(true)
                .start();
        String said = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, bash.waitFor(), said);
        return said.strip();
    }

    @ParameterizedTest
    @CsvSource({
        "millctl serv, server",
        "millctl server dr, drain",
        "millctl explain --meth, --method",
        "millctl log st, stats"
    })
    void bashCompletesCommandsAndOptions(String line, String word) throws Exception {
        assertEquals(word, completed(line));
    }

    @Test
    void anotherShellIsRefused() {
        Run run = millctl("completion", "fish");
        assertEquals(2, run.exitCode());
        assertEquals("millctl: completes in bash and zsh, not in: fish\n", run.err());
        assertTrue(millctl("completion", "zsh").out().contains("bashcompinit"));
    }

    @Test
    void thePageForManHasEveryCommandAndNoLineThatRoffWouldTake() {
        Run run = millctl("help", "--man");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().startsWith(".TH MILLCTL 1 "), run.out());
        for (String line : run.out().split("\n", -1)) {
            assertTrue(
                    !line.startsWith(".")
                            || line.startsWith(".TH")
                            || line.startsWith(".SH")
                            || line.startsWith(".SS")
                            || line.equals(".TP")
                            || line.startsWith(".B "),
                    line);
        }
        assertTrue(run.out().contains(".SS \"millctl explain URL\"\n"), run.out());
        assertTrue(run.out().contains(".SS \"millctl log cat [FILE...]\"\n"), run.out());
        assertTrue(run.out().contains(".B \\-i, \\-\\-interval SECONDS\n"), run.out());
    }
}
