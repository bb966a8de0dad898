package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.FileSlice;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bodies that are sent from their volume's file. */
class FileSliceTest {
    private static final int BLOCK = 256 * 1024;
    private static final int CHUNK = 64 * 1024;
    /** Four blocks, the last of them short. */
    private static final int LENGTH = 3 * BLOCK + CHUNK + 5000;

    @TempDir
    private Path directory;

    private TestStore test;
    private byte[] body;

    @BeforeEach
    void open() {
        test = new TestStore(config(), new SystemFileIo());
        body = TestStore.body(1, LENGTH);
    }

    @AfterEach
    void close() {
        test.close();
    }

    private StoreConfig.Builder config() {
        return StoreConfig.builder()
                .ramBytes(0)
                .volumes(List.of(new VolumeConfig(directory, 16 << 20)))
                .segmentBytes(2 << 20)
                .blockBytes(BLOCK)
                .diskAdmission(DiskAdmission.ALWAYS)
                .ioThreads(1);
    }

    private StoredObject<TextHead> stored(String key, byte[] bytes) {
        assertTrue(test.put(key, "h", bytes));
        test.sync();
        StoredObject<TextHead> object = test.find(key);
        assertNotNull(object);
        return object;
    }

    private static byte[] content(FileSlice slice) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(slice.length());
        assertEquals(slice.length(), slice.channel().read(bytes, slice.position()));
        return bytes.array();
    }

    /** What is sent of the whole body, position by position as a sender asks for it. */
    private void assertSentFromFile(StoredObject<?> object, byte[] expected) throws IOException {
        int at = 0;
        while (at < expected.length) {
            FileSlice slice = object.fileSlice(at, Integer.MAX_VALUE);
            assertNotNull(slice, "at " + at);
            assertTrue(slice.length() <= StoredObject.READ_LENGTH_MAX);
            assertArrayEquals(Arrays.copyOfRange(expected, at, at + slice.length()), content(slice), "at " + at);
            at += slice.length();
            slice.release();
        }
        assertEquals(expected.length, at);
    }

    @Test
    void whatWasNotVerifiedYetIsRead() throws IOException {
        StoredObject<TextHead> object = stored("a", body);
        assertNull(object.fileSlice(0, LENGTH));
        assertArrayEquals(body, TestStore.readAll(object));
        assertSentFromFile(object, body);
        object.release();
        // Another request, another handle.
        object = test.find("a");
        assertSentFromFile(object, body);
        object.release();
    }

    @Test
    void aBodyInOneRecordIsSentFromTheFileToo() throws IOException {
        byte[] small = Arrays.copyOf(body, BLOCK - 17);
        StoredObject<TextHead> object = stored("a", small);
        assertArrayEquals(small, TestStore.readAll(object));
        assertSentFromFile(object, small);
        object.release();
    }

    @Test
    void aSliceEndsWithWhatIsVerified() throws IOException {
        StoredObject<TextHead> object = stored("a", body);
        TestStore.readSome(object, BLOCK + CHUNK, 2 * CHUNK);
        assertNull(object.fileSlice(BLOCK, BLOCK));
        FileSlice slice = object.fileSlice(BLOCK + CHUNK + 100, BLOCK);
        assertNotNull(slice);
        assertEquals(2 * CHUNK - 100, slice.length());
        assertArrayEquals(Arrays.copyOfRange(body, BLOCK + CHUNK + 100, BLOCK + 3 * CHUNK), content(slice));
        slice.release();
        object.release();
    }

    @Test
    void anyPartIsExact() throws IOException {
        StoredObject<TextHead> object = stored("a", body);
        TestStore.readAll(object);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 500; i++) {
            int from = random.nextInt(LENGTH);
            int wanted = 1 + random.nextInt(LENGTH);
            FileSlice slice = object.fileSlice(from, wanted);
            assertNotNull(slice, "seed " + seed);
            assertTrue(slice.length() <= Math.min(wanted, LENGTH - from), "seed " + seed);
            assertArrayEquals(Arrays.copyOfRange(body, from, from + slice.length()), content(slice), "seed " + seed);
            slice.release();
        }
        assertNull(object.fileSlice(LENGTH, 1));
        assertNull(object.fileSlice(-1, 1));
        object.release();
    }

    /** It holds the object, and that its segment. */
    @Test
    void aSliceOutlivesItsObjectAndTheRing() throws IOException {
        StoredObject<TextHead> object = stored("a", body);
        TestStore.readAll(object);
        FileSlice slice = object.fileSlice(0, BLOCK);
        assertNotNull(slice);
        object.release();
        test.remove("a");
        for (int i = 0; i < 200; i++) {
            test.put("b" + i, "h", TestStore.body(i, BLOCK));
        }
        test.sync();
        assertTrue(test.store.statistics().counters().segmentsReclaimed() > 8);
        assertArrayEquals(Arrays.copyOf(body, slice.length()), content(slice));
        slice.release();
    }

    /** What lies there now is another's, and not verified. */
    @Test
    void marksOfAnEarlierUseOfASegmentDoNotCount() throws IOException {
        for (int i = 0; i < 120; i++) {
            byte[] bytes = TestStore.body(i, BLOCK);
            StoredObject<TextHead> object = stored("k" + i, bytes);
            assertNull(object.fileSlice(0, BLOCK), "k" + i);
            TestStore.readAll(object);
            assertSentFromFile(object, bytes);
            object.release();
        }
        assertTrue(test.store.statistics().counters().segmentsReclaimed() > 8);
    }

    /** Its number must not become another file's while the system may still send from it. */
    @Test
    void theDescriptorOfAClosedVolumeStaysUntilTheLastSliceIsReleased() throws IOException {
        StoredObject<TextHead> object = stored("a", body);
        TestStore.readAll(object);
        FileSlice slice = object.fileSlice(0, BLOCK);
        assertNotNull(slice);
        FileChannel channel = slice.channel();
        VolumeCommandsTest.offline(test, directory);
        assertFalse(slice.isOpen());
        assertTrue(channel.isOpen());
        assertNull(object.fileSlice(0, BLOCK));
        slice.release();
        assertFalse(channel.isOpen());
        object.release();
    }

    @Test
    void whatIsNotInThePageCacheIsRead() throws Exception {
        StoredObject<TextHead> object = stored("a", body);
        TestStore.readAll(object);
        Process drop = new ProcessBuilder(
                        "dd", "of=" + directory.resolve("volume"), "oflag=nocache", "conv=notrunc,fdatasync", "count=0")
                .redirectErrorStream(true)
                .start();
        drop.getInputStream().readAllBytes();
        assertTrue(drop.waitFor(30, TimeUnit.SECONDS));
        FileSlice slice = object.fileSlice(0, BLOCK);
        if (slice != null) {
            slice.release();
        }
        // A file system in memory drops nothing.
        assumeTrue(slice == null);
        assertArrayEquals(body, TestStore.readAll(object));
        assertSentFromFile(object, body);
        object.release();
    }

    @Test
    void aFileWithoutADescriptorIsRead() throws IOException {
        try (TestStore faulty = new TestStore(StoreContractTest.volumes(4).ramBytes(0), new FaultyFileIo())) {
            faulty.put("a", "h", TestStore.body(1, 30_000));
            faulty.sync();
            StoredObject<TextHead> object = faulty.find("a");
            TestStore.readAll(object);
            assertNull(object.fileSlice(0, 30_000));
            object.release();
        }
    }
}
