package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.Checksums;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.FileFaults;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests unusable storage paths: the store starts without them and reports the reason. */
class VolumeErrorsTest {
    private static final Path VOLUME = Path.of("/volume0");

    @TempDir
    Path directory;

    /** Returns the store's message about its first volume; the second volume works. */
    private static String errorAt(Path path, Path fine) {
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(new VolumeConfig(path, 4 << 20), new VolumeConfig(fine, 4 << 20)))
                .segmentBytes(128 * 1024)
                .blockBytes(8192)
                .ramBytes(0);
        try (TestStore test = new TestStore(config, new SystemFileIo()).withoutCheck()) {
            assertTrue(test.put("a", "h", TestStore.body(1, 100)));
            test.sync();
            assertEquals("h", test.head("a"));
            List<StoreStatistics.Volume> volumes = test.store.statistics().volumes();
            assertEquals(StoreStatistics.State.OFFLINE, volumes.get(0).state());
            assertEquals(StoreStatistics.State.ONLINE, volumes.get(1).state());
            return volumes.get(0).lastError();
        }
    }

    @Test
    void aPathThatIsAFile() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "mine");
        String error = errorAt(file, directory.resolve("fine"));
        assertTrue(error.startsWith(file + ": not a directory"), error);
        assertEquals("mine", Files.readString(file));
    }

    @Test
    void aPathBelowAFile() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "mine");
        String error = errorAt(file.resolve("cache"), directory.resolve("fine"));
        assertTrue(error.startsWith(file + "/cache: not a directory, or a file is above it in the path"), error);
    }

    @Test
    void theSystemsWordsAreExplained() {
        assertSaid("missing, and cannot be created", new NoSuchFileException("/x"));
        assertSaid("permission denied to user", new AccessDeniedException("/x"));
        assertSaid("on a read-only file system", new FileSystemException("/x", null, "Read-only file system"));
        assertSaid("no space left", new IOException("No space left on device"));
        assertSaid("the device reports I/O errors", new IOException("Input/output error"));
        IOException own = new IOException("record of 5 bytes does not fit");
        assertEquals(own, FileFaults.explain(Path.of("/x"), own));
    }

    private static void assertSaid(String expected, IOException fault) {
        String said = FileFaults.messageOf(FileFaults.explain(Path.of("/x"), fault));
        assertTrue(said.startsWith("/x: " + expected), said);
        assertTrue(said.contains("("), said);
    }

    /** Gives both superblocks another format version. */
    private static void setVersion(FileIo io, int version) throws IOException {
        try (StoreFile file = io.open(VOLUME.resolve("volume"))) {
            for (int copy = 0; copy < 2; copy++) {
                ByteBuffer block = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
                file.read(block, copy * 4096L);
                block.putInt(8, version);
                block.putInt(4092, Checksums.crc32c(block, 0, 4092));
                file.write(block.flip().limit(4096), copy * 4096L);
            }
        }
    }

    private static FaultyFileIo written() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            test.put("a", "h", TestStore.body(1, 1000));
        }
        return io;
    }

    private static byte[] bytes(FileIo io) throws IOException {
        try (StoreFile file = io.open(VOLUME.resolve("volume"))) {
            ByteBuffer all = ByteBuffer.allocate((int) file.length());
            file.read(all, 0);
            return all.array();
        }
    }

    @Test
    void aNewerFormatIsLeftAlone() throws IOException {
        FaultyFileIo io = written();
        setVersion(io, 99);
        byte[] before = bytes(io);
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io).withoutCheck()) {
            StoreStatistics.Volume volume = test.store.statistics().volumes().get(0);
            assertEquals(StoreStatistics.State.OFFLINE, volume.state());
            assertTrue(
                    volume.lastError().contains("format version 99 is newer than this release reads ("),
                    volume.lastError());
        }
        assertArrayEquals(before, bytes(io));
    }

    @Test
    void anOlderFormatStartsEmpty() throws IOException {
        FaultyFileIo io = written();
        setVersion(io, 0);
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            assertNull(test.find("a"));
            assertTrue(test.put("a", "new", TestStore.body(1, 1000)));
            test.sync();
            assertEquals("new", test.head("a"));
        }
    }
}
