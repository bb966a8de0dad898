package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What outdates what, and that a table put together from its own entries says the same. */
final class InvalidationTableTest {
    private static final long SEED = 0x5741_4d50L;

    private final InvalidationTable table = new InvalidationTable();

    private static TargetUri url(String text) {
        return (TargetUri) TargetUri.parseAbsolute(text);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static InvalidationEntry host(InvalidationTable table, String url, boolean soft) {
        return table.invalidate(InvalidationKind.HOST, soft, ScopeHash.hostHash(url(url)), null, 0);
    }

    private static InvalidationEntry prefix(InvalidationTable table, String url, String prefix, boolean soft) {
        return table.invalidate(InvalidationKind.PREFIX, soft, ScopeHash.hostHash(url(url)), bytes(prefix), 0);
    }

    private Outdated of(String url, long stamp, long... groups) {
        return table.of(url(url), stamp, Labels.of(groups, Tags.NONE));
    }

    @Test
    void anEmptyTableOutdatesNothing() {
        assertNull(of("http://h/", 0));
        assertEquals(0, table.stamp());
    }

    @Test
    void stampsStayAboveTheStampOfAnUndoneEntryThatTheJournalHasLost() {
        table.restore(List.of(InvalidationEntry.of(InvalidationKind.UNDONE, true, 1000, 1000)), 0);
        assertTrue(host(table, "http://h/", false).stamp() > 1000);
    }

    @Test
    void aHostIsGoneUnderEverySchemeForWhatWasAskedForBefore() {
        long before = table.stamp();
        InvalidationEntry entry = host(table, "http://h/", false);
        assertEquals(Outdated.BY_HOST, of("http://h/a", before));
        assertEquals(Outdated.BY_HOST, of("https://H/b?c", before));
        assertNull(of("http://h/a", table.stamp()));
        assertNull(of("http://other/a", before));
        assertNull(of("http://h:8080/a", before));
        assertEquals(table.stamp(), entry.stamp());
    }

    @Test
    void aHostWithAnUnusualPortIsAHostOfItsOwn() {
        host(table, "http://h:8080/", false);
        assertEquals(Outdated.BY_HOST, of("http://h:8080/a", 0));
        assertNull(of("http://h/a", 0));
    }

    @ParameterizedTest(name = "{0} covers {1}: {2}")
    @CsvSource({
        "/blog/, http://h/blog/, true",
        "/blog/, http://h/blog/x?y, true",
        "/blog/, https://h/blog/x, true",
        "/blog/, http://h/blog, false",
        "/blog/, http://h/blogs/, false",
        "/blog/, http://h/a/blog/, false",
        "/blog/, http://other/blog/, false",
        "/blog, http://h/blogs/, true",
        "/blog, http://h/blog?p=1, true",
        "/b~, http://h/b%7Ex, true",
        "/a%2Fb, http://h/a%2fbc, true",
        "/a?x=, http://h/a?x=1, true",
        "/a?x=, http://h/a?y=1, false",
    })
    void aPrefixCoversWhatBeginsSoInTheNormalFormOfKeys(String prefix, String url, boolean covered) {
        prefix(table, "http://h/", prefix, false);
        assertEquals(covered ? Outdated.BY_PREFIX : null, of(url, 0));
        assertNull(of(url, table.stamp()));
    }

    @Test
    void aGroupOutdatesItsMembers() {
        table.invalidate(InvalidationKind.GROUP, false, 77, null, 0);
        assertEquals(Outdated.BY_GROUP, of("http://h/", 0, 5, 77));
        assertNull(of("http://h/", 0, 5, 78));
        assertNull(of("http://h/", 0));
        assertNull(of("http://h/", table.stamp(), 77));
    }

    @Test
    void everythingIsOutdatedByAllAndTheTableIsEmptyAgain() {
        host(table, "http://h/", false);
        prefix(table, "http://h/", "/a", true);
        long before = table.stamp();
        table.invalidate(InvalidationKind.ALL, false, 0, null, 0);
        assertEquals(Outdated.BY_ALL, of("http://any/", before));
        assertEquals(1, table.inForce().size());
        assertNull(of("http://any/", table.stamp()));
    }

    @Test
    void softOnesMakeStaleAndHardOnesGoBeforeThem() {
        long before = table.stamp();
        host(table, "http://h/", true);
        assertEquals(Outdated.STALE_BY_HOST, of("http://h/", before));
        assertTrue(of("http://h/", before).isSoft());
        long between = table.stamp();
        prefix(table, "http://h/", "/a", false);
        assertEquals(Outdated.BY_PREFIX, of("http://h/a", before));
        assertEquals(Outdated.STALE_BY_HOST, of("http://h/b", before));
        assertNull(of("http://h/b", between));
        table.invalidate(InvalidationKind.ALL, true, 0, null, 0);
        assertEquals(Outdated.STALE_BY_ALL, of("http://h/b", between));
        assertEquals(Outdated.BY_PREFIX, of("http://h/a", before));
    }

    @Test
    void aLostJournalOutdatesWhatHasAStampAndSparesWhatIsOlderThanStamps() {
        table.restore(InvalidationEntry.of(InvalidationKind.JOURNAL_LOST, false, 1000, 0));
        assertEquals(Outdated.BY_LOSS, of("http://h/", 999));
        assertNull(of("http://h/", 0));
        assertNull(of("http://h/", 1000));
        host(table, "http://h/", false);
        assertEquals(Outdated.BY_HOST, of("http://h/", 0));
    }

    @Test
    void morePrefixesOfAHostThanAreKeptAreTheWholeHost() {
        for (int i = 0; i < PrefixStamps.PREFIXES_MAX; i++) {
            assertEquals(
                    InvalidationKind.PREFIX,
                    prefix(table, "http://h/", "/" + i + "/", false).kind());
        }
        assertNull(of("http://h/x", 0));
        assertEquals(
                InvalidationKind.HOST,
                prefix(table, "http://h/", "/more/", false).kind());
        assertEquals(Outdated.BY_HOST, of("http://h/x", 0));
        assertEquals(0, table.entries(InvalidationKind.PREFIX));
    }

    @Test
    void theSamePrefixAgainTakesNoMoreRoomAndAShorterOneTakesThePlaceOfLonger() {
        for (int i = 0; i < 100; i++) {
            prefix(table, "http://h/", "/a/" + i % 10, false);
        }
        assertEquals(10, table.entries(InvalidationKind.PREFIX));
        prefix(table, "http://h/", "/a/", false);
        assertEquals(1, table.entries(InvalidationKind.PREFIX));
        prefix(table, "http://h/", "/a/", true);
        assertEquals(2, table.entries(InvalidationKind.PREFIX));
    }

    @Test
    void aResponseIsStaleSinceTheFirstSoftOneThatCoversIt() {
        StoredHead head = StoredHead.varyMarker(Variance.NONE, 1, 0).withStamp(100L << 20, url("http://h/a/b"), null);
        assertEquals(-1, table.staleSinceMillis(url("http://h/a/b"), head));
        softly(InvalidationKind.HOST, "http://h/", null, 50);
        softly(InvalidationKind.PREFIX, "http://h/", "/c", 150);
        softly(InvalidationKind.PREFIX, "http://h/", "/a/b", 200);
        softly(InvalidationKind.PREFIX, "http://h/", "/a", 300);
        softly(InvalidationKind.HOST, "http://other/", null, 350);
        table.invalidate(InvalidationKind.ALL, true, 0, null, 400L << 20);
        table.invalidate(InvalidationKind.HOST, false, ScopeHash.hostHash(url("http://h/")), null, 500L << 20);
        assertEquals(400, table.staleSinceMillis(url("http://h/a/b"), head), "the narrower ones are forgotten");
        softly(InvalidationKind.PREFIX, "http://h/", "/a/b", 600);
        softly(InvalidationKind.PREFIX, "http://h/", "/a/", 700);
        softly(InvalidationKind.HOST, "http://h2/", null, 800);
        StoredHead later = head.withStamp(550L << 20, url("http://h/a/b"), null);
        assertEquals(
                700, table.staleSinceMillis(url("http://h/a/b"), later), "a shorter prefix takes a longer one's place");
        softly(InvalidationKind.PREFIX, "http://h/", "/a/b", 900);
        assertEquals(700, table.staleSinceMillis(url("http://h/a/b"), later));
        assertEquals(-1, table.staleSinceMillis(url("http://h/c"), later));
    }

    private void softly(InvalidationKind kind, String url, String prefix, long millis) {
        byte[] bytes = prefix == null ? null : bytes(prefix);
        table.invalidate(kind, true, ScopeHash.hostHash(url(url)), bytes, millis << 20);
    }

    @Test
    void stampsRiseAndAreNeverBelowTheLeastThatIsAskedFor() {
        assertEquals(
                5000,
                table.invalidate(InvalidationKind.ALL, true, 0, null, 5000).stamp());
        assertEquals(
                5001,
                table.invalidate(InvalidationKind.ALL, true, 0, null, 4000).stamp());
        assertEquals(5001, table.stamp());
    }

    @Test
    void entriesAreReadAsTheyWereWritten() {
        host(table, "http://h/", true);
        prefix(table, "http://h/", "/\u00e9/", false);
        table.invalidate(InvalidationKind.GROUP, false, -5, null, 0);
        table.invalidate(InvalidationKind.ALL_GROUPS, true, 0, null, 0);
        for (InvalidationEntry entry : table.inForce()) {
            assertEquals(entry, InvalidationEntry.read(entry.stamp(), entry.bytes()));
        }
        assertEquals(4, table.inForce().size());
    }

    @Test
    void askingAllocatesNothing() {
        host(table, "http://other/", false);
        prefix(table, "http://h/", "/b", false);
        table.invalidate(InvalidationKind.GROUP, false, 77, null, 0);
        TargetUri url = url("http://h/a/b?c");
        Labels groups = Labels.of(new long[] {5, 6}, Tags.NONE);
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        int found = 0;
        long before = 0;
        for (int i = 0; i < 20_000; i++) {
            if (i == 10_000) {
                before = threads.getCurrentThreadAllocatedBytes();
            }
            found += table.of(url, 0, groups) == null ? 0 : 1;
        }
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertEquals(0, found);
        assertTrue(bytes < 10_000, () -> "bytes for 10,000 calls: " + bytes);
    }

    /** Against the simplest thing that can be right: a list of all that was ever invalidated. */
    @Test
    void aTableAndOneRestoredFromItSayWhatAListOfAllWouldSay() {
        Random random = new Random(SEED);
        for (int round = 0; round < 60; round++) {
            InvalidationTable tested = new InvalidationTable();
            List<InvalidationEntry> all = new ArrayList<>();
            for (int step = 0; step < 120; step++) {
                all.add(next(tested, random));
                InvalidationTable restored = new InvalidationTable();
                if (step % 10 == 0) {
                    List<InvalidationEntry> entries = new ArrayList<>(tested.inForce());
                    java.util.Collections.shuffle(entries, random);
                    restored.restore(entries);
                }
                for (int probe = 0; probe < 10; probe++) {
                    String text = "http://h" + random.nextInt(4) + "/" + (char) ('a' + random.nextInt(3)) + "/x";
                    long stamp = random.nextInt(step + 3);
                    long[] groups = random.nextBoolean() ? new long[] {1 + random.nextInt(5)} : Labels.NONE.groups();
                    String where = "seed " + SEED + " round " + round + " step " + step;
                    String expected = expected(all, url(text), stamp, groups);
                    assertEquals(expected, said(tested.of(url(text), stamp, Labels.of(groups, Tags.NONE))), where);
                    if (step % 10 == 0) {
                        assertEquals(
                                expected, said(restored.of(url(text), stamp, Labels.of(groups, Tags.NONE))), where);
                    }
                }
            }
        }
    }

    private static InvalidationEntry next(InvalidationTable tested, Random random) {
        boolean soft = random.nextInt(3) == 0;
        String url = "http://h" + random.nextInt(4) + "/";
        return switch (random.nextInt(20)) {
            case 0 -> tested.invalidate(InvalidationKind.ALL, soft, 0, null, 0);
            case 1 -> tested.invalidate(InvalidationKind.ALL_GROUPS, soft, 0, null, 0);
            case 2, 3, 4, 5 -> host(tested, url, soft);
            case 6, 7, 8, 9, 10, 11 -> tested.invalidate(InvalidationKind.GROUP, soft, 1 + random.nextInt(5), null, 0);
            default ->
                prefix(tested, url, random.nextInt(4) == 0 ? "/" : "/" + (char) ('a' + random.nextInt(3)) + "/", soft);
        };
    }

    private static String said(Outdated outdated) {
        return outdated == null ? "current" : outdated.isSoft() ? "stale" : "gone";
    }

    private static String expected(List<InvalidationEntry> all, TargetUri url, long stamp, long[] groups) {
        String said = "current";
        for (InvalidationEntry entry : all) {
            boolean covers =
                    switch (entry.kind()) {
                        case ALL -> true;
                        case ALL_GROUPS -> groups.length > 0;
                        case GROUP -> groups.length > 0 && groups[0] == entry.hash();
                        case HOST -> entry.hash() == ScopeHash.hostHash(url);
                        case PREFIX ->
                            entry.hash() == ScopeHash.hostHash(url)
                                    && url.pathAndQuery()
                                            .startsWith(new String(entry.prefix(), StandardCharsets.ISO_8859_1));
                        case JOURNAL_LOST,
                                TAG,
                                TAG_EVERYWHERE,
                                ALL_TAGS,
                                URL,
                                TAG_KEY,
                                TAGS,
                                UNDONE,
                                PATTERN,
                                PATTERN_RETIRED,
                                FLEET_POSITION,
                                FLEET_PURGE -> false;
                    };
            if (covers && stamp < entry.stamp()) {
                said = entry.isSoft() && !said.equals("gone") ? "stale" : "gone";
            }
        }
        return said;
    }
}
