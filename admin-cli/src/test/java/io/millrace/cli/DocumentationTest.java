package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Tests that {@code docs/reference/millctl.md} names every command, option, variable and exit code. */
final class DocumentationTest {
    private final String page;

    DocumentationTest() throws IOException {
        page = Files.readString(Path.of("../docs/reference/millctl.md"));
    }

    private void assertDocumented(String text) {
        assertTrue(page.contains(text), () -> "docs/reference/millctl.md lacks: " + text);
    }

    private void assertDocumented(CommandLine command) {
        if (command.getSubcommands().isEmpty()) {
            assertDocumented("`" + command.getCommandSpec().qualifiedName());
        }
        for (OptionSpec option : command.getCommandSpec().options()) {
            assertDocumented("`" + option.longestName());
        }
        for (String line : command.getCommandSpec().usageMessage().description()) {
            assertTrue(!line.isBlank(), command.getCommandName());
        }
        command.getSubcommands().values().forEach(this::assertDocumented);
    }

    @Test
    void namesEveryCommandAndOption() {
        assertDocumented(CommandTree.root());
    }

    @Test
    void namesEveryVariableAndExitCode() {
        for (String text : new String[] {
            "`MILLRACE_ADMIN`",
            "`MILLRACE_ADMIN_TOKEN`",
            "`XDG_STATE_HOME`",
            "`NO_COLOR`",
            "| 0 |",
            "| 1 |",
            "| 2 |",
            "| 3 |",
            "| 75 |",
            "| 130 |"
        }) {
            assertDocumented(text);
        }
    }
}
