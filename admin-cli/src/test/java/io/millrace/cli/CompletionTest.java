package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the completion scripts in bash and zsh. */
final class CompletionTest {
    @TempDir
    private Path directory;

    private Run millctl(String... arguments) {
        return Run.of(new ProcessEnvironment(Map.of(), directory, directory, null, false), arguments);
    }

    private String completedByBash(String line) throws IOException, InterruptedException {
        Path script = directory.resolve("script");
        Run run = millctl("completion", "bash");
        assertEquals(0, run.exitCode(), run.err());
        Files.writeString(script, run.out());
        int last = line.split(" ", -1).length - 1;
        // compopt configures a line editor, which does not exist here.
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
        "millctl log st, stats",
        "millctl completion z, zsh",
        "millctl status -o j, json",
        "millctl log cat --output t, table"
    })
    void bashCompletesCommandsAndOptions(String line, String word) throws Exception {
        assertEquals(word, completedByBash(line));
    }

    @Test
    void anotherShellIsRefused() {
        Run run = millctl("completion", "fish");
        assertEquals(2, run.exitCode());
        assertEquals("millctl: completes in bash and zsh, not in: fish\n", run.err());
    }

    @ParameterizedTest
    @CsvSource({"bash, bash-completion/completions/millctl", "zsh, zsh/site-functions/_millctl"})
    void inJsonIsTheScriptThatIsPacked(String shell, String file) throws IOException {
        Run run = millctl("completion", shell, "-o", "json");
        JsonObject json = JsonObject.parse(run.out().getBytes(StandardCharsets.UTF_8));
        assertEquals(shell, json.text("shell"));
        assertEquals(
                Files.readString(Path.of("../dist/src/main/dist/share").resolve(file)), json.text("script") + "\n");
    }

    /**
     * Returns the words that a zsh on a terminal offers, each with its description. Its completion system writes the
     * list to a file and then exits.
     */
    private String completedByZsh(String line) throws IOException, InterruptedException {
        Files.writeString(
                Files.createDirectories(directory.resolve("functions")).resolve("_millctl"),
                millctl("completion", "zsh").out());
        Path scripts = Path.of("src/test/resources/io/millrace/cli/zsh").toAbsolutePath();
        Process zsh = new ProcessBuilder("zsh", "-f", scripts + "/outer.zsh", scripts + "/inner.zsh", line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        zsh.getOutputStream().close();
        String said = new String(zsh.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, zsh.waitFor(), said);
        Path offered = directory.resolve("offered");
        return Files.exists(offered)
                ? String.join(" ", Files.readString(offered).strip().split("\\s+", -1))
                : "";
    }

    @ParameterizedTest
    @CsvSource({
        "millctl serv, server",
        "millctl server dr, drain",
        "millctl --admin /x config res, reset",
        "millctl explain --meth, --method",
        "millctl log st, stats",
        "millctl completion z, zsh",
        "millctl status -o j, json"
    })
    void zshCompletesCommandsOptionsAndWords(String line, String word) throws Exception {
        assumeTrue(Tool.isInstalled("zsh"), "SKIPPED: zsh is not installed");
        assertEquals(word, completedByZsh(line));
    }
}
