package io.millrace.store.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the lease of a file, also between processes. */
class LeasedFileTest {
    @TempDir
    Path directory;

    /** Another process, which prints whether it obtains the lease. */
    static final class Other {
        private Other() {}

        public static void main(String[] arguments) throws IOException {
            try {
                new SystemFileIo().openLeased(Path.of(arguments[0])).lease().close();
                System.out.print("free");
            } catch (LeaseHeldException e) {
                System.out.print("held");
            }
        }
    }

    private static String other(Path file) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Other.class.getName(),
                        file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return said;
    }

    @Test
    void closingAnEarlierHandleKeepsTheLock() throws Exception {
        FileIo io = new SystemFileIo();
        Path file = directory.resolve("file");
        LeasedFile first = io.openLeased(file);
        assertEquals("held", other(file));
        first.lease().close();
        assertEquals("free", other(file));
        // Like a store that takes back its volumes while earlier reads are in progress.
        LeasedFile second = io.openLeased(file);
        first.file().close();
        assertEquals("held", other(file));
        second.file().close();
        second.lease().close();
        assertEquals("free", other(file));
    }

    @Test
    void anotherNameIsTheSameFile() throws IOException {
        FileIo io = new SystemFileIo();
        Path file = directory.resolve("file");
        LeasedFile held = io.openLeased(file);
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        String said = assertThrows(LeaseHeldException.class, () -> io.openLeased(link))
                .getMessage();
        assertTrue(said.contains("in use by another store of this process"), said);
        held.lease().close();
        held.file().close();
    }
}
