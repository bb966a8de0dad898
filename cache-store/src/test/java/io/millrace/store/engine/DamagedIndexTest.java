package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.store.io.FaultyFileIo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests an index in which one bit of a slot is flipped, so that a stored object is not found. */
class DamagedIndexTest {
    private static final Path INDEX = Path.of("/volume0/index");
    private static final byte[] BODY = TestStore.body(1, 1000);

    private FaultyFileIo io = new FaultyFileIo();

    private TestStore open() {
        io = io.afterKill();
        return new TestStore(StoreContractTest.volumes(4).ramBytes(0), io);
    }

    /** Flips a bit of the key's slot in the closed index. Bit 0 is the lowest bit of the upper half of the hash. */
    private void storeAndFlip(String key, int bit) {
        byte[] hash;
        try (TestStore test = open()) {
            test.put(key, "old", BODY);
            test.put("other", "kept", BODY);
            hash = ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(test.key(key).hashHigh())
                    .array();
        }
        // Drops the mappings of the closed index; otherwise the next index would map the same memory.
        io = io.afterKill();
        long at = io.find(INDEX, hash);
        assertNotEquals(-1, at, "the index does not know " + key);
        io.flipBit(INDEX, at * 8 + bit);
    }

    /** The bits are in the upper half of the hash, the lower half, the segment number, the tag and the flags. */
    @ParameterizedTest(name = "bit {0}")
    @ValueSource(ints = {3, 64 + 60, 128 + 50, 128 + 3, 192 + 33})
    void removedObjectsStayRemovedAfterARebuild(int bit) throws IOException {
        storeAndFlip("k", bit);
        try (TestStore test = open().withoutCheck()) {
            assertNull(test.head("k"), "the flip does not show");
            test.remove("k");
        }
        for (int rebuild = 0; rebuild < 2; rebuild++) {
            io = io.afterKill();
            io.delete(INDEX);
            try (TestStore test = open()) {
                assertNull(test.head("k"));
                assertEquals("kept", test.head("other"));
            }
        }
    }

    @Test
    void anIndexFoundDamagedIsMadeAnewByTheNextStart() {
        storeAndFlip("k", 3);
        try (TestStore test = open().withoutCheck()) {
            assertNull(test.head("k"), "the flip does not show");
            // A removal meets the damaged slot: a removal of this key, or of a key behind it in the probe sequence.
            test.remove("k");
            assertEquals("kept", test.head("other"));
        }
        // The check at the close of the store finds no errors.
        try (TestStore test = open()) {
            assertEquals("kept", test.head("other"));
        }
    }
}
