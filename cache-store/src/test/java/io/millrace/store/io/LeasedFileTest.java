package io.millrace.store.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
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
    void directWritesKeepTheLock() throws Exception {
        FileIo io = new SystemFileIo();
        Path file = directory.resolve("file");
        LeasedFile first = io.openLeased(file);
        int blockBytes = openDirect(first.file());
        byte[] bytes = new byte[2 * blockBytes];
        new Random(1).nextBytes(bytes);
        ByteBuffer source = ByteBuffer.allocateDirect(3 * blockBytes)
                .alignedSlice(blockBytes)
                .limit(bytes.length);
        first.file().writeDirect(source.put(0, bytes), 0);
        ByteBuffer found = ByteBuffer.allocate(bytes.length);
        assertEquals(bytes.length, first.file().read(found, 0));
        assertArrayEquals(bytes, found.array());
        assertEquals("held", other(file));
        first.lease().close();
        LeasedFile second = io.openLeased(file);
        assertEquals(0, second.file().directBlockBytes(), "direct writes are a setting of each user");
        first.file().close();
        // The direct channel stays open with the other one: its close would release the lock.
        assertEquals("held", other(file));
        assertEquals(blockBytes, second.file().openDirect());
        second.file().close();
        second.lease().close();
        assertEquals("free", other(file));
    }

    /** Opens the direct channel; skips the test if the file system refuses it. */
    private static int openDirect(StoreFile file) {
        try {
            return file.openDirect();
        } catch (IOException e) {
            System.out.println("skipped, no direct writes here: " + e.getMessage());
            return abort(e.getMessage());
        }
    }

    @Test
    void aRefusalNamesTheFileSystem() throws IOException {
        Path processes = Path.of("/proc/self/comm");
        StoreFile file = new SystemFileIo().open(processes);
        String said = assertThrows(IOException.class, file::openDirect).getMessage();
        assertTrue(said.startsWith("/proc/self/comm: the file system proc refuses O_DIRECT ("), said);
        assertEquals(0, file.directBlockBytes());
        file.close();
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
