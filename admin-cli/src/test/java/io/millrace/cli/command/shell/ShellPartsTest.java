package io.millrace.cli.command.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Tests words, completion and history of the shell. */
final class ShellPartsTest {
    @TempDir
    private Path directory;

    @Command(name = "root", subcommands = Sub.class)
    static final class Root {}

    @Command(name = "storage")
    static final class Sub {
        @Option(names = "--reason", completionCandidates = Reasons.class)
        String reason = "";
    }

    static final class Reasons implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of("disk", "test").iterator();
        }
    }

    @Test
    void quotesGroupAndBackslashesEscape() {
        assertEquals(
                List.of("config", "set", "listen=[\":1\"]", "a b", "c d", ""),
                ShellWords.of(" config set 'listen=[\":1\"]' \"a b\" c\\ d \"\" # comment")
                        .words());
        assertTrue(ShellWords.of("a 'b").isOpen());
        assertEquals(List.of("a#b"), ShellWords.of("a#b").words());
        assertEquals(List.of("say \"x\""), ShellWords.of("\"say \\\"x\\\"\"").words());
    }

    @Test
    void commandsOptionsAndValuesAreCompleted() {
        ShellCompletion completion = new ShellCompletion(new CommandLine(new Root()).getCommandSpec());
        assertEquals(List.of("storage"), completion.candidates("st"));
        assertEquals(List.of("storage"), completion.candidates("help st"));
        assertEquals(List.of("--reason"), completion.candidates("storage --re"));
        assertEquals(List.of("disk", "test"), completion.candidates("storage --reason "));
        assertEquals(List.of("disk"), completion.candidates("storage --reason d"));
        assertEquals(List.of(), completion.candidates("storage 'a"));
        assertEquals("stor", ShellCompletion.commonPrefix(List.of("storage", "store")));
    }

    @Test
    void theHistoryIsKeptForItsOwnerOnly() throws Exception {
        Path file = directory.resolve("millrace/shell_history");
        ShellHistory history = ShellHistory.read(file);
        assertEquals(List.of(), history.lines());
        for (String line : List.of("status", "status", " hidden", "", "top", "x".repeat(5000))) {
            history.add(line);
        }
        assertTrue(history.save());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals(List.of("status", "top"), ShellHistory.read(file).lines());
        assertFalse(Files.exists(directory.resolve("millrace/shell_history.new")));
    }

    @Test
    void theHistoryIsBounded() throws Exception {
        Path file = directory.resolve("h");
        ShellHistory history = ShellHistory.read(file);
        for (int i = 0; i < ShellHistory.LINES_MAX + 5; i++) {
            history.add("line " + i);
        }
        assertEquals(ShellHistory.LINES_MAX, history.lines().size());
        assertEquals("line 5", history.lines().get(0));
    }

    @Test
    void aHistoryThatIsNoTextBeginsAnew() throws Exception {
        Path file = Files.write(directory.resolve("h"), new byte[] {(byte) 0xff, (byte) 0xfe});
        assertEquals(List.of(), ShellHistory.read(file).lines());
        assertFalse(ShellHistory.read(directory.resolve("h/below")).save());
    }
}
