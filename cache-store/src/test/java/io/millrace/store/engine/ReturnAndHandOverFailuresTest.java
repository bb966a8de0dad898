package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.Journal;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.FileIo;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tests paths that fail while they are brought online, and changes during the hand-over of the volumes. */
class ReturnAndHandOverFailuresTest {
    private static final Path FIRST = Path.of("/volume0");
    private static final Path SECOND = Path.of("/volume1");

    /** An object that is discarded during the hand-over of the volumes stays discarded when they return. */
    @Test
    void objectsDiscardedDuringAHandOverStayDiscarded() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            assertTrue(test.put("a", "old", TestStore.body(1, 3000)));
            test.sync();
            StoredObject<TextHead> held = test.open(test.key("a"));
            assertNotNull(held);
            assertNull(test.store.get(test.key("a")), "only on disk");
            test.store.suspendWrites();
            test.store.discard(held);
            held.release();
            test.store.resumeWrites(false);
            test.sync();
            assertNull(test.head("a"));
        }
    }

    @Test
    void objectsRemovedDuringAHandOverStayRemoved() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            assertTrue(test.put("a", "old", TestStore.body(1, 3000)));
            test.sync();
            test.store.suspendWrites();
            test.store.remove(test.key("a"), Runnable::run, (present, failure) -> {});
            test.store.resumeWrites(false);
            test.sync();
            assertNull(test.head("a"));
        }
    }

    private static final class Facts implements Journal.Owner {
        final List<Journal.Entry> known = new CopyOnWriteArrayList<>();
        Journal.Condition condition;

        Facts(TestStore test) {
            test.store.journal().attach(this);
        }

        @Override
        public void recovered(List<Journal.Entry> entries, Journal.Condition found) {
            condition = found;
            known.addAll(entries);
        }

        @Override
        public List<Journal.Entry> inForce() {
            return List.copyOf(known);
        }

        NavigableSet<Long> stamps() {
            NavigableSet<Long> stamps = new TreeSet<>();
            known.forEach(entry -> stamps.add(entry.stamp()));
            return stamps;
        }

        IOException add(TestStore test, long stamp) {
            Journal.Entry entry = new Journal.Entry(stamp, ("fact " + stamp).getBytes(StandardCharsets.US_ASCII));
            known.add(entry);
            CompletableFuture<Optional<IOException>> answer = new CompletableFuture<>();
            test.store.journal().append(entry, Runnable::run, failure -> answer.complete(Optional.ofNullable(failure)));
            return TestStore.await(answer).orElse(null);
        }
    }

    /** A path that could not write the journal when it came online starts empty. */
    @Test
    void aPathWhoseJournalCouldNotBeWrittenWhenItReturnedDoesNotClaimToKnowEverything() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            Facts facts = new Facts(test);
            assertNull(facts.add(test, 1));
            test.sync();
            VolumeCommandsTest.offline(test, FIRST);
            assertNull(facts.add(test, 2));
            io.failWrites(true, FIRST.resolve("journal.new"));
            AssertionError failed = assertThrows(AssertionError.class, () -> VolumeCommandsTest.online(test, FIRST));
            assertTrue(failed.toString().contains("the journal of the volume cannot be written"), failed::toString);
            io.failWrites(false, FIRST);
            VolumeCommandsTest.online(test, FIRST);
            assertNull(facts.add(test, 3));
        }
        io.flipBit(SECOND.resolve("journal"), 8 * 40);
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            Facts facts = new Facts(test);
            assertTrue(
                    facts.condition != Journal.Condition.COMPLETE
                            || facts.stamps().contains(2L),
                    facts.condition + " " + facts.stamps());
        }
    }

    /** After a failed force of a directory, acknowledged changes are present. */
    @Test
    void entriesAcknowledgedAfterAFailedForceAreKnown() {
        FaultyFileIo files = new FaultyFileIo();
        AtomicBoolean fails = new AtomicBoolean();
        FileIo io = (FileIo) Proxy.newProxyInstance(
                FileIo.class.getClassLoader(), new Class<?>[] {FileIo.class}, (proxy, method, args) -> {
                    if (method.getName().equals("force") && FIRST.equals(args[0]) && fails.compareAndSet(true, false)) {
                        throw new IOException("Input/output error");
                    }
                    try {
                        return method.invoke(files, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            Facts facts = new Facts(test);
            for (long stamp = 1; stamp <= 20; stamp++) {
                assertNull(facts.add(test, stamp));
            }
        }
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            fails.set(true);
            Facts facts = new Facts(test);
            assertEquals(20, facts.stamps().size());
            for (long stamp = 21; stamp <= 25; stamp++) {
                assertNull(facts.add(test, stamp));
            }
            assertTrue(!fails.get(), "the directory was forced");
        }
        files.flipBit(SECOND.resolve("journal"), 8 * 40);
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            Facts facts = new Facts(test);
            assertEquals(Journal.Condition.COMPLETE, facts.condition);
            assertEquals(25, facts.stamps().size());
        }
    }

    /** A directory that accepts no journal entries does not cause the loss of its content. */
    @Test
    void entriesThatCannotBeWrittenDoNotTakeTheVolumeOut() {
        FaultyFileIo files = new FaultyFileIo();
        AtomicBoolean full = new AtomicBoolean();
        FileIo io = (FileIo) Proxy.newProxyInstance(
                FileIo.class.getClassLoader(), new Class<?>[] {FileIo.class}, (proxy, method, args) -> {
                    if (method.getName().equals("open")
                            && full.get()
                            && args[0].toString().contains("journal")) {
                        throw new IOException("No space left on device");
                    }
                    try {
                        return method.invoke(files, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io).withoutCheck()) {
            Facts facts = new Facts(test);
            assertTrue(test.put("a", "h", TestStore.body(1, 3000)));
            test.sync();
            full.set(true);
            for (long stamp = 1; stamp <= 8; stamp++) {
                assertNotNull(facts.add(test, stamp));
            }
            full.set(false);
            assertEquals("h", test.head("a"));
        }
    }

    /** A path that failed while it was brought online can be brought online when it works again. */
    @Test
    void aPathThatFailedWhileItReturnedReturnsAtTheNextCommand() throws Exception {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            for (int i = 0; i < 20; i++) {
                assertTrue(test.put("k" + i, "h", TestStore.body(1, 3000)));
            }
            test.sync();
            VolumeCommandsTest.offline(test, FIRST);
            for (int i = 0; i < 20; i++) {
                test.store.remove(test.key("k" + i), Runnable::run, (present, failure) -> {});
            }
            // The first tombstone is written; the second one fails, and so does the force of the file.
            io.beforeNextWrite(FIRST, () -> io.beforeNextWrite(FIRST, () -> io.failWrites(true, FIRST)));
            boolean[] failed = {false};
            try {
                VolumeCommandsTest.online(test, FIRST);
            } catch (AssertionError e) {
                failed[0] = true;
            }
            io.failWrites(false, FIRST);
            assertTrue(failed[0], "the first one failed");
            VolumeCommandsTest.online(test, FIRST);
        }
    }

    @Test
    void objectsCompletedDuringAPartialHandOverAreNotStored() throws Exception {
        FaultyFileIo io = new FaultyFileIo();
        String key = null;
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            VolumeCommandsTest.offline(test, SECOND);
            for (int i = 0; i < 20; i++) {
                assertTrue(test.put("k" + i, "old", TestStore.body(1, 3000)));
            }
            test.sync();
            VolumeCommandsTest.online(test, SECOND);
            StoreEngine<TextHead> engine = (StoreEngine<TextHead>) test.store;
            String other = null;
            for (int i = 0; i < 20; i++) {
                if (engine.volumes().targetVolume(test.key("k" + i), "default") == 1) {
                    other = key == null ? other : "k" + i;
                    key = key == null ? "k" + i : key;
                }
            }
            assertNotNull(other);
            ObjectWriter<TextHead> writer = test.store.create(test.key(key));
            writer.head(TextHead.of("new"), 3000);
            java.util.concurrent.CountDownLatch go = new java.util.concurrent.CountDownLatch(1);
            java.util.concurrent.CountDownLatch held = new java.util.concurrent.CountDownLatch(1);
            io.beforeNextWrite(SECOND, () -> {
                held.countDown();
                TestStore.awaitLatch(go);
            });
            assertTrue(test.put(other, "new", TestStore.body(2, 3000)));
            TestStore.awaitLatch(held);
            Thread suspending = new Thread(() -> {
                try {
                    test.store.suspendWrites();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            suspending.start();
            var first = engine.volumes().slots()[0].volume();
            while (first.state() == VolumeState.ONLINE) {
                Thread.onSpinWait();
            }
            writer.write(0, Unpooled.wrappedBuffer(TestStore.body(2, 3000)));
            writer.complete(3000);
            assertTrue(writer.isFailed(), "is stored where the other path cannot be told");
            go.countDown();
            suspending.join();
        }
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            assertEquals("old", test.head(key));
        }
    }
}
