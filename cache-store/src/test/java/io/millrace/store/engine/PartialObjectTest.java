package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.ObjectWriter.Claim;
import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.tool.StoreCheck;
import io.millrace.store.tool.StoreDump;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests objects of which a part is stored: reads, continuation, updates and purges. */
class PartialObjectTest extends PartialObjects {
    @Test
    void keepsWholeBlocksAndNothingElse() throws IOException {
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        write(writer, 0, BLOCK + 5000);
        write(writer, 3 * BLOCK - 10, 4 * BLOCK + 10);
        write(writer, LENGTH - 1000, LENGTH);
        StoredObject<TextHead> filling = writer.object();
        writer.keep();
        assertHolds(filling, 0, 3, 5);
        filling.release();
        assertHolds("a", 0, 3, 5);
        assertNull(test.store.get(test.key("a")));
        assertTrue(test.store.contains(test.key("a")));
        test.sync();
        assertHolds("a", 0, 3, 5);
        reopen();
        assertHolds("a", 0, 3, 5);
        assertEquals("h", test.head("a"));
        test.close();
        StringBuilder dump = new StringBuilder();
        StoreDump.dump(io, Path.of("/volume0"), StoreDump.Options.ALL, dump);
        assertTrue(dump.toString().contains(" a partial blocks=3\n"), dump::toString);
        assertTrue(StoreCheck.check(io, Path.of("/volume0")).toString().contains("partial objects 1"), dump::toString);
        openStore();
    }

    @Test
    void keepsNothingWhenNoBlockIsWhole() {
        test.put("a", "old", TestStore.body(1, 100));
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        write(writer, 1, BLOCK);
        write(writer, BLOCK, 2 * BLOCK - 1);
        writer.keep();
        assertTrue(writer.isFailed());
        ObjectWriter<TextHead> small = create("a", 100);
        write(small, 0, 99);
        small.keep();
        ObjectWriter<TextHead> headless = test.store.create(test.key("a"));
        write(headless, 0, 2 * BLOCK);
        headless.keep();
        assertEquals("old", test.head("a"));
    }

    @Test
    void extendsUntilItIsComplete() throws IOException {
        keep("a", 1, 2);
        test.sync();
        StoredObject<TextHead> object = test.find("a");
        StoredObject<TextHead> before = test.find("a");
        ObjectWriter<TextHead> first = test.store.extend(object);
        assertThrows(IllegalStateException.class, () -> first.head(TextHead.of("other"), LENGTH));
        write(first, 3 * BLOCK, 4 * BLOCK);
        assertHolds(before, 1, 2, 3);
        first.keep();
        assertHolds("a", 1, 2, 3);
        reopenHolding(object, before);
        assertHolds("a", 1, 2, 3);
        StoredObject<TextHead> again = test.find("a");
        ObjectWriter<TextHead> second = test.store.extend(again);
        ObjectWriter<TextHead> third = test.store.extend(again);
        write(second, 4 * BLOCK, LENGTH);
        write(third, 0, BLOCK);
        assertTrue(again.isComplete());
        assertArrayEquals(BODY, TestStore.readAll(again));
        assertArrayEquals(BODY, test.read("a"));
        second.keep();
        third.complete(LENGTH);
        assertFalse(second.isFailed());
        assertFalse(third.isFailed());
        again.release();
        test.sync();
        assertArrayEquals(BODY, test.read("a"));
        // The object is now small and complete, so it belongs in RAM.
        assertResident();
        reopen();
        assertHolds("a", 0, 1, 2, 3, 4, 5);
    }

    private void assertResident() {
        StoredObject<TextHead> resident = test.store.get(test.key("a"));
        assertNotNull(resident.residentBody());
        resident.release();
    }

    private void reopenHolding(StoredObject<TextHead> one, StoredObject<TextHead> two) {
        one.release();
        two.release();
        reopen();
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("powerLosses")
    void aBlockThatWasTakenBackDoesNotReturnWhenPowerFailsOnTheGoodOne(long seed) {
        keep("a", 1, 4);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> bad = test.store.extend(object);
        bad.write(2 * BLOCK, Unpooled.wrappedBuffer(new byte[BLOCK]));
        test.sync();
        bad.abort();
        test.sync();
        ObjectWriter<TextHead> good = test.store.extend(object);
        write(good, 2 * BLOCK, 3 * BLOCK);
        good.keep();
        object.release();
        // At the removal everything is written, but not forced.
        test.put("b", "other", TestStore.body(1, 100));
        test.remove("b");
        FaultyFileIo later = io.copy().afterPowerLoss(new Random(seed));
        try (TestStore again =
                new TestStore(StoreContractTest.volumes(4).ramBytes(1 << 20), later).toleratingDamage()) {
            StoredObject<TextHead> found = again.find("a");
            if (found != null) {
                assertNoOtherBytes(found, 2);
                found.release();
            }
        }
    }

    static LongStream powerLosses() {
        return LongStream.range(0, 60);
    }

    private static void assertNoOtherBytes(StoredObject<TextHead> object, int block) {
        int from = block * BLOCK;
        try {
            if (object.hasRange(from, BLOCK)) {
                byte[] some = TestStore.readSome(object, from, BLOCK);
                assertArrayEquals(Arrays.copyOfRange(BODY, from, from + some.length), some);
            }
        } catch (IOException e) {
            // The bytes are lost with the power.
        }
    }

    @Test
    void anExtensionThatIsAbortedLeavesTheObjectAsItWas() throws IOException {
        keep("a", 1, 4);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> good = test.store.extend(object);
        ObjectWriter<TextHead> bad = test.store.extend(object);
        write(good, 0, BLOCK);
        bad.write(2 * BLOCK, Unpooled.wrappedBuffer(new byte[2 * BLOCK + 100]));
        good.keep();
        // Writes the queued records to the log.
        test.sync();
        bad.abort();
        test.sync();
        assertHolds(object, 0, 1, 4);
        object.release();
        assertHolds("a", 0, 1, 4);
        reopen();
        assertHolds("a", 0, 1, 4);
        io = io.afterReboot();
        io.flipBit(Path.of("/volume0/index"), 3);
        test = new TestStore(StoreContractTest.volumes(4).ramBytes(1 << 20), io);
        // The log contains the revoked blocks and their revocations; the rebuilt index contains neither.
        assertHolds("a", 0, 1, 4);
    }

    @Test
    void oneUpdateIsForAll() throws IOException {
        keep("a", 0, 2);
        test.sync();
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> writer = test.store.extend(object);
        write(writer, BLOCK, 2 * BLOCK);
        test.store.update(object, TextHead.of("fresh"));
        write(writer, 4 * BLOCK, 5 * BLOCK);
        writer.keep();
        assertEquals("h", object.head().text());
        object.release();
        test.sync();
        assertEquals("fresh", test.head("a"));
        assertHolds("a", 0, 1, 2, 4);
        reopen();
        assertEquals("fresh", test.head("a"));
        assertHolds("a", 0, 1, 2, 4);
    }

    @Test
    void anUpdateDuringTheFirstFillIsNotUndone() throws IOException {
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        writer.allowPartial();
        write(writer, 0, 3 * BLOCK);
        StoredObject<TextHead> object = test.find("a");
        assertHolds(object, 0, 1, 2);
        test.store.update(object, TextHead.of("fresh"));
        object.release();
        write(writer, 3 * BLOCK, LENGTH);
        writer.complete(LENGTH);
        test.sync();
        assertEquals("fresh", test.head("a"));
        assertArrayEquals(BODY, test.read("a"));
    }

    @Test
    void aPurgeTakesAllAndFailsTheExtensions() throws IOException {
        keep("a", 0, 2);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> writer = test.store.extend(object);
        write(writer, BLOCK, 2 * BLOCK);
        assertTrue(test.remove("a"));
        assertTrue(writer.isFailed());
        write(writer, 3 * BLOCK, LENGTH);
        writer.keep();
        assertTrue(test.store.extend(object).isFailed());
        test.store.extend(object).abort();
        assertNull(test.find("a"));
        // A holder of the object continues to read.
        assertArrayEquals(Arrays.copyOf(BODY, 2 * BLOCK), readUpTo(object, 2 * BLOCK));
        object.release();
        reopen();
        assertNull(test.find("a"));
    }

    @Test
    void aReplacementFailsTheExtensions() throws IOException {
        keep("a", 0, 2);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> writer = test.store.extend(object);
        write(writer, BLOCK, 2 * BLOCK);
        byte[] other = TestStore.body(7, LENGTH);
        assertTrue(test.put("a", "other", other));
        assertTrue(writer.isFailed());
        write(writer, 3 * BLOCK, LENGTH);
        writer.complete(LENGTH);
        assertTrue(test.store.extend(object).isFailed());
        object.release();
        test.sync();
        assertEquals("other", test.head("a"));
        assertArrayEquals(other, test.read("a"));
    }

    @ParameterizedTest(name = "aborted: {0}")
    @ValueSource(booleans = {true, false})
    void anAllowedPartIsFoundWhileItIsFilled(boolean aborted) throws IOException {
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        writer.allowPartial();
        write(writer, 0, BLOCK - 1);
        assertNull(test.find("a"));
        write(writer, BLOCK - 1, 2 * BLOCK);
        assertHolds("a", 0, 1);
        StoredObject<TextHead> object = test.find("a");
        write(writer, 2 * BLOCK, 4 * BLOCK);
        assertHolds(object, 0, 1, 2, 3);
        if (aborted) {
            writer.abort();
            assertNull(test.find("a"));
            assertFalse(object.hasRange(0, 1));
            assertTrue(test.store.extend(object).isFailed());
        } else {
            writer.keep();
            assertHolds("a", 0, 1, 2, 3);
        }
        object.release();
        reopen();
        assertEquals(aborted ? null : "h", test.head("a"));
    }

    @Test
    void anAllowedPartDoesNotTakeThePlaceOfAnObject() {
        test.put("a", "old", TestStore.body(1, 100));
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        writer.allowPartial();
        write(writer, 0, 4 * BLOCK);
        assertEquals("old", test.head("a"));
        writer.abort();
        assertEquals("old", test.head("a"));
    }

    @ParameterizedTest(name = "allowed: {0}")
    @ValueSource(booleans = {true, false})
    void aKillLeavesAnAllowedState(boolean allowed) throws IOException {
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        if (allowed) {
            writer.allowPartial();
        }
        write(writer, 0, 4 * BLOCK + 100);
        test.sync();
        io.kill();
        writer.keep();
        test.abandon();
        io = io.afterKill();
        openStore();
        if (allowed) {
            assertHolds("a", 0, 1, 2, 3);
        } else {
            assertNull(test.find("a"));
        }
    }

    @Test
    void aDamagedBlockIsRepaired() throws IOException {
        test.close();
        test = new TestStore(StoreContractTest.volumes(4).ramBytes(0), io);
        test.put("a", "h", BODY);
        test.sync();
        // The third record follows two blocks of 96 + 4 + 8192 bytes each, in units of 64 bytes.
        io.flipBit(Path.of("/volume0/volume"), 8L * (65536 + 64 + 2 * 8320 + 1000));
        StoredObject<TextHead> damaged = test.find("a");
        assertTrue(damaged.isComplete());
        assertThrows(IOException.class, () -> TestStore.readSome(damaged, 2 * BLOCK, 10));
        damaged.release();
        test.sync();
        StoredObject<TextHead> object = test.find("a");
        assertHolds(object, 0, 1, 3, 4, 5);
        ObjectWriter<TextHead> writer = test.store.extend(object);
        assertEquals(new Claim(2 * BLOCK, BLOCK), writer.claim(0, LENGTH));
        write(writer, 2 * BLOCK, 3 * BLOCK);
        writer.keep();
        object.release();
        test.sync();
        assertHolds("a", 0, 1, 2, 3, 4, 5);
        test.withoutCheck();
        reopen();
        test.withoutCheck();
        assertHolds("a", 0, 1, 2, 3, 4, 5);
    }

    @Test
    void reclaimedBlocksAreMissingAndCanBeFilledAgain() throws IOException {
        test.close();
        test = new TestStore(StoreContractTest.volumes(1).ramBytes(0), io);
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        writer.allowPartial();
        write(writer, 0, 3 * BLOCK);
        for (int i = 0; i < 5; i++) {
            test.put("filler" + i, "f", TestStore.body(i, 100_000));
            test.sync();
        }
        write(writer, 3 * BLOCK, LENGTH);
        writer.keep();
        test.sync();
        // Objects without requests are not carried forward when their segment is reclaimed.
        for (int i = 0; i < 100 && test.store.statistics().counters().segmentsReclaimed() == 0; i++) {
            test.put("more" + i, "f", TestStore.body(i, 20_000));
            test.sync();
        }
        assertHolds("a", 3, 4, 5);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> again = test.store.extend(object);
        assertEquals(new Claim(0, 3 * BLOCK), again.claim(0, LENGTH));
        write(again, 0, 3 * BLOCK);
        again.keep();
        object.release();
        test.sync();
        assertHolds("a", 0, 1, 2, 3, 4, 5);
    }

    @Test
    void handedOverAndTakenBackItIsExtended() throws IOException {
        keep("a", 0);
        StoredObject<TextHead> object = test.find("a");
        test.store.suspendWrites();
        assertTrue(test.store.extend(object).isFailed());
        assertArrayEquals(Arrays.copyOf(BODY, 100), TestStore.readSome(object, 0, 100));
        test.store.resumeWrites(false);
        StoredObject<TextHead> again = test.find("a");
        ObjectWriter<TextHead> writer = test.store.extend(again);
        write(writer, BLOCK, LENGTH);
        writer.keep();
        assertHolds(again, 0, 1, 2, 3, 4, 5);
        again.release();
        object.release();
    }

    @Test
    void discardedObjectIsNeverFoundAgain() {
        keep("a", 0, 2);
        StoredObject<TextHead> object = test.find("a");
        test.store.discard(object);
        object.release();
        assertNull(test.find("a"));
        reopen();
        assertNull(test.find("a"));
    }

    @Test
    void discardOfAReplacedObjectKeepsTheNewOne() {
        keep("a", 0);
        StoredObject<TextHead> object = test.find("a");
        assertTrue(test.put("a", "new", BODY));
        test.store.discard(object);
        object.release();
        assertEquals("new", test.head("a"));
        test.sync();
        assertArrayEquals(BODY, test.read("a"));
    }

    @Test
    void discardOfARemovedObjectKeepsALaterOne() {
        keep("a", 0);
        StoredObject<TextHead> object = test.find("a");
        test.remove("a");
        keep("a", 1, 2);
        test.store.discard(object);
        object.release();
        StoredObject<TextHead> later = test.find("a");
        assertNotNull(later);
        later.release();
    }
}
