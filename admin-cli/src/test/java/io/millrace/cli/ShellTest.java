package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.client.ScriptedAdmin.End;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code millctl shell} without a terminal: it runs the lines of standard input. */
final class ShellTest {
    @TempDir
    private Path directory;

    private Run shell(String input, String... options) {
        ProcessEnvironment environment = new ProcessEnvironment(
                Map.of(),
                directory,
                directory.resolve("run"),
                null,
                false,
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
        String[] words = new String[options.length + 1];
        words[0] = "shell";
        System.arraycopy(options, 0, words, 1, options.length);
        return Run.of(environment, words);
    }

    @Test
    void everyLineIsACommandWithTheOptionsOfTheShell() throws Exception {
        String answer = ScriptedAdmin.response(200, "{\"previous_pid\":1}");
        try (ScriptedAdmin admin = ScriptedAdmin.on(directory.resolve("admin.sock"), End.CLOSE, answer)) {
            Run run = shell(
                    "# a comment\n\nserver threads\n  millctl server threads --depth 3\nexit\nserver threads\n",
                    "--admin",
                    directory.toString(),
                    "-o",
                    "json");
            assertEquals(0, run.exitCode(), run.err());
            assertEquals(2, admin.requests().size(), () -> String.join("\n", admin.requests()));
            assertTrue(admin.requests().get(1).startsWith("GET /v1/server/threads?depth=3 "));
            assertEquals("{\"previous_pid\":1}\n".repeat(2), run.out());
        }
    }

    @Test
    void aFailedLineDoesNotEndTheShellButGivesItsExitCode() {
        Run run = shell("nothing\nvia 'unclosed\nshell\nvia 'uScHs f p eN:t cCHi p s '\n");
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("a quote is not closed"), run.err());
        assertTrue(run.err().contains("this is a shell already"), run.err());
        assertTrue(run.err().contains("nothing"), run.err());
        assertTrue(!run.out().isEmpty(), run.toString());
    }

    @Test
    void helpListsTheSameCommands() {
        Run run = shell("help server\n");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("millctl server COMMAND [OPTIONS]"), run.out());
    }

    @Test
    void watchBelongsToACommand() {
        Run run = shell("", "--watch");
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("--watch is for a command in the shell"), run.err());
    }
}
