package io.millrace.store.engine;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.engine.volume.OfflineVolume;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.tool.CheckReport;
import io.millrace.store.tool.StoreCheck;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests volumes that are taken offline and online by command. */
class VolumeCommandsTest {
    private static final Path FIRST = Path.of("/volume0");
    private static final Path SECOND = Path.of("/volume1");
    private static final int OBJECTS = 60;

    private final FaultyFileIo io = new FaultyFileIo();

    private TestStore two() {
        return new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io);
    }

    static void offline(TestStore test, Path path) {
        done(test.store.offline(path, "a test"));
    }

    static void online(TestStore test, Path path) {
        done(test.store.online(path));
    }

    private static void done(java.util.concurrent.CompletionStage<?> stage) {
        try {
            stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Throwable failure(java.util.concurrent.CompletionStage<?> stage) {
        return assertThrows(ExecutionException.class, () -> stage.toCompletableFuture()
                        .get(30, TimeUnit.SECONDS))
                .getCause();
    }

    private static void fill(TestStore test) {
        for (int i = 0; i < OBJECTS; i++) {
            test.put("k" + i, "h" + i, TestStore.body(i, i % 4 == 0 ? 30_000 : 900));
        }
        test.sync();
    }

    private static List<Integer> present(TestStore test) {
        List<Integer> present = new ArrayList<>();
        for (int i = 0; i < OBJECTS; i++) {
            String head = test.head("k" + i);
            if (head != null) {
                assertEquals("h" + i, head);
                present.add(i);
            }
        }
        return present;
    }

    private static StoreStatistics.Volume volume(TestStore test, int number) {
        return test.store.statistics().volumes().get(number);
    }

    @Test
    void aRemovedVolumeIsNotUsedAndReturnsWithItsContent() throws IOException {
        try (TestStore test = two()) {
            fill(test);
            offline(test, FIRST);
            assertEquals(StoreStatistics.State.OFFLINE, volume(test, 0).state());
            assertEquals("taken offline by command: a test", volume(test, 0).lastError());
            List<Integer> left = present(test);
            assertTrue(left.size() > 5 && left.size() < OBJECTS - 5, left::toString);
            // No process has the volume open, so it can be checked, copied or unmounted.
            CheckReport report = StoreCheck.check(io, FIRST);
            assertTrue(report.isSound(), report::toString);
            for (int i = 0; i < 20; i++) {
                assertTrue(test.put("new" + i, "n", TestStore.body(i, 5000)));
                assertArrayEquals(TestStore.body(i, 5000), test.read("new" + i));
            }
            online(test, FIRST);
            assertEquals(StoreStatistics.State.ONLINE, volume(test, 0).state());
            assertEquals(OBJECTS, present(test).size());
        }
        try (TestStore test = two()) {
            assertEquals(OBJECTS, present(test).size());
        }
    }

    @Test
    void keysChangedMeanwhileAreNotFoundInAReturningVolume() {
        try (TestStore test = two()) {
            fill(test);
            offline(test, FIRST);
            for (int i = 0; i < OBJECTS; i += 3) {
                test.remove("k" + i);
            }
            for (int i = 1; i < OBJECTS; i += 3) {
                test.put("k" + i, "newer", TestStore.body(1000 + i, 700));
            }
            online(test, FIRST);
            assertChanged(test);
        }
        // Also from the segments alone.
        FaultyFileIo rebuilt = io.afterReboot();
        rebuilt.flipBit(FIRST.resolve("index"), 3);
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), rebuilt)) {
            assertChanged(test);
        }
    }

    /** The volume was offline, or was another one, when the others received the change. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aVolumeThatReturnedAfterTheNotificationIsNotifiedToo(boolean wasOut) {
        try (TestStore test = two()) {
            fill(test);
            VolumeGroup volumes = ((StoreEngine<TextHead>) test.store).volumes();
            VolumeGroup.Slot[] looked = volumes.slots();
            offline(test, FIRST);
            looked = wasOut ? volumes.slots() : looked;
            online(test, FIRST);
            for (int i = 0; i < OBJECTS; i += 2) {
                volumes.recordMissedChange(test.key("k" + i), looked);
            }
            for (int i = 1; i < OBJECTS; i += 2) {
                volumes.recordMissedChange(test.key("k" + i), 0, looked[0].volume());
            }
            test.sync();
            for (int i = 0; i < OBJECTS; i++) {
                boolean told = volumes.targetVolume(test.key("k" + i), "default") == 0;
                assertEquals(told ? null : "h" + i, test.head("k" + i), "k" + i);
            }
        }
    }

    /** The volume continues to serve until it is closed, but receives no removals. */
    @Test
    void objectsReadFromALeavingVolumeAreNotKeptInRam() {
        try (TestStore test = two()) {
            fill(test);
        }
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2), io)) {
            VolumeGroup volumes = ((StoreEngine<TextHead>) test.store).volumes();
            String key = "k0";
            VolumeGroup.Slot slot = volumes.slots()[volumes.targetVolume(test.key(key), "default")];
            AtomicBoolean left = new AtomicBoolean();
            io.beforeReads(slot.config().path(), () -> {
                if (left.compareAndSet(false, true)) {
                    volumes.put(slot.offline(new OfflineVolume("a test")));
                    test.remove(key);
                }
            });
            StoredObject<TextHead> found = test.find(key);
            if (found != null) {
                found.release();
            }
            assertTrue(left.get());
            assertNull(test.head(key));
            volumes.put(slot);
        }
    }

    /**
     * A new head replaces the change that should have hidden an older object on another volume. The new head must hide
     * the older object.
     */
    @Test
    void anOlderObjectDoesNotReappearWhenTheNewerGetsAnotherHead() throws IOException {
        CountDownLatch go = new CountDownLatch(1);
        try (TestStore test = two()) {
            VolumeGroup volumes = ((StoreEngine<TextHead>) test.store).volumes();
            int target = volumes.targetVolume(test.key("k"), "default");
            Path other = target == 0 ? SECOND : FIRST;
            offline(test, target == 0 ? FIRST : SECOND);
            test.put("k", "old", TestStore.body(1, 900));
            test.sync();
            online(test, target == 0 ? FIRST : SECOND);
            VolumeGroup.Slot slot = volumes.slots()[target];
            io.beforeNextWrite(other, () -> TestStore.awaitLatch(go));
            test.put("k", "new", TestStore.body(2, 900));
            test.update("k", "newer");
            slot.volume().drain();
            volumes.put(slot.offline(new OfflineVolume("a test")));
            assertEquals("newer", test.head("k"));
            go.countDown();
            volumes.put(slot);
            test.sync();
            assertEquals("newer", test.head("k"));
        } finally {
            go.countDown();
        }
    }

    private static void assertChanged(TestStore test) {
        for (int i = 0; i < OBJECTS; i++) {
            String expected = i % 3 == 0 ? null : i % 3 == 1 ? "newer" : "h" + i;
            assertEquals(expected, test.head("k" + i), "k" + i);
        }
    }

    @Test
    void afterACrashAVolumeThatWasOutStartsEmpty() {
        TestStore dying = two();
        fill(dying);
        offline(dying, FIRST);
        List<Integer> left = present(dying);
        for (int i = 0; i < OBJECTS; i++) {
            dying.remove("k" + i);
        }
        dying.put("later", "l", TestStore.body(1, 10));
        dying.sync();
        FaultyFileIo next = io.afterKill();
        dying.abandon();
        assertFalse(left.isEmpty());
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), next)) {
            assertEquals(List.of(), present(test));
            assertEquals("l", test.head("later"));
        }
    }

    @Test
    void theOnlyVolumeThatWasOutInACrashStartsEmpty() {
        TestStore dying = new TestStore(StoreContractTest.volumes(2).ramBytes(1 << 20), io);
        fill(dying);
        offline(dying, FIRST);
        assertTrue(dying.put("ram", "r", TestStore.body(1, 10)));
        assertEquals("r", dying.head("ram"));
        assertTrue(dying.remove("k1"));
        FaultyFileIo next = io.afterKill();
        dying.abandon();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), next)) {
            assertEquals(List.of(), present(test));
        }
    }

    @Test
    void aVolumeThatSomebodyElseOpenedMeanwhileStartsEmpty() {
        try (TestStore test = two()) {
            fill(test);
            offline(test, FIRST);
            List<Integer> left = present(test);
            try (TestStore other = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
                assertNull(other.head("k1"));
                assertTrue(failure(test.store.online(FIRST)).getMessage().contains("in use"));
            }
            online(test, FIRST);
            assertEquals(left, present(test));
        }
    }

    @Test
    void aVolumeThatFailedIsBroughtBackEmpty() {
        try (TestStore test = two()) {
            fill(test);
            io.failWrites(true, FIRST);
            for (int i = 0; i < 200; i++) {
                test.put("x" + i, "x", TestStore.body(i, 1000));
            }
            await().until(() -> volume(test, 0).state() != StoreStatistics.State.ONLINE);
            assertNotNull(failure(test.store.online(FIRST)));
            io.failWrites(false, FIRST);
            online(test, FIRST);
            assertEquals(StoreStatistics.State.ONLINE, volume(test, 0).state());
            for (int i = 0; i < OBJECTS; i++) {
                test.remove("k" + i);
            }
        }
        try (TestStore test = two()) {
            assertEquals(List.of(), present(test));
        }
    }

    @Test
    void handlesHeldOfAVolumeThatIsTakenOutFailCleanly() {
        try (TestStore test =
                new TestStore(StoreContractTest.volumes(2).ramBytes(0).ramObjectBytesMax(0), io)) {
            fill(test);
            StoredObject<TextHead> held = test.find("k4");
            offline(test, FIRST);
            assertThrows(java.io.UncheckedIOException.class, () -> TestStore.readAll(held));
            online(test, FIRST);
            assertArrayEquals(TestStore.body(4, 30_000), test.read("k4"));
            held.release();
        }
    }

    @Test
    void commandsThatMakeNoSenseSaySo() {
        try (TestStore test = two()) {
            assertTrue(failure(test.store.offline(Path.of("/nowhere"), "")) instanceof NoSuchFileException);
            assertTrue(failure(test.store.online(SECOND)).getMessage().contains("online already"));
            offline(test, SECOND);
            assertTrue(failure(test.store.offline(SECOND, "")).getMessage().contains("already offline"));
            online(test, SECOND);
        }
    }

    @Test
    void moreChangesThanTheLogHoldsEmptyTheVolume() {
        try (TestStore test = two()) {
            fill(test);
            offline(test, FIRST);
            List<Integer> left = present(test);
            for (int i = 0; i <= OfflineVolume.KEYS_MAX; i++) {
                test.store.remove(test.key("other" + i), Runnable::run, (present, failure) -> {});
            }
            online(test, FIRST);
            assertEquals(left, present(test));
        }
    }

    /** Returns writers of objects with several blocks on either volume; the first two blocks of each are stored. */
    private static List<ObjectWriter<TextHead>> partsOfAll(TestStore test) {
        List<ObjectWriter<TextHead>> writers = new ArrayList<>();
        for (int i = 0; i < OBJECTS; i++) {
            ObjectWriter<TextHead> writer = test.store.create(test.key("k" + i));
            writer.head(TextHead.of("part"), 5 * 8192);
            writer.allowPartial();
            writer.write(0, Unpooled.wrappedBuffer(TestStore.body(i, 2 * 8192)));
            writers.add(writer);
        }
        test.sync();
        assertEquals("part", test.head("k0"));
        return writers;
    }

    private static void assertGone(TestStore test) {
        for (int i = 0; i < OBJECTS; i++) {
            assertNull(test.head("k" + i), "k" + i);
        }
    }

    @Test
    void objectsAbortedWhileTheirVolumeIsOfflineDoNotReturn() {
        try (TestStore test = two()) {
            List<ObjectWriter<TextHead>> writers = partsOfAll(test);
            offline(test, FIRST);
            writers.forEach(ObjectWriter::abort);
            online(test, FIRST);
            assertGone(test);
        }
        try (TestStore test = two()) {
            assertGone(test);
        }
    }

    @Test
    void objectsAbortedAfterTheirVolumeReturnedAreRemoved() {
        try (TestStore test = two()) {
            List<ObjectWriter<TextHead>> writers = partsOfAll(test);
            offline(test, FIRST);
            online(test, FIRST);
            writers.forEach(ObjectWriter::abort);
            assertGone(test);
        }
        try (TestStore test = two()) {
            assertGone(test);
        }
    }

    @Test
    void objectsAbortedDuringAHandOverAreMissingAfterIt() throws IOException {
        try (TestStore test = two()) {
            List<ObjectWriter<TextHead>> writers = partsOfAll(test);
            test.store.suspendWrites();
            writers.forEach(ObjectWriter::abort);
            test.store.resumeWrites(false);
            assertGone(test);
        }
        try (TestStore test = two()) {
            assertGone(test);
        }
    }

    @Test
    void blocksTakenBackWhileTheVolumeIsOutDoNotComeBackWithIt() {
        try (TestStore test = two()) {
            partsOfAll(test).forEach(ObjectWriter::keep);
            List<ObjectWriter<TextHead>> extensions = new ArrayList<>();
            for (int i = 0; i < OBJECTS; i++) {
                StoredObject<TextHead> object = test.find("k" + i);
                ObjectWriter<TextHead> writer = test.store.extend(object);
                writer.write(2 * 8192, Unpooled.wrappedBuffer(new byte[2 * 8192]));
                extensions.add(writer);
                object.release();
            }
            test.sync();
            offline(test, FIRST);
            extensions.forEach(ObjectWriter::abort);
            online(test, FIRST);
            for (int i = 0; i < OBJECTS; i++) {
                assertFalse(hasByte(test.find("k" + i), 2 * 8192), "k" + i);
            }
        }
    }

    private static boolean hasByte(StoredObject<TextHead> object, long position) {
        boolean there = object != null && object.hasRange(position, 1);
        if (object != null) {
            object.release();
        }
        return there;
    }
}
