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

/** A bit flips in the slot of an index, so that it does not find an object that is there. */
class DamagedIndexTest {
    private static final Path INDEX = Path.of("/volume0/index");
    private static final byte[] BODY = TestStore.body(1, 1000);

    private FaultyFileIo io = new FaultyFileIo();

    private TestStore open() {
        io = io.afterKill();
        return new TestStore(StoreContractTest.volumes(4).ramBytes(0), io);
    }

    /** Flips a bit of the key's slot in the closed index; the first is the lowest of the upper half of the hash. */
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
        // Without the mappings of the closed index, which would be what the next one finds.
        io = io.afterKill();
        long at = io.find(INDEX, hash);
        assertNotEquals(-1, at, "the index does not know " + key);
        io.flipBit(INDEX, at * 8 + bit);
    }

    /** In the upper half of the hash, in the lower one, in the segment's number, in the tag, in the flags. */
    @ParameterizedTest(name = "bit {0}")
    @ValueSource(ints = {3, 64 + 60, 128 + 50, 128 + 3, 192 + 33})
    void whatWasRemovedDoesNotComeBackWithTheNextRebuild(int bit) throws IOException {
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
            // A removal comes upon it, of this key or of one that lay behind.
            test.remove("k");
            assertEquals("kept", test.head("other"));
        }
        // The check of the tool that runs when the store is closed finds nothing wrong.
        try (TestStore test = open()) {
            assertEquals("kept", test.head("other"));
        }
    }
}
