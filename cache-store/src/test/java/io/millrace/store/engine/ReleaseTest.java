package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.Journal;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.Successor;
import io.millrace.store.io.FaultyFileIo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests a store that continues to serve while its successor opens the volumes. */
class ReleaseTest {
    private static final int OBJECTS = 40;
    private static final int BODY_BYTES = 100_000;

    private final FaultyFileIo io = new FaultyFileIo();

    private TestStore open(int ramBytes) {
        StoreConfig.Builder config = StoreContractTest.volumes(2).ramBytes(ramBytes);
        return new TestStore(config.diskAdmission(DiskAdmission.ALWAYS), io);
    }

    private static TestStore filled(TestStore test) {
        for (int i = 0; i < OBJECTS; i++) {
            assertTrue(test.put("k" + i, "h" + i, TestStore.body(i, 1000)));
        }
        assertTrue(test.put("large", "h", TestStore.body(7, BODY_BYTES)));
        test.sync();
        return test;
    }

    /** Passes each change to the successor, and records it. */
    private static final class Passing implements Successor {
        final List<byte[]> changes = new CopyOnWriteArrayList<>();
        final List<CompletableFuture<Optional<IOException>>> replies = new CopyOnWriteArrayList<>();

        @Override
        public void apply(byte[] change, java.util.function.Consumer<IOException> reply) {
            changes.add(change);
            CompletableFuture<Optional<IOException>> answer = new CompletableFuture<>();
            answer.thenAccept(failure -> reply.accept(failure.orElse(null)));
            replies.add(answer);
        }

        /** Returns why the successor could not apply the change. */
        IOException deliver(int number, TestStore successor) {
            CompletableFuture<Optional<IOException>> made = new CompletableFuture<>();
            successor.store.applyChange(
                    changes.get(number), key -> {}, failure -> made.complete(Optional.ofNullable(failure)));
            Optional<IOException> result = TestStore.await(made);
            replies.get(number).complete(result);
            return result.orElse(null);
        }
    }

    private static CompletableFuture<Optional<IOException>> remove(TestStore test, String key) {
        CompletableFuture<Optional<IOException>> answer = new CompletableFuture<>();
        test.store.remove(
                test.key(key), Runnable::run, (present, failure) -> answer.complete(Optional.ofNullable(failure)));
        return answer;
    }

    @Test
    void readsFromDiskWhileASuccessorOpensTheVolumesAndStores() throws IOException {
        try (TestStore old = filled(open(0)).withoutCheck()) {
            old.store.releaseWrites(new Passing());
            try (TestStore successor = open(0).withoutCheck()) {
                assertEquals("h3", successor.head("k3"));
                for (int i = 0; i < OBJECTS; i++) {
                    assertArrayEquals(TestStore.body(i, 1000), old.read("k" + i));
                }
                assertFalse(old.put("new", "n", TestStore.body(1, 1000)), "only the successor stores");
                StoredObject<TextHead> reading = old.open(old.key("large"));
                assertNotNull(reading);
                old.store.suspendWrites();
                assertNull(old.open(old.key("k1")), "the volumes are the successor's alone");
                assertArrayEquals(TestStore.body(7, BODY_BYTES), TestStore.readAll(reading));
                reading.release();
                assertEquals("h1", successor.head("k1"));
            }
        }
    }

    @Test
    void aRemovalIsPassedOnAndAnsweredWhenTheSuccessorHasIt() throws IOException {
        Passing passing = new Passing();
        try (TestStore old = filled(open(1 << 20)).withoutCheck()) {
            assertEquals("h1", old.head("k1"));
            old.store.releaseWrites(passing);
            CompletableFuture<Optional<IOException>> answer = remove(old, "k1");
            assertNull(old.find("k1"));
            assertNull(old.open(old.key("k1")));
            assertFalse(answer.isDone());
            try (TestStore successor = open(0).withoutCheck()) {
                assertEquals("h1", successor.head("k1"), "not told yet");
                assertNull(passing.deliver(0, successor));
                assertNull(successor.find("k1"));
                assertTrue(TestStore.await(answer).isEmpty());
                // Also after the final release of the volumes: a request in progress may end that late.
                old.store.suspendWrites();
                CompletableFuture<Optional<IOException>> late = remove(old, "k2");
                assertNull(passing.deliver(1, successor));
                assertTrue(TestStore.await(late).isEmpty());
                assertNull(successor.find("k2"));
            }
        }
        try (TestStore later = open(0)) {
            assertNull(later.find("k1"));
            assertNull(later.find("k2"));
            assertEquals("h3", later.head("k3"));
        }
    }

    @Test
    void aJournalEntryIsPassedOnAndInForceWithTheSuccessor() throws IOException {
        Passing passing = new Passing();
        byte[] content = "fact".getBytes(StandardCharsets.US_ASCII);
        List<Journal.Entry> recovered = new ArrayList<>();
        try (TestStore old = filled(open(0)).withoutCheck()) {
            old.store.journal().attach(owner(new ArrayList<>()));
            old.store.releaseWrites(passing);
            CompletableFuture<Optional<IOException>> answer = new CompletableFuture<>();
            Journal.Entry entry = new Journal.Entry(42, content);
            old.store.journal().append(entry, Runnable::run, e -> answer.complete(Optional.ofNullable(e)));
            try (TestStore successor = open(0).withoutCheck()) {
                successor.store.journal().attach(owner(recovered));
                assertNull(passing.deliver(0, successor));
                assertTrue(TestStore.await(answer).isEmpty());
                assertEquals(42, recovered.get(0).stamp());
                assertArrayEquals(content, recovered.get(0).content());
            }
        }
        List<Journal.Entry> afterwards = new ArrayList<>();
        try (TestStore later = open(0)) {
            later.store.journal().attach(owner(afterwards));
        }
        assertEquals(42, afterwards.get(0).stamp());
    }

    private static Journal.Owner owner(List<Journal.Entry> known) {
        return new Journal.Owner() {
            @Override
            public void recovered(List<Journal.Entry> entries, Journal.Condition condition) {
                known.addAll(entries);
            }

            @Override
            public List<Journal.Entry> inForce() {
                return known;
            }
        };
    }

    @Test
    void takesItsVolumesBackWithRamAndWithLaterRemovals() throws IOException {
        Passing passing = new Passing();
        List<Journal.Entry> known = new ArrayList<>();
        try (TestStore old = filled(open(1 << 20))) {
            old.store.journal().attach(owner(known));
            assertEquals("h1", old.head("k1"));
            assertEquals("h2", old.head("k2"));
            old.store.releaseWrites(passing);
            remove(old, "k1");
            Journal.Entry entry = new Journal.Entry(42, new byte[1]);
            known.add(entry);
            old.store.journal().append(entry, Runnable::run, failure -> {});
            try (TestStore successor = open(0)) {
                assertEquals("h1", successor.head("k1"));
            }
            old.store.resumeWrites(true);
            old.store.sync();
            StoredObject<TextHead> inRam = old.store.get(old.key("k2"));
            assertNotNull(inRam, "the successor served nothing");
            inRam.release();
            assertNull(old.find("k1"));
            assertTrue(old.put("new", "n", TestStore.body(1, 1000)));
        }
        List<Journal.Entry> afterwards = new ArrayList<>();
        try (TestStore later = open(0)) {
            later.store.journal().attach(owner(afterwards));
            assertNull(later.find("k1"));
            assertEquals("n", later.head("new"));
        }
        assertEquals(42, afterwards.get(0).stamp());
    }

    @Test
    void aRemovalAndAnEntryOfTheSuccessorAreInForceWithThePredecessorWhenTheyAreAnswered() throws IOException {
        List<Journal.Entry> knownToOld = new ArrayList<>();
        AtomicReference<TestStore> next = new AtomicReference<>();
        try (TestStore old = filled(open(1 << 20)).withoutCheck()) {
            old.store.journal().attach(owner(knownToOld));
            assertEquals("h1", old.head("k1"));
            old.store.releaseWrites((change, reply) -> next.get().store.applyChange(change, key -> {}, reply));
            try (TestStore successor = open(0).withoutCheck()) {
                next.set(successor);
                List<Journal.Entry> known = new ArrayList<>();
                successor.store.journal().attach(owner(known));
                successor.store.predecessor(change -> {
                    CompletableFuture<Void> applied = new CompletableFuture<>();
                    old.store.applyChange(change, key -> {}, failure -> applied.complete(null));
                    return applied;
                });
                assertTrue(TestStore.await(remove(successor, "k1")).isEmpty());
                assertTrue(TestStore.await(remove(successor, "k2")).isEmpty());
                for (String removed : List.of("k1", "k2")) {
                    assertNull(old.open(old.key(removed)), "RAM and disk");
                    assertNull(successor.find(removed));
                }
                assertEquals("h3", old.head("k3"));
                Journal.Entry entry = new Journal.Entry(42, new byte[] {1});
                known.add(entry);
                CompletableFuture<Optional<IOException>> answer = new CompletableFuture<>();
                successor.store.journal().append(entry, Runnable::run, e -> answer.complete(Optional.ofNullable(e)));
                assertTrue(TestStore.await(answer).isEmpty());
                assertEquals(42, knownToOld.get(0).stamp());
            }
        }
        List<Journal.Entry> afterwards = new ArrayList<>();
        try (TestStore later = open(0)) {
            later.store.journal().attach(owner(afterwards));
            assertNull(later.find("k1"));
        }
        assertEquals(42, afterwards.get(0).stamp());
    }

    @Test
    void repliesToRemovalsWaitForThePredecessorUntilItAnswersNoMore() {
        try (TestStore test = filled(open(0))) {
            CompletableFuture<Void> applied = new CompletableFuture<>();
            test.store.predecessor(change -> applied);
            CompletableFuture<Optional<IOException>> answer = remove(test, "k1");
            test.sync();
            assertNull(test.find("k1"), "it counts at once");
            assertFalse(answer.isDone());
            applied.completeExceptionally(new IOException("expected"));
            assertTrue(TestStore.await(answer).isEmpty());
            test.store.predecessor(null);
            assertTrue(TestStore.await(remove(test, "k2")).isEmpty());
        }
    }
}
