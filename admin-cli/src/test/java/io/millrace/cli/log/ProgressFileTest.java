package io.millrace.cli.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that every line is counted once, whatever happened to the file in the meantime. */
final class ProgressFileTest {
    @TempDir
    private Path directory;

    private Path log;
    private Path state;
    private final List<String> said = new ArrayList<>();
    private long writtenMillis = 1_700_000_000_000L;

    @BeforeEach
    void name() {
        log = directory.resolve("access.log");
        state = directory.resolve("stats.state");
    }

    /** Each change is a second later, as far as the file system can tell. */
    private void append(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        writtenMillis += 1000;
        Files.setLastModifiedTime(file, FileTime.fromMillis(writtenMillis));
    }

    private List<String> run() throws IOException {
        List<String> lines = new ArrayList<>();
        try (ProgressFile progress = ProgressFile.open(state)) {
            progress.read(log, lines::add, said::add);
            progress.save();
        }
        return lines;
    }

    private Path rotated(String name) throws IOException {
        return Files.move(log, directory.resolve(name));
    }

    private Path compressed(Path file) throws IOException {
        Path packed = directory.resolve(file.getFileName() + ".gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            Files.copy(file, out);
        }
        Files.setLastModifiedTime(packed, Files.getLastModifiedTime(file));
        Files.delete(file);
        return packed;
    }

    @Test
    void aRunReturnsNewCompleteLines() throws IOException {
        append(log, "1\n2\nhal");
        assertEquals(List.of("1", "2"), run());
        assertEquals(List.of(), run());
        append(log, "f\n3\n");
        assertEquals(List.of("half", "3"), run());
        assertEquals(List.of(), run());
        assertEquals(List.of(), said);
    }

    /** Longer than the compared part of the file, and than a buffer. */
    @Test
    void aLongLogContinuesAtItsLastPosition() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            lines.add("line " + i);
        }
        append(log, String.join("\n", lines) + "\n");
        assertEquals(lines, run());
        append(log, "more\n");
        assertEquals(List.of("more"), run());
    }

    /** With names of the proxy, and of logrotate by number and by date. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "access.log.20261120T110000Z",
                "access.log.20261120T110000Z-1",
                "access.log.1",
                "access.log-20261120"
            })
    void acrossARotation(String name) throws IOException {
        append(log, "1\n2\n");
        assertEquals(List.of("1", "2"), run());
        append(log, "3\n");
        Path old = rotated(name);
        append(log, "4\n");
        assertEquals(List.of("3", "4"), run());
        append(old, "late\n");
        append(log, "5\n");
        assertEquals(List.of("late", "5"), run(), "its writer noticed the rotation later");
        assertEquals(List.of(), run());
        assertEquals(List.of(), said);
    }

    @Test
    void acrossTwoRotationsOfWhichTheFirstIsCompressed() throws IOException {
        append(log, "1\n");
        run();
        append(log, "2\n");
        Path first = rotated("access.log.2");
        append(log, "3\n4\n");
        rotated("access.log.1");
        append(log, "5\n");
        compressed(first);
        assertEquals(List.of("2", "3", "4", "5"), run());
        assertEquals(List.of(), run());
        assertEquals(List.of(), said);
    }

    @Test
    void acrossARotationWithoutLaterLines() throws IOException {
        append(log, "1\n");
        run();
        append(log, "2\n");
        Path old = rotated("access.log.1");
        append(log, "");
        assertEquals(List.of("2"), run());
        assertEquals(List.of(), run());
        append(old, "late\n");
        append(log, "3\n");
        assertEquals(List.of("late", "3"), run());
    }

    @Test
    void whileTheLogIsNotThereYet() throws IOException {
        append(log, "1\n");
        run();
        append(log, "2\n");
        rotated("access.log.1");
        assertEquals(List.of("2"), run());
        assertEquals(List.of(), run());
        append(log, "3\n");
        assertEquals(List.of("3"), run());
        assertEquals(List.of(), said);
    }

    /** logrotate's copytruncate: the name still denotes the same file. */
    @Test
    void acrossACopyAndACut() throws IOException {
        append(log, "1\n");
        run();
        append(log, "2\n");
        Path copy = directory.resolve("access.log.1");
        Files.copy(log, copy, StandardCopyOption.COPY_ATTRIBUTES);
        append(copy, "");
        Files.writeString(log, "");
        append(log, "3\n");
        assertEquals(List.of("2", "3"), run());
        append(log, "4\n");
        assertEquals(List.of("4"), run());
    }

    @Test
    void missingLinesAreReportedAndTheRestIsCounted() throws IOException {
        append(log, "1\n");
        run();
        append(log, "lost\n");
        Files.delete(rotated("access.log.2"));
        append(log, "2\n");
        rotated("access.log.1");
        append(log, "3\n");
        assertEquals(List.of("2", "3"), run());
        assertEquals(
                List.of("the log file of the last run, read up to byte 2, is not found beside " + log
                        + ": lines written to that file since then are not counted"),
                said);
    }

    @Test
    void filesWithSimilarNamesAreNotRotatedLogs() throws IOException {
        append(log, "1\n");
        run();
        rotated("access.log.1");
        append(directory.resolve("access.log.state"), "no\n");
        append(directory.resolve("access.log2"), "no\n");
        append(directory.resolve("other.log.1"), "no\n");
        append(log, "2\n");
        assertEquals(List.of("2"), run());
    }

    @Test
    void linesAreReadAgainWithoutASave() throws IOException {
        append(log, "1\n");
        try (ProgressFile progress = ProgressFile.open(state)) {
            progress.read(log, line -> {}, said::add);
        }
        assertEquals(List.of("1"), run());
    }

    @Test
    void severalLogsHaveTheirPlacesInOneFile() throws IOException {
        append(log, "1\n");
        run();
        Path first = log;
        log = directory.resolve("other.log");
        append(log, "a\n");
        assertEquals(List.of("a"), run());
        log = first;
        append(log, "2\n");
        assertEquals(List.of("2"), run());
    }

    @Test
    void oneRunAtATimeHasIt() throws IOException {
        append(log, "1\n");
        run();
        try (ProgressFile progress = ProgressFile.open(state)) {
            IOException refused = assertThrows(IOException.class, this::run);
            assertEquals(state + " is in use by another run", refused.getMessage());
            progress.save();
        }
        assertEquals(List.of(), run());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1700000000.123 4 a line\n", "{}", "{\"version\":2}"})
    void foreignFilesAreRefusedAndKept(String text) throws IOException {
        Files.writeString(state, text);
        IOException refused = assertThrows(IOException.class, this::run);
        assertTrue(refused.getMessage().startsWith(state + " is not a progress file ("), refused::getMessage);
        assertEquals(text, Files.readString(state));
    }

    @Test
    void aLogThatIsNotThereIsAnErrorTheFirstTime() {
        assertThrows(IOException.class, this::run);
    }
}
