package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.ObjectWriter.Claim;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.SystemFileIo;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests bodies of 100 GB, and bodies with more blocks than an object pins. */
class LongObjectTest {
    private static final long MIB = 1 << 20;
    private static final long LENGTH = 100_000_000_000L;
    /** Blocks on both sides of 2 GiB and of 4 GiB, and the last block, which is shorter. */
    private static final long[] BLOCKS = {0, 2047, 2048, 4095, 4096, 50_000, LENGTH / MIB};

    @TempDir
    Path directory;

    private TestStore open() {
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(new VolumeConfig(directory.resolve("volume"), 64 * MIB)))
                .segmentBytes(8 * MIB)
                .ramBytes(1 << 20);
        return new TestStore(config, new SystemFileIo());
    }

    private static ObjectWriter<TextHead> create(TestStore test, long length) {
        StoreEngine<TextHead> engine = (StoreEngine<TextHead>) test.store;
        ObjectWriter<TextHead> writer = engine.create(test.key("a"), VolumeConfig.DEFAULT_NAME, length);
        writer.head(TextHead.of("h"), length);
        return writer;
    }

    private static int lengthOf(long block) {
        return (int) Math.min(MIB, LENGTH - block * MIB);
    }

    private static void write(ObjectWriter<TextHead> writer, long block) {
        TestStore.awaitWritable(writer);
        writer.write(block * MIB, Unpooled.wrappedBuffer(TestStore.body(block, lengthOf(block))));
        assertFalse(writer.isFailed(), "block " + block);
    }

    private static void assertHas(StoredObject<TextHead> object, long block) throws IOException {
        byte[] body = TestStore.body(block, lengthOf(block));
        assertTrue(object.hasRange(block * MIB, body.length), "block " + block);
        byte[] first = TestStore.readSome(object, block * MIB, 1000);
        assertArrayEquals(java.util.Arrays.copyOf(body, 1000), first);
        byte[] last = TestStore.readSome(object, block * MIB + body.length - 1000, 5000);
        assertArrayEquals(java.util.Arrays.copyOfRange(body, body.length - 1000, body.length), last);
    }

    @Test
    void aPartOfABodyOf100GigabytesIsKeptFoundAndExtended() throws IOException {
        try (TestStore test = open()) {
            ObjectWriter<TextHead> writer = create(test, LENGTH);
            for (long block : BLOCKS) {
                write(writer, block);
            }
            writer.keep();
        }
        try (TestStore test = open()) {
            StoredObject<TextHead> object = test.find("a");
            assertEquals(LENGTH, object.length());
            assertFalse(object.isComplete());
            assertFalse(object.hasRange(0, LENGTH));
            for (long block : BLOCKS) {
                assertHas(object, block);
            }
            assertTrue(object.hasRange(4095 * MIB, 2 * MIB));
            assertFalse(object.hasRange(4095 * MIB, 2 * MIB + 1));
            assertFalse(object.hasRange(LENGTH - 1, 2));
            assertThrows(IOException.class, () -> TestStore.readSome(object, 4097 * MIB, 1));
            assertThrows(IOException.class, () -> TestStore.readSome(object, LENGTH, 1));
            ObjectWriter<TextHead> writer = test.store.extend(object);
            assertEquals(new Claim(MIB, 2046 * MIB), writer.claim(0, LENGTH));
            assertEquals(new Claim(4097 * MIB, (50_000 - 4097) * MIB), writer.claim(4095 * MIB, LENGTH));
            CompletableFuture<Boolean> range = new CompletableFuture<>();
            object.onRange(4096 * MIB, 2 * MIB, Runnable::run, range::complete);
            assertFalse(range.isDone());
            write(writer, 4097);
            assertTrue(range.getNow(null));
            writer.keep();
            test.store.update(object, TextHead.of("fresh"));
            object.release();
        }
        try (TestStore test = open()) {
            assertEquals("fresh", test.head("a"));
            StoredObject<TextHead> object = test.find("a");
            assertHas(object, 4097);
            assertHas(object, 95_367);
            object.release();
            test.remove("a");
            assertNull(test.find("a"));
        }
    }

    @Test
    void blocksBehindThePinnedOnesAreLookedUp() throws IOException {
        int block = 4096;
        int length = 2500 * block + 77;
        byte[] body = TestStore.body(3, length);
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(new VolumeConfig(Path.of("/volume"), 24 * MIB)))
                .segmentBytes(1 << 20)
                .blockBytes(block)
                .ramBytes(0);
        try (TestStore test = new TestStore(config, new FaultyFileIo())) {
            ObjectWriter<TextHead> writer = create(test, length);
            StoredObject<TextHead> filling = writer.object();
            // Begins at the end, so that reclaim first meets unpinned blocks. Some of them are not that old.
            for (int from = length / block * block; from >= 0; from -= block) {
                TestStore.awaitWritable(writer);
                writer.write(from, Unpooled.copiedBuffer(body, from, Math.min(block, length - from)));
                if (from == 2200 * block) {
                    fillers(test, 100);
                }
            }
            writer.complete(length);
            test.sync();
            assertTrue(filling.isComplete());
            while (test.store.statistics().counters().segmentsReclaimed() < 2) {
                fillers(test, 1);
            }
            assertThrows(IOException.class, () -> TestStore.readSome(filling, 2400L * block, 1));
            assertFalse(filling.isComplete());
            filling.release();
            StoredObject<TextHead> object = test.find("a");
            assertFalse(object.isComplete());
            assertTrue(object.hasRange(0, 2200L * block));
            assertFalse(object.hasRange(0, length));
            assertTrue(fillTheGap(test, object, body) > 200);
            assertTrue(object.isComplete());
            object.release();
            test.sync();
            assertArrayEquals(body, test.read("a"));
        }
    }

    private static void fillers(TestStore test, int count) {
        for (int i = 0; i < count; i++) {
            test.put("filler", "f", TestStore.body(i, 100_000));
        }
        test.sync();
    }

    /** Fills the missing blocks and returns their number. */
    private static int fillTheGap(TestStore test, StoredObject<TextHead> object, byte[] body) {
        ObjectWriter<TextHead> writer = test.store.extend(object);
        int filled = 0;
        for (Claim claim = writer.claim(0, body.length); claim != null; claim = writer.claim(0, body.length)) {
            assertFalse(object.isComplete());
            assertTrue(claim.position() > 1024 * 4096, claim::toString);
            for (long at = claim.position(); at < claim.position() + claim.length(); at += 4096) {
                TestStore.awaitWritable(writer);
                int count = (int) Math.min(4096, body.length - at);
                writer.write(at, Unpooled.copiedBuffer(body, (int) at, count));
                filled++;
            }
        }
        writer.keep();
        assertFalse(writer.isFailed());
        return filled;
    }
}
