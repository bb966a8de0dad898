package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * Tests the lists of commands in the help of {@code millrace}: each command has one short, whole sentence on one line.
 */
final class CommandListTest {
    private static final int WIDTH = 80;

    @Test
    void describesEveryCommandInOneSentenceOnOneLine() {
        assertList(LauncherMain.commandLine("none"));
    }

    private static void assertList(CommandLine group) {
        List<String> expected = new ArrayList<>();
        int longest = group.getSubcommands().keySet().stream()
                .mapToInt(String::length)
                .max()
                .orElse(0);
        group.getSubcommands().forEach((name, command) -> {
            String sentence = command.getCommandSpec().usageMessage().description()[0];
            assertTrue(sentence.matches("[A-Z].*[^.]\\."), name + ": " + sentence);
            assertTrue(!sentence.contains(". "), name + ": " + sentence);
            String line = "  " + name + " ".repeat(longest - name.length()) + "  " + sentence;
            assertTrue(line.length() <= WIDTH, line);
            expected.add(line);
            assertList(command);
        });
        assertEquals(
                expected,
                group.getHelp().commandList().lines().map(String::stripTrailing).toList());
    }

    @Test
    void everyHelpFitsOnATerminal() {
        assertFits(LauncherMain.commandLine("none"));
    }

    private static void assertFits(CommandLine command) {
        command.getUsageMessage().lines().forEach(line -> assertTrue(line.length() <= WIDTH, line));
        command.getSubcommands().values().forEach(CommandListTest::assertFits);
    }

    @Test
    void listsCommandsInTheOrderOfUse() {
        assertEquals(
                List.of("run", "init", "check", "schema", "store", "log", "import", "archive", "version"),
                List.copyOf(LauncherMain.commandLine("none").getSubcommands().keySet()));
    }
}
