package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.Journal;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.io.FaultyFileIo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that acknowledged facts are known after a restart, and that unknown facts are reported as unknown. */
class StoreJournalTest {
    private static final Path FIRST = Path.of("/volume0");
    private static final Path SECOND = Path.of("/volume1");
    private static final Path JOURNAL = FIRST.resolve("journal");

    /** Keeps every valid entry, or only the newest ones. */
    private static final class Facts implements Journal.Owner {
        final List<Journal.Entry> known = new CopyOnWriteArrayList<>();
        final int most;
        Journal.Condition condition;
        int recoveries;

        Facts(TestStore test, int most) {
            this.most = most;
            test.store.journal().attach(this);
        }

        Facts(TestStore test) {
            this(test, Integer.MAX_VALUE);
        }

        @Override
        public void recovered(List<Journal.Entry> entries, Journal.Condition found) {
            condition = found;
            recoveries++;
            NavigableSet<Long> stamps = stamps();
            for (Journal.Entry entry : entries) {
                assertEquals("fact " + entry.stamp(), new String(entry.content(), StandardCharsets.US_ASCII));
                if (stamps.add(entry.stamp())) {
                    known.add(entry);
                }
            }
        }

        @Override
        public List<Journal.Entry> inForce() {
            // Copied first, because a view of a list that other threads extend throws an exception.
            List<Journal.Entry> now = List.copyOf(known);
            return now.subList(Math.max(0, now.size() - most), now.size());
        }

        NavigableSet<Long> stamps() {
            NavigableSet<Long> stamps = new TreeSet<>();
            known.forEach(entry -> stamps.add(entry.stamp()));
            return stamps;
        }

        /** Returns why the entry is not durable; null if it is. */
        IOException add(TestStore test, long stamp) {
            Journal.Entry entry = new Journal.Entry(stamp, ("fact " + stamp).getBytes(StandardCharsets.US_ASCII));
            known.add(entry);
            CompletableFuture<Optional<IOException>> answer = new CompletableFuture<>();
            test.store.journal().append(entry, Runnable::run, failure -> answer.complete(Optional.ofNullable(failure)));
            return TestStore.await(answer).orElse(null);
        }
    }

    /** Has always the same entries in force, and counts the stamps that a store finds. */
    private static final class FixedEntries implements Journal.Owner {
        final List<Journal.Entry> entries;
        int recovered;

        FixedEntries(List<Journal.Entry> entries) {
            this.entries = entries;
        }

        @Override
        public void recovered(List<Journal.Entry> found, Journal.Condition condition) {
            recovered =
                    (int) found.stream().map(Journal.Entry::stamp).distinct().count();
        }

        @Override
        public List<Journal.Entry> inForce() {
            return entries;
        }
    }

    private static StoreConfig.Builder one() {
        return StoreContractTest.volumes(2).ramBytes(0);
    }

    private static StoreConfig.Builder two() {
        return StoreContractTest.volumes(2, 2).ramBytes(0);
    }

    private static void addAll(TestStore test, Facts facts, long from, long to) {
        for (long stamp = from; stamp <= to; stamp++) {
            assertNull(facts.add(test, stamp));
        }
    }

    /** Runs the task. An exception fails the future. */
    private static void complete(CompletableFuture<Void> done, Runnable task) {
        try {
            task.run();
            done.complete(null);
        } catch (Throwable e) {
            done.completeExceptionally(e);
        }
    }

    private static NavigableSet<Long> range(long from, long to) {
        NavigableSet<Long> stamps = new TreeSet<>();
        for (long stamp = from; stamp <= to; stamp++) {
            stamps.add(stamp);
        }
        return stamps;
    }

    @Test
    void aNewStoreHasAnEmptyJournalAndALaterStoreTheConfirmedRecords() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(one(), io)) {
            Facts facts = new Facts(test);
            assertEquals(Journal.Condition.NEW, facts.condition);
            addAll(test, facts, 1, 20);
        }
        for (int round = 0; round < 3; round++) {
            try (TestStore test = new TestStore(one(), io)) {
                Facts facts = new Facts(test);
                assertEquals(Journal.Condition.COMPLETE, facts.condition);
                assertEquals(range(1, 20 + round), facts.stamps());
                addAll(test, facts, 21 + round, 21 + round);
            }
        }
    }

    /**
     * More entries wait than the volume's queue has places for tasks, because its thread is busy. Entries beyond the
     * limit of 131,072 are refused, and the next write includes them.
     */
    @ParameterizedTest
    @CsvSource({"90000, 0", "140001, 8928"})
    void aBurstOfEntriesIsWrittenAndTheVolumeStaysInUse(int count, int refusals) {
        FaultyFileIo io = new FaultyFileIo();
        List<Journal.Entry> entries = new ArrayList<>();
        for (long stamp = 1; stamp <= count; stamp++) {
            entries.add(new Journal.Entry(stamp, new byte[] {1}));
        }
        try (TestStore test = new TestStore(one(), io)) {
            Journal journal = test.store.journal();
            journal.attach(new FixedEntries(entries));
            CountDownLatch busy = new CountDownLatch(1);
            CountDownLatch added = new CountDownLatch(1);
            journal.append(entries.get(0), Runnable::run, failure -> {
                busy.countDown();
                TestStore.awaitLatch(added);
            });
            TestStore.awaitLatch(busy);
            List<CompletableFuture<Optional<IOException>>> answers = new ArrayList<>();
            for (Journal.Entry entry : entries.subList(1, entries.size())) {
                CompletableFuture<Optional<IOException>> answer = new CompletableFuture<>();
                journal.append(entry, Runnable::run, failure -> answer.complete(Optional.ofNullable(failure)));
                answers.add(answer);
            }
            added.countDown();
            int refused = 0;
            for (CompletableFuture<Optional<IOException>> answer : answers) {
                IOException failure = TestStore.await(answer).orElse(null);
                refused += failure == null ? 0 : 1;
                assertTrue(
                        failure == null || failure.getMessage().contains("too many journal entries wait: limit=131072"),
                        () -> String.valueOf(failure));
            }
            assertEquals(refusals, refused);
            assertEquals(
                    StoreStatistics.State.ONLINE,
                    test.store.statistics().volumes().get(0).state());
        }
        try (TestStore test = new TestStore(one(), io)) {
            FixedEntries found = new FixedEntries(List.of());
            test.store.journal().attach(found);
            assertEquals(entries.size(), found.recovered);
        }
    }

    @Test
    void aStoreInRamAloneLosesIt() {
        try (TestStore test = new TestStore(StoreConfig.builder(), new FaultyFileIo())) {
            Facts facts = new Facts(test);
            assertEquals(Journal.Condition.NEW, facts.condition);
            assertNull(facts.add(test, 1));
        }
    }

    @Test
    void contentFromBeforeTheJournalsIsReported() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(one(), io)) {
            test.put("a", "h", TestStore.body(1, 1000));
        }
        try (TestStore test = new TestStore(one(), io)) {
            assertEquals(Journal.Condition.MISSING, new Facts(test).condition);
        }
        try (TestStore test = new TestStore(one(), io)) {
            assertEquals(Journal.Condition.COMPLETE, new Facts(test).condition);
        }
    }

    @RepeatedTest(30)
    void entriesAcknowledgedBeforeAKillAreKnownAfterwards(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        FaultyFileIo io = new FaultyFileIo();
        TestStore test = new TestStore(one(), io).withoutCheck();
        // Few valid entries, so that the file is rewritten again and again.
        Facts facts = new Facts(test, 3);
        io.killAfterWrites(repetition.getCurrentRepetition() * 13L, random);
        long answered = 0;
        for (long stamp = 1; stamp <= 600 && facts.add(test, stamp) == null; stamp++) {
            answered = stamp;
        }
        boolean powerLost = random.nextBoolean();
        FaultyFileIo after = powerLost ? io.afterPowerLoss(random) : io.afterKill();
        test.abandon();
        try (TestStore next = new TestStore(one(), after).withoutCheck()) {
            Facts found = new Facts(next);
            if (found.condition == Journal.Condition.COMPLETE && answered > 0) {
                assertTrue(
                        found.stamps().containsAll(range(Math.max(1, answered - 2), answered)),
                        "seed " + repetition.getCurrentRepetition() + " answered " + answered);
            } else {
                // After a power failure, an unacknowledged record may look like damage.
                assertTrue(answered == 0 || powerLost, "seed " + repetition.getCurrentRepetition());
            }
            assertNull(found.add(next, 1000));
        }
    }

    @Test
    void aFlippedBitInAnyByteIsDetectedOrHarmless() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(one(), io)) {
            addAll(test, new Facts(test), 1, 4);
        }
        for (long bit = 0; bit < io.length(JOURNAL) * 8; bit += 9) {
            FaultyFileIo damaged = io.copy();
            damaged.flipBit(JOURNAL, bit);
            try (TestStore test = new TestStore(one(), damaged)) {
                Facts facts = new Facts(test);
                assertTrue(
                        facts.condition == Journal.Condition.DAMAGED
                                || facts.stamps().equals(range(1, 4)),
                        "bit " + bit);
            }
            try (TestStore test = new TestStore(one(), damaged)) {
                assertEquals(Journal.Condition.COMPLETE, new Facts(test).condition, "bit " + bit);
            }
        }
    }

    @Test
    void aFileThatEndsWithinARecordLosesOnlyThatRecord() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(one(), io)) {
            addAll(test, new Facts(test), 1, 4);
        }
        long length = io.length(JOURNAL);
        for (long cut = 1; cut < 48; cut += 5) {
            FaultyFileIo torn = io.copy();
            torn.truncate(JOURNAL, length - cut);
            try (TestStore test = new TestStore(one(), torn)) {
                Facts facts = new Facts(test);
                assertEquals(Journal.Condition.COMPLETE, facts.condition);
                assertEquals(range(1, 3), facts.stamps());
                addAll(test, facts, 5, 5);
            }
            try (TestStore test = new TestStore(one(), torn)) {
                assertEquals(5L, new Facts(test).stamps().last());
            }
        }
    }

    @Test
    void oneSoundJournalIsEnoughAndHealsTheOthers() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(two(), io)) {
            addAll(test, new Facts(test), 1, 9);
        }
        io.flipBit(JOURNAL, 8 * 100);
        try (TestStore test = new TestStore(two(), io)) {
            Facts facts = new Facts(test);
            assertEquals(Journal.Condition.COMPLETE, facts.condition);
            assertEquals(range(1, 9), facts.stamps());
        }
        io.flipBit(SECOND.resolve("journal"), 8 * 100);
        try (TestStore test = new TestStore(two(), io)) {
            assertEquals(range(1, 9), new Facts(test).stamps());
        }
    }

    @Test
    void theFileStaysShortWhileLittleIsInForce() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(one(), io)) {
            addAll(test, new Facts(test, 5), 1, 800);
            assertTrue(io.length(JOURNAL) < 300 * 56, () -> "length " + io.length(JOURNAL));
        }
        try (TestStore test = new TestStore(one(), io)) {
            assertTrue(new Facts(test).stamps().containsAll(range(796, 800)));
        }
    }

    @Test
    void anEntryThatCannotBeWrittenIsReportedAndWrittenWithTheNext() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(one(), io)) {
            Facts facts = new Facts(test);
            addAll(test, facts, 1, 2);
            io.failWrites(true, FIRST);
            assertNotNull(facts.add(test, 3));
            io.failWrites(false, FIRST);
            addAll(test, facts, 4, 4);
        }
        try (TestStore test = new TestStore(one(), io)) {
            assertEquals(range(1, 4), new Facts(test).stamps());
        }
    }

    @Test
    void aPathThatWasOutHasEverythingBeforeItIsUsedAgain() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(two(), io)) {
            Facts facts = new Facts(test);
            addAll(test, facts, 1, 3);
            VolumeCommandsTest.offline(test, FIRST);
            addAll(test, facts, 4, 6);
            VolumeCommandsTest.online(test, FIRST);
        }
        io.flipBit(SECOND.resolve("journal"), 8 * 40);
        try (TestStore test = new TestStore(two(), io)) {
            Facts facts = new Facts(test);
            assertEquals(Journal.Condition.COMPLETE, facts.condition);
            assertEquals(range(1, 6), facts.stamps());
        }
    }

    @Test
    void duringAHandOverNothingIsDurableAndAddedEntriesAreKnownAfterwards() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(one(), io)) {
            Facts facts = new Facts(test);
            addAll(test, facts, 1, 2);
            test.store.suspendWrites();
            assertNotNull(facts.add(test, 3));
            try (TestStore other = new TestStore(one(), io)) {
                Facts others = new Facts(other);
                assertEquals(range(1, 2), others.stamps());
                addAll(other, others, 4, 5);
            }
            test.store.resumeWrites(false);
            assertEquals(2, facts.recoveries);
            assertTrue(facts.stamps().containsAll(List.of(4L, 5L)));
            addAll(test, facts, 6, 6);
        }
        try (TestStore test = new TestStore(one(), io)) {
            assertTrue(new Facts(test).stamps().containsAll(List.of(1L, 2L, 4L, 5L, 6L)));
        }
    }

    @Test
    void entriesOfManyThreadsAreAllThere() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(one(), io)) {
            Facts facts = new Facts(test);
            List<CompletableFuture<Void>> adders = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                long from = 1 + i * 100L;
                CompletableFuture<Void> adder = new CompletableFuture<>();
                adders.add(adder);
                new Thread(() -> complete(adder, () -> addAll(test, facts, from, from + 99))).start();
            }
            adders.forEach(TestStore::await);
        }
        try (TestStore test = new TestStore(one(), io)) {
            assertEquals(range(1, 400), new Facts(test).stamps());
        }
    }
}
