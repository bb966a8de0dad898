package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random purges, undos, restarts and rolls, compared with a list of purges: no purged response is found current, and no
 * response whose purge was undone is found stale.
 */
final class UndoModelTest {
    private static final int SEEDS =
            Integer.getInteger("millrace.undo.seeds", 250 * Integer.getInteger("millrace.test.effort", 1));
    private static final int STEPS = 40;
    /** Steps in which a purge can be undone. */
    private static final int WINDOW = 25;

    private static final List<String> URLS = List.of(
            "http://a/", "http://a/b", "http://a/b/c", "http://a/b/c?d", "http://b/", "http://b/b", "http://b:81/b");
    private static final List<String> TAGS = List.of("x", "y", "z");

    private static TargetUri url(String text) {
        return (TargetUri) TargetUri.parseAbsolute(text);
    }

    private static Tags tags(String... texts) {
        TagList list = new TagList();
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            list.addOne(bytes, 0, bytes.length);
        }
        return list.tags();
    }

    /** A purge as requested. */
    private static final class Purge {
        final List<InvalidationScope> scopes;
        final boolean soft;
        final long stamp;
        boolean undone;

        Purge(List<InvalidationScope> scopes, boolean soft, long stamp) {
            this.scopes = scopes;
            this.soft = soft;
            this.stamp = stamp;
        }
    }

    /** One history. */
    private static final class History {
        final Random random;
        final List<Purge> purges = new ArrayList<>();
        /** The journal's file. */
        List<InvalidationEntry> journal = new ArrayList<>();

        InvalidationTable table = new InvalidationTable();
        long now = 100;
        boolean restarted;
        /** Purges of the predecessor in a roll that have not arrived yet. */
        final List<Late> passedOn = new ArrayList<>();
        /** Responses in RAM, which stay there from step to step. */
        private final List<Response> responses = new ArrayList<>();

        private record Response(TargetUri url, StoredHead head) {}

        private record Late(Purge purge, List<InvalidationEntry> entries) {}

        History(long seed) {
            random = new Random(seed);
        }

        long undoableFrom() {
            return now - WINDOW;
        }

        InvalidationScope scope() {
            String url = URLS.get(random.nextInt(URLS.size()));
            byte[] tag = TAGS.get(random.nextInt(TAGS.size())).getBytes(StandardCharsets.UTF_8);
            return switch (random.nextInt(7)) {
                case 0 -> InvalidationScope.host(url(url));
                case 1, 2 -> InvalidationScope.prefix(url(url));
                case 3 -> InvalidationScope.url(url(url));
                case 4 -> InvalidationScope.group(url("http://g/"), TAGS.get(random.nextInt(TAGS.size())));
                case 5 -> InvalidationScope.tag(tag, random.nextBoolean() ? null : "a");
                default -> random.nextInt(3) == 0 ? InvalidationScope.all() : InvalidationScope.host(url(url));
            };
        }

        private List<InvalidationScope> scopes(boolean soft) {
            List<InvalidationScope> scopes = new ArrayList<>();
            InvalidationScope first = scope();
            for (int i = random.nextInt(3); i >= 0; i--) {
                InvalidationScope one = i == 0 ? first : scope();
                boolean fits = (one.tag() == null) == (first.tag() == null);
                boolean softOnly = one.kind() == InvalidationKind.URL;
                if (fits && (soft || !softOnly)) {
                    scopes.add(one);
                }
            }
            return scopes;
        }

        private void announceKey(List<InvalidationScope> scopes, long stamp) {
            InvalidationEntry key = scopes.get(0).tag() == null ? null : table.announceKey(stamp);
            if (key != null) {
                journal.add(key);
            }
        }

        void purge() {
            boolean soft = random.nextInt(4) > 0;
            List<InvalidationScope> scopes = scopes(soft);
            if (scopes.isEmpty()) {
                return;
            }
            announceKey(scopes, now);
            List<InvalidationEntry> entered = table.invalidate(scopes, soft, now, undoableFrom());
            journal.addAll(entered);
            purges.add(new Purge(scopes, soft, entered.get(0).stamp()));
        }

        /** A purge of the predecessor in a roll, which passes its entries on. */
        void purgeOfPredecessor() {
            boolean soft = random.nextInt(4) > 0;
            List<InvalidationScope> scopes = scopes(soft);
            if (scopes.isEmpty()) {
                return;
            }
            announceKey(scopes, now - 1);
            InvalidationTable predecessor = new InvalidationTable();
            predecessor.restore(table.inForce().stream()
                    .filter(entry -> entry.kind() == InvalidationKind.TAG_KEY)
                    .toList());
            List<InvalidationEntry> entered = predecessor.invalidate(scopes, soft, now, undoableFrom());
            passedOn.add(new Late(new Purge(scopes, soft, entered.get(0).stamp()), entered));
        }

        void arrive() {
            if (passedOn.isEmpty()) {
                return;
            }
            Late late = passedOn.remove(random.nextInt(passedOn.size()));
            for (InvalidationEntry entry : late.entries()) {
                table.restore(List.of(InvalidationEntry.read(entry.stamp(), entry.bytes())), undoableFrom());
                journal.add(entry);
            }
            purges.add(late.purge());
        }

        void undo() {
            if (purges.isEmpty()) {
                return;
            }
            Purge purge = purges.get(random.nextInt(purges.size()));
            boolean expected = purge.soft && !purge.undone && purge.stamp >= undoableFrom();
            if (purge.stamp < undoableFrom()) {
                return;
            }
            if (expected && random.nextInt(4) == 0) {
                // An undo in the predecessor.
                table.restore(List.of(UndoLog.undone(purge.stamp)), undoableFrom());
                purge.undone = true;
                journal.add(UndoLog.undone(purge.stamp));
                return;
            }
            boolean undone = table.undo(purge.stamp);
            assertTrue(expected || !undone, "undone though it could not be");
            // After a restart the responses of a hard purge are unknown, and need no undo.
            assertTrue(undone == expected || restarted, "not undone");
            if (undone) {
                purge.undone = true;
                journal.add(UndoLog.undone(purge.stamp));
            }
        }

        /** Kill -9, and another process with the journal; or a rewrite of the journal. */
        void restart() {
            if (random.nextBoolean()) {
                journal = new ArrayList<>(table.inForce());
            } else {
                List<InvalidationEntry> read = new ArrayList<>();
                for (InvalidationEntry entry : journal) {
                    read.add(InvalidationEntry.read(entry.stamp(), entry.bytes()));
                }
                if (random.nextInt(3) == 0) {
                    // Another storage path has them as well.
                    read.addAll(table.inForce());
                }
                Collections.shuffle(read, random);
                table = new InvalidationTable();
                responses.clear();
                table.restore(read, undoableFrom());
                restarted = true;
            }
        }

        void store() {
            TargetUri url = url(URLS.get(random.nextInt(URLS.size())));
            FieldSection fields = FieldSection.builder()
                    .add("Cache-Control", "max-age=1000")
                    .add("Surrogate-Key", TAGS.get(random.nextInt(TAGS.size())))
                    .build();
            RequestHead request = RequestHead.of("GET", url, FieldSection.EMPTY);
            StoredHead head = StoredHead.of(request, ResponseHead.of(200, "OK", fields), 0, 0, CacheSettings.DEFAULTS);
            responses.add(new Response(url, head.withStamp(now - 1, url, null)));
        }

        void check() {
            store();
            for (Response response : responses) {
                StoredHead head = response.head();
                assertEquals(
                        word(table.of(response.url(), head.stamp(), head.labels())),
                        word(table.of(response.url(), head, 0)),
                        () -> response.url() + " in RAM, stored at " + head.stamp() + " now " + now);
            }
            for (String text : URLS) {
                TargetUri url = url(text);
                for (Labels labels : List.of(
                        Labels.NONE,
                        Labels.of(new long[0], tags("x")),
                        Labels.of(new long[0], tags("y", "z")),
                        Labels.of(
                                new long[] {
                                    InvalidationScope.group(url("http://g/"), "x")
                                            .hash()
                                },
                                Tags.NONE))) {
                    for (int back = 0; back < 4; back++) {
                        long stamp = Math.max(0, now - 1 - random.nextInt(STEPS));
                        assertEquals(
                                expected(url, labels, stamp),
                                word(table.of(url, stamp, labels)),
                                () -> text + " " + labels + " at " + stamp + " now " + now);
                    }
                }
            }
        }

        private String expected(TargetUri url, Labels labels, long stamp) {
            String found = "current";
            for (Purge purge : purges) {
                boolean covers = purge.scopes.stream().anyMatch(scope -> scope.covers(url, labels));
                if (stamp < purge.stamp && covers && !purge.undone) {
                    if (!purge.soft) {
                        return "gone";
                    }
                    found = "stale";
                }
            }
            return found;
        }

        private static String word(Outdated outdated) {
            return outdated == null ? "current" : outdated.isSoft() ? "stale" : "gone";
        }
    }

    @Test
    void historiesOfPurgesUndosAndRestartsAgreeWithTheModel() {
        for (int seed = 0; seed < SEEDS; seed++) {
            History history = new History(seed);
            try {
                for (int step = 0; step < STEPS; step++) {
                    history.now++;
                    switch (history.random.nextInt(13)) {
                        case 0, 1, 2, 3, 4 -> history.purge();
                        case 5, 6, 7 -> history.undo();
                        case 8 -> history.purgeOfPredecessor();
                        case 9, 10 -> history.arrive();
                        default -> history.restart();
                    }
                    history.check();
                }
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private final InvalidationTable table = new InvalidationTable();

    private long softly(InvalidationScope scope) {
        return table.invalidate(List.of(scope), true, 0, 1).get(0).stamp();
    }

    private Outdated of(String url) {
        return table.of(url(url), 0, Labels.NONE);
    }

    @ParameterizedTest(name = "{0} undone before {1}")
    @CsvSource({"1, 2", "2, 1"})
    void twoPurgesOfAHostAreUndoneInAnyOrder(int first, int second) {
        long[] stamps = {
            0, softly(InvalidationScope.host(url("http://h/"))), softly(InvalidationScope.host(url("http://h/")))
        };
        assertTrue(table.undo(stamps[first]));
        assertEquals(Outdated.STALE_BY_HOST, of("http://h/"));
        assertEquals(stamps[second], table.purgeStamp(url("http://h/"), 0, Labels.NONE, Outdated.STALE_BY_HOST));
        assertTrue(table.undo(stamps[second]));
        assertNull(of("http://h/"));
        assertFalse(table.undo(stamps[second]));
    }

    @ParameterizedTest(name = "undoable: {0}")
    @CsvSource({"true", "false"})
    void aPurgeThatArrivesLateStaysWhenALaterOneIsUndone(boolean undoable) {
        InvalidationScope host = InvalidationScope.host(url("http://h/"));
        long later = table.invalidate(List.of(host), true, 9, 1).get(0).stamp();
        List<InvalidationEntry> late = new InvalidationTable().invalidate(List.of(host), true, 7, 1);
        table.restore(late, undoable ? 1 : 8);
        table.restore(late, undoable ? 1 : 8);
        assertTrue(table.undo(later));
        assertEquals(Outdated.STALE_BY_HOST, table.of(url("http://h/"), 6, Labels.NONE));
        assertNull(table.of(url("http://h/"), 7, Labels.NONE));
        assertEquals(undoable, table.undo(7));
        assertEquals(undoable, table.of(url("http://h/"), 6, Labels.NONE) == null);
    }

    @Test
    void anUndoOfEverythingLeavesWhatWasPurgedBefore() {
        softly(InvalidationScope.host(url("http://h/")));
        long all = softly(InvalidationScope.all());
        assertEquals(Outdated.STALE_BY_ALL, of("http://h/"));
        assertTrue(table.undo(all));
        assertEquals(Outdated.STALE_BY_HOST, of("http://h/"));
        assertNull(of("http://other/"));
    }

    @Test
    void morePrefixesThanAreKeptAreUndoneOneByOne() {
        List<Long> stamps = new ArrayList<>();
        for (int i = 0; i < PrefixStamps.PREFIXES_MAX + 1; i++) {
            stamps.add(softly(InvalidationScope.prefix(url("http://h/" + i + "/"))));
        }
        assertEquals(Outdated.STALE_BY_HOST, of("http://h/other"));
        assertTrue(table.undo(stamps.get(PrefixStamps.PREFIXES_MAX)));
        assertNull(of("http://h/other"));
        assertEquals(Outdated.STALE_BY_PREFIX, of("http://h/3/x"));
        assertTrue(table.undo(stamps.get(3)));
        assertNull(of("http://h/3/x"));
        assertEquals(Outdated.STALE_BY_PREFIX, of("http://h/4/x"));
    }

    @Test
    void aFullTableKeepsWhatItForgetsStaleAndUndoesWhatItKnows() {
        InvalidationTable small = new InvalidationTable(64, 64);
        List<Long> stamps = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            InvalidationScope scope = InvalidationScope.host(url("http://h" + i + "/"));
            stamps.add(small.invalidate(List.of(scope), true, 0, 1).get(0).stamp());
        }
        assertFalse(small.undo(stamps.get(0)));
        assertTrue(small.undo(stamps.get(199)));
        for (int i = 0; i < 200; i++) {
            Outdated outdated = small.of(url("http://h" + i + "/"), stamps.get(i) - 1, Labels.NONE);
            assertEquals(i == 199, outdated == null, "host " + i);
        }
    }

    @Test
    void theLogOfUndosIsBounded() {
        UndoLog log = new UndoLog(100);
        for (int i = 1; i <= 1000; i++) {
            log.add(InvalidationEntry.of(InvalidationKind.URL, true, i, i), List.of());
        }
        assertFalse(log.has(900));
        assertTrue(log.has(901));
        for (int i = 1; i <= 2 * UndoLog.UNDONE_MAX; i++) {
            log.undo(i);
        }
        assertEquals(UndoLog.UNDONE_MAX, log.undoneCount());
    }
}
