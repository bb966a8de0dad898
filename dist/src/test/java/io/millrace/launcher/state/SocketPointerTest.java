package io.millrace.launcher.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.millrace.cli.client.Instances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SocketPointerTest {
    @TempDir
    Path directory;

    private Path states() {
        return directory.resolve("states");
    }

    private List<String> pointers() throws IOException {
        try (Stream<Path> files = Files.list(states().resolve(Instances.POINTERS))) {
            return files.map(file -> {
                        try {
                            return Files.readString(file);
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    })
                    .sorted()
                    .toList();
        }
    }

    @Test
    void namesASocketElsewhereUntilItIsClosed() throws IOException {
        Path one = directory.resolve("site/admin.sock");
        Path other = directory.resolve("other/../other/admin.sock");
        Files.createDirectories(one.getParent());
        Files.createDirectories(directory.resolve("other"));
        SocketPointer.write(states(), one);
        SocketPointer second = SocketPointer.write(states(), other);
        assertEquals(List.of(directory.resolve("other/admin.sock") + "\n", one + "\n"), pointers());
        // The launcher after a killed one has the same socket.
        SocketPointer.write(states(), one).close();
        assertEquals(List.of(directory.resolve("other/admin.sock") + "\n"), pointers());
        second.close();
        assertEquals(List.of(), pointers());
        second.close();
    }

    /** A killed launcher leaves its file, which the next launcher deletes if the state directory is gone. */
    @Test
    void othersMayNeitherReadNorChangeIt() throws IOException {
        Path socket = directory.resolve("site/admin.sock");
        Files.createDirectories(socket.getParent());
        SocketPointer.write(states(), socket);
        SocketPointer.write(states(), socket);
        Path pointers = states().resolve(Instances.POINTERS);
        assertEquals("rwxr-x---", PosixFilePermissions.toString(Files.getPosixFilePermissions(states())));
        assertEquals("rwxr-x---", PosixFilePermissions.toString(Files.getPosixFilePermissions(pointers)));
        try (Stream<Path> files = Files.list(pointers)) {
            Path file = files.findAny().orElseThrow();
            assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        }
    }

    @Test
    void filesWithoutAStateDirectoryAreDeleted() throws IOException {
        Path gone = directory.resolve("gone/admin.sock");
        SocketPointer.write(states(), gone);
        Path one = Files.createDirectories(directory.resolve("site")).resolve("admin.sock");
        try (SocketPointer kept = SocketPointer.write(states(), one)) {
            assertEquals(List.of(one + "\n"), pointers(), kept.toString());
        }
    }

    @Test
    void aSocketInAStateDirectoryNeedsNone() {
        SocketPointer.write(states(), states().resolve("8080/admin.sock")).close();
        assertFalse(Files.exists(states()));
    }

    @Test
    void aDirectoryThatCannotBeWrittenIsNoFailure() throws IOException {
        Files.writeString(states(), "a file");
        SocketPointer.write(states(), directory.resolve("admin.sock")).close();
        assertEquals("a file", Files.readString(states()));
    }

    @Test
    void anUnreadableFileIsNoFailure() throws IOException {
        Path pointers = Files.createDirectories(states().resolve(SocketPointer.DIRECTORY));
        Files.createDirectory(pointers.resolve("directory"));
        Files.write(pointers.resolve("bytes"), new byte[] {(byte) 0xff, 0});
        Path one = Files.createDirectories(directory.resolve("site")).resolve("admin.sock");
        try (SocketPointer pointer = SocketPointer.write(states(), one)) {
            assertEquals(one + "\n", Files.readString(Path.of(pointer.toString())));
        }
    }

    @Test
    void millctlReadsTheSameDirectory() {
        assertEquals(Instances.POINTERS, SocketPointer.DIRECTORY);
    }
}
