package io.millrace.cli.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LogFollowerTest {
    @TempDir
    private Path directory;

    private Path file;
    private final List<String> lines = new ArrayList<>();

    @BeforeEach
    void name() {
        file = directory.resolve("access.log");
    }

    private static void append(Path to, String text) throws IOException {
        Files.writeString(to, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Returns a follower of a file, of which it has read one line. */
    private LogFollower behindOneLine() throws IOException {
        append(file, "one\n");
        LogFollower follower = new LogFollower(file);
        assertEquals(List.of("one"), follower.last(1, line -> true));
        return follower;
    }

    /** Renames the file as a rotation does; returns the new name. */
    private Path rename(int number) throws IOException {
        return Files.move(file, directory.resolve("access.log." + number));
    }

    private List<String> polled(LogFollower follower) throws IOException {
        lines.clear();
        follower.poll(lines::add);
        return List.copyOf(lines);
    }

    @Test
    void theLastLinesArePrintedFirstAndLaterLinesOnce() throws IOException {
        append(file, "one\ntwo\nthree\nhal");
        try (LogFollower follower = new LogFollower(file)) {
            assertEquals(List.of("two", "three"), follower.last(2, line -> true));
            assertEquals(List.of(), polled(follower));
            append(file, "f\nfour\n");
            assertEquals(List.of("half", "four"), polled(follower));
            assertEquals(List.of(), polled(follower));
        }
    }

    @Test
    void conditionsChooseAmongTheLastLines() throws IOException {
        append(file, "a1\nb1\na2\nb2\n");
        try (LogFollower follower = new LogFollower(file)) {
            assertEquals(List.of("a1", "a2"), follower.last(2, line -> line.startsWith("a")));
        }
    }

    @Test
    void afterARenameTheOldFileIsReadToItsEndAndTheNewOneFromItsBeginning() throws IOException {
        try (LogFollower follower = behindOneLine()) {
            Path renamed = rename(1);
            append(renamed, "late\n");
            assertEquals(List.of("late"), polled(follower));
            append(renamed, "last\n");
            append(file, "new\n");
            assertEquals(List.of("last", "new"), polled(follower));
            append(file, "newer\n");
            assertEquals(List.of("newer"), polled(follower));
        }
    }

    @Test
    void aFileThatBecameShorterIsReadAnew() throws IOException {
        append(file, "one\ntwo\n");
        try (LogFollower follower = new LogFollower(file)) {
            follower.last(0, line -> true);
            Files.writeString(file, "x\n");
            assertEquals(List.of("x"), polled(follower));
        }
    }

    @Test
    void aFileThatIsNotThereYetIsWaitedFor() throws IOException {
        try (LogFollower follower = new LogFollower(file)) {
            assertEquals(List.of(), follower.last(5, line -> true));
            assertEquals(List.of(), polled(follower));
            append(file, "one\n");
            assertEquals(List.of("one"), polled(follower));
        }
    }

    @Test
    void aRenamedFileIsReadForAWhileSinceItsWriterMayNoticeLater() throws IOException {
        try (LogFollower follower = behindOneLine()) {
            Path renamed = rename(1);
            append(file, "");
            assertEquals(List.of(), polled(follower));
            append(renamed, "late\nhal");
            assertEquals(List.of("late"), polled(follower));
            append(renamed, "f\nopen");
            append(file, "new\n");
            assertEquals(List.of("half", "new"), polled(follower));
            List<String> after = new ArrayList<>();
            for (int i = 0; i < LogFollower.OLD_POLLS_MAX; i++) {
                after.addAll(polled(follower));
            }
            assertEquals(List.of("open"), after);
            append(renamed, "too late\n");
            append(file, "newer\n");
            assertEquals(List.of("newer"), polled(follower));
        }
    }

    @Test
    void theNextRotationEndsTheFileBeforeTheLast() throws IOException {
        try (LogFollower follower = behindOneLine()) {
            for (int i = 1; i < 4; i++) {
                Path renamed = rename(i);
                append(renamed, "open" + i);
                append(file, "new" + i + "\n");
                assertEquals(i == 1 ? List.of("new1") : List.of("open" + (i - 1), "new" + i), polled(follower));
            }
        }
    }

    @Test
    void aRotationWhileTheFileIsOpenedIsNoticed() throws IOException {
        append(file, "one\n");
        Path renamed = directory.resolve("access.log.1");
        LogFollower.Opener rotating = path -> {
            FileChannel opened = FileChannel.open(path, StandardOpenOption.READ);
            if (!Files.exists(renamed)) {
                Files.move(file, renamed);
                append(file, "new\n");
            }
            return opened;
        };
        try (LogFollower follower = new LogFollower(file, rotating)) {
            assertEquals(List.of("new"), follower.last(5, line -> true));
            append(file, "newer\n");
            assertEquals(List.of("newer"), polled(follower));
        }
    }
}
