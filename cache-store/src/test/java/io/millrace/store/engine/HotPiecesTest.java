package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.SystemFileIo;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which pieces of long bodies are kept in RAM, and their content. */
class HotPiecesTest {
    private static final int MIB = 1 << 20;
    private static final int PIECE = StoredObject.READ_LENGTH_MAX;
    /** The last piece is shorter than the others. */
    private static final int LENGTH = 3 * MIB + 12_345;

    @TempDir
    private Path directory;

    private TestStore store(long ramBytes) {
        return new TestStore(
                StoreConfig.builder()
                        .diskAdmission(DiskAdmission.ALWAYS)
                        .ramBytes(ramBytes)
                        .ramObjectBytesMax(MIB)
                        .volumes(List.of(new VolumeConfig(directory, 400L * MIB))),
                new SystemFileIo());
    }

    private static StoredObject<TextHead> stored(TestStore store, String key, byte[] body) throws IOException {
        assertTrue(store.put(key, "head", body));
        store.store.sync();
        StoredObject<TextHead> object = store.open(store.key(key));
        assertNotNull(object);
        assertNull(object.residentBody());
        return object;
    }

    private static byte[] part(StoredObject<?> object, long position, int length) {
        ByteBuf part = object.residentPart(position, length);
        if (part == null) {
            return null;
        }
        try {
            return ByteBufUtil.getBytes(part);
        } finally {
            part.release();
        }
    }

    @Test
    void aPieceThatIsReadAgainIsKeptAndAPieceReadOnceIsNot() throws Exception {
        byte[] body = TestStore.body(1, LENGTH);
        try (TestStore store = store(64L * MIB)) {
            StoredObject<TextHead> object = stored(store, "long", body);
            TestStore.readAll(object);
            assertNull(object.residentPart(0, PIECE));
            TestStore.readAll(object);
            for (int position = 0; position < LENGTH; position += PIECE) {
                int end = Math.min(LENGTH, position + PIECE);
                assertArrayEquals(Arrays.copyOfRange(body, position, end), part(object, position, PIECE));
            }
            object.release();
        }
    }

    @Test
    void anyPartOfAPieceCanBeHadAndNothingBehindTheEnd() throws Exception {
        byte[] body = TestStore.body(2, LENGTH);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (TestStore store = store(64L * MIB)) {
            StoredObject<TextHead> object = stored(store, "long", body);
            TestStore.readAll(object);
            TestStore.readAll(object);
            for (int i = 0; i < 1000; i++) {
                int position = random.nextInt(LENGTH);
                int length = 1 + random.nextInt(PIECE);
                int end = Math.min(Math.min(LENGTH, position + length), (position / PIECE + 1) * PIECE);
                assertArrayEquals(
                        Arrays.copyOfRange(body, position, end), part(object, position, length), () -> "seed=" + seed);
            }
            assertNull(object.residentPart(LENGTH, 1));
            object.release();
        }
    }

    @Test
    void piecesOfAReplacedObjectAreNotUsed() throws Exception {
        try (TestStore store = store(64L * MIB)) {
            StoredObject<TextHead> before = stored(store, "long", TestStore.body(3, LENGTH));
            TestStore.readAll(before);
            TestStore.readAll(before);
            byte[] body = TestStore.body(4, LENGTH);
            StoredObject<TextHead> after = stored(store, "long", body);
            assertNotNull(part(before, 0, PIECE));
            assertNull(after.residentPart(0, PIECE));
            TestStore.readAll(after);
            TestStore.readAll(after);
            assertArrayEquals(Arrays.copyOf(body, PIECE), part(after, 0, PIECE));
            before.release();
            after.release();
        }
    }

    @Test
    void piecesKeepWithinTheirShareAndObjectsGiveWayToThem() throws Exception {
        try (TestStore store = store(64L * MIB)) {
            for (int i = 0; i < 80; i++) {
                store.put("object" + i, "head", new byte[MIB - 1]);
            }
            store.store.sync();
            StoredObject<TextHead> object = stored(store, "long", TestStore.body(5, 40 * MIB));
            for (int i = 0; i < 4; i++) {
                TestStore.readAll(object);
                StoreStatistics.Memory memory = store.store.statistics().memory();
                assertTrue(memory.residentBytes() + memory.entryBytes() <= memory.bytesMax(), memory::toString);
            }
            store.store.sync();
            long kept = store.store.statistics().ram().pieceBytes();
            assertTrue(kept > 8 * MIB && kept <= 16 * MIB, "kept " + kept);
            object.release();
        }
    }

    @Test
    void withoutMemoryForThemNoneIsKept() throws Exception {
        try (TestStore store = store(0)) {
            StoredObject<TextHead> object = stored(store, "long", TestStore.body(6, LENGTH));
            TestStore.readAll(object);
            TestStore.readAll(object);
            assertNull(object.residentPart(0, PIECE));
            assertEquals(0, store.store.statistics().ram().pieceBytes());
            object.release();
        }
    }
}
