package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.SystemFileIo;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a store whose memory is exhausted. */
class StoreMemoryTest {
    private static final int MIB = 1 << 20;

    @TempDir
    private Path directory;

    private StoreConfig.Builder onDisk(long ramBytes) {
        return StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .ramBytes(ramBytes)
                .ramObjectBytesMax(MIB)
                .volumes(List.of(new VolumeConfig(directory, 100L * MIB)));
    }

    private static StoreStatistics.Memory memory(TestStore store) {
        StoreStatistics.Memory memory = store.store.statistics().memory();
        long total = memory.residentBytes()
                + memory.entryBytes()
                + memory.fillingBytes()
                + memory.readingBytes()
                + memory.writingBytes();
        assertTrue(total <= memory.bytesMax(), () -> "over the budget: " + memory);
        return memory;
    }

    @Test
    void fillsBeyondTheBudgetFailAndStoredObjectsRemain() {
        try (TestStore store =
                new TestStore(StoreConfig.builder().ramBytes(64L * MIB).ramObjectBytesMax(MIB), new SystemFileIo())) {
            assertTrue(store.put("small", "head", TestStore.body(1, 5000)));
            List<ObjectWriter<TextHead>> writers = new ArrayList<>();
            int refused = 0;
            for (int i = 0; i < 40; i++) {
                ObjectWriter<TextHead> writer = store.store.create(store.key("large" + i));
                writer.head(TextHead.of("head"), MIB);
                writer.write(0, Unpooled.wrappedBuffer(new byte[MIB / 2]));
                refused += writer.isFailed() ? 1 : 0;
                writers.add(writer);
                memory(store);
            }
            assertTrue(refused > 0 && refused < 40, "refused " + refused);
            assertEquals(refused, memory(store).refusedFills());
            writers.forEach(ObjectWriter::abort);
            assertEquals(0, memory(store).fillingBytes());
            assertArrayEquals(TestStore.body(1, 5000), store.read("small"));
            assertTrue(store.put("large", "head", TestStore.body(2, MIB)), "there is memory again");
        }
    }

    /** For example a redirection: the caller stores its head, and the body takes no memory. */
    @Test
    void anEmptyBodyIsStoredThoughTheBudgetIsFull() {
        try (TestStore store =
                new TestStore(StoreConfig.builder().ramBytes(64L * MIB).ramObjectBytesMax(MIB), new SystemFileIo())) {
            List<ObjectWriter<TextHead>> writers = new ArrayList<>();
            for (int length : new int[] {1000, 1}) {
                long refused = memory(store).refusedFills();
                while (memory(store).refusedFills() == refused) {
                    ObjectWriter<TextHead> writer = store.store.create(store.key("fill" + writers.size()));
                    writer.head(TextHead.of("head"), length);
                    writer.write(0, Unpooled.wrappedBuffer(new byte[length]));
                    writers.add(writer);
                }
            }
            ObjectWriter<TextHead> empty = store.store.create(store.key("empty"));
            empty.head(TextHead.of("head of an empty body"), 0);
            empty.complete(0);
            assertFalse(empty.isFailed());
            assertEquals("head of an empty body", store.head("empty"));
            writers.forEach(ObjectWriter::abort);
        }
    }

    @Test
    void readsWaitForMemoryAndResume() throws Exception {
        byte[] body = TestStore.body(3, 24 * MIB);
        ConcurrentLinkedQueue<ByteBuf> slow = new ConcurrentLinkedQueue<>();
        try (TestStore store = new TestStore(onDisk(64L * MIB), new SystemFileIo())) {
            assertTrue(store.put("long", "head", body));
            store.sync();
            StoredObject<TextHead> object = store.open(store.key("long"));
            assertNotNull(object);
            assertNull(object.residentBody());
            int reads = 96;
            List<CompletableFuture<Integer>> lengths = new ArrayList<>();
            for (int i = 0; i < reads; i++) {
                CompletableFuture<Integer> length = new CompletableFuture<>();
                lengths.add(length);
                read(object, (long) i * StoredObject.READ_LENGTH_MAX, slow, length);
            }
            // The first reads succeed and keep their buffers, so the others find no memory.
            for (int i = 0; i < 20; i++) {
                assertEquals(StoredObject.READ_LENGTH_MAX, TestStore.await(lengths.get(i)));
            }
            assertTrue(memory(store).refusedReads() > 0);
            assertFalse(lengths.get(reads - 1).isDone());
            int released = 0;
            while (released < reads) {
                ByteBuf content = slow.poll();
                if (content == null) {
                    Thread.onSpinWait();
                    continue;
                }
                content.release();
                released++;
                memory(store);
            }
            for (CompletableFuture<Integer> length : lengths) {
                assertEquals(StoredObject.READ_LENGTH_MAX, TestStore.await(length));
            }
            object.release();
        }
    }

    @Test
    void randomWorkNeverExceedsTheBudget() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (TestStore store = new TestStore(onDisk(64L * MIB), new SystemFileIo())) {
            for (int i = 0; i < 600; i++) {
                String key = "key" + random.nextInt(150);
                int length = random.nextInt(10) == 0 ? 3 * MIB : 1 + random.nextInt(MIB);
                if (random.nextInt(3) > 0) {
                    store.put(key, "head", new byte[length]);
                } else {
                    StoredObject<TextHead> object = store.find(key);
                    if (object != null) {
                        object.release();
                    }
                }
                memory(store);
            }
            assertTrue(memory(store).residentBytes() > 30L * MIB, () -> "seed=" + seed + " " + memory(store));
        }
    }

    /** Keeps the read content and adds its length. */
    private static void read(
            StoredObject<TextHead> object,
            long position,
            ConcurrentLinkedQueue<ByteBuf> contents,
            CompletableFuture<Integer> length) {
        object.read(position, StoredObject.READ_LENGTH_MAX, Runnable::run, (content, failure) -> {
            if (failure != null) {
                length.completeExceptionally(failure);
            } else {
                contents.add(content);
                length.complete(content.readableBytes());
            }
        });
    }
}
