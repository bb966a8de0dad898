package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Tests the list of commands in a help: each command has one short, whole sentence on one line. */
final class CommandListTest {
    private static final int WIDTH = 80;

    static Stream<String> groups() {
        return CommandTree.all().stream()
                .filter(command -> !command.getSubcommands().isEmpty())
                .map(CommandTree::words);
    }

    private static CommandLine named(String words) {
        return CommandTree.all().stream()
                .filter(command -> CommandTree.words(command).equals(words))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest(name = "millctl {0}")
    @MethodSource("groups")
    void describesEveryCommandInOneSentenceOnOneLine(String words) {
        CommandLine group = named(words);
        int longest = group.getSubcommands().keySet().stream()
                .mapToInt(String::length)
                .max()
                .orElseThrow();
        List<String> expected = new ArrayList<>();
        group.getSubcommands().forEach((name, command) -> {
            String sentence = command.getCommandSpec().usageMessage().description()[0];
            assertTrue(sentence.matches("[A-Z].*[^.]\\."), name + ": " + sentence);
            assertTrue(!sentence.contains(". "), name + ": " + sentence);
            String line = "  " + name + " ".repeat(longest - name.length()) + "  " + sentence;
            assertTrue(line.length() <= WIDTH, line);
            expected.add(line);
        });
        List<String> printed =
                group.getHelp().commandList().lines().map(String::stripTrailing).toList();
        assertEquals(expected, printed);
    }
}
