package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which tags outdate what, what the journal keeps of them, and how much they take. */
final class TagStampsTest {
    private static final TargetUri URL = (TargetUri) TargetUri.parseAbsolute("http://a.example/x");
    private static final TargetUri OTHER = (TargetUri) TargetUri.parseAbsolute("http://b.example/x");

    private final InvalidationTable table = new InvalidationTable();

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static Labels tags(String... names) {
        TagList list = new TagList();
        for (String name : names) {
            list.addOne(bytes(name), 0, bytes(name).length);
        }
        return Labels.of(new long[0], list.tags());
    }

    private InvalidationEntry purge(InvalidationTable on, String tag, String site, boolean soft) {
        return on.invalidate(List.of(InvalidationScope.tag(bytes(tag), site)), soft, 0, Long.MAX_VALUE)
                .get(0);
    }

    /** As the journal has them, in any order. */
    private static InvalidationTable restored(List<InvalidationEntry> entries, Random random) {
        List<InvalidationEntry> read = new ArrayList<>();
        entries.forEach(entry -> read.add(InvalidationEntry.read(entry.stamp(), entry.bytes())));
        Collections.shuffle(read, random);
        InvalidationTable restored = new InvalidationTable();
        restored.restore(read);
        return restored;
    }

    @Test
    void aTagIsOfItsSite() {
        purge(table, "t", "a.example", false);
        assertEquals(Outdated.BY_TAG, table.of(URL, 0, tags("s", "t")));
        assertNull(table.of(OTHER, 0, tags("t")));
        assertNull(table.of(URL, 0, tags("s")));
        assertNull(table.of(URL, 0, Labels.NONE));
        assertNull(table.of(URL, table.stamp(), tags("t")));
        Labels onShop = Labels.of(new long[0], tags("t").tags().onSite("shop"));
        assertNull(table.of(URL, 0, onShop));
        purge(table, "t", "shop", true);
        assertEquals(Outdated.STALE_BY_TAG, table.of(OTHER, 0, onShop));
    }

    @Test
    void withoutASiteItIsOfEverySite() {
        purge(table, "t", null, true);
        assertEquals(Outdated.STALE_BY_TAG, table.of(URL, 0, tags("t")));
        assertEquals(Outdated.STALE_BY_TAG, table.of(OTHER, 0, tags("t")));
        assertNull(table.of(OTHER, 0, tags("u")));
    }

    @Test
    void theKeyIsAnnouncedOnceAndKept() {
        assertTrue(table.inForce().isEmpty());
        InvalidationEntry key = table.announceKey(5);
        assertNotNull(key);
        assertNull(table.announceKey(6));
        purge(table, "t", "a.example", false);
        InvalidationTable again = restored(table.inForce(), new Random(1));
        assertNull(again.announceKey(7));
        assertEquals(Outdated.BY_TAG, again.of(URL, 0, tags("t")));
        assertNull(again.of(URL, 0, tags("u")));
        purge(again, "u", "a.example", false);
        assertEquals(Outdated.BY_TAG, again.of(URL, 0, tags("u")));
    }

    @Test
    void whatIsUnderAnotherKeyCountsForEveryTag() {
        InvalidationEntry entry = purge(table, "t", "a.example", true);
        InvalidationTable other = restored(List.of(entry), new Random(1));
        assertEquals(Outdated.STALE_BY_TAG, other.of(URL, 0, tags("u")));
        assertNull(other.of(URL, 0, Labels.NONE));
        assertNull(other.of(URL, other.stamp(), tags("u")));
    }

    @Test
    void ofTwoKeysTheFirstStaysAndNothingPurgedUnderTheOtherIsForgotten() {
        InvalidationTable one = new InvalidationTable();
        InvalidationTable two = new InvalidationTable();
        List<InvalidationEntry> all = new ArrayList<>();
        for (InvalidationTable each : List.of(one, two)) {
            all.add(each.announceKey(each == one ? 10 : 20));
            all.add(purge(each, "t", "a.example", false));
        }
        for (int seed = 0; seed < 20; seed++) {
            InvalidationTable both = restored(all, new Random(seed));
            assertEquals(Outdated.BY_TAG, both.of(URL, 0, tags("t")), "seed " + seed);
            assertEquals(
                    Outdated.BY_TAG, restored(both.inForce(), new Random(seed)).of(URL, 0, tags("t")));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 1000, 12_345, 100_000})
    void aStampTakesAtMostFortyBytes(int count) {
        LabelStamps stamps = new LabelStamps(1 << 20);
        Random random = new Random(count);
        for (int i = 0; i < count; i++) {
            assertTrue(stamps.raise(random.nextLong(), i + 1, false));
            long perStamp = stamps.bytes() / stamps.size();
            assertTrue(i < 100 || perStamp <= 40, () -> "bytes a stamp: " + perStamp);
        }
        assertEquals(count, stamps.size());
    }

    @Test
    void oldStampsAreFoldedWhereTheTableIsFull() {
        InvalidationTable small = new InvalidationTable(16, 16);
        for (int i = 0; i < 200; i++) {
            long before = small.stamp();
            assertEquals(
                    InvalidationKind.TAG,
                    purge(small, "t" + i, "a.example", i % 2 == 0).kind());
            assertNotNull(small.of(URL, before, tags("t" + i)));
            assertNull(small.of(URL, before, tags("none")), "a tag that was never purged, after " + i);
            assertTrue(small.entries(InvalidationKind.TAG) <= 16);
        }
        assertNotNull(small.of(URL, 0, tags("t0")));
        assertNull(small.of(URL, 0, Labels.NONE));
    }

    @Test
    void aThousandPurgesArePackedInTheJournalAndReadAgain() {
        table.announceKey(1);
        for (int i = 0; i < 1000; i++) {
            purge(table, "t" + i, i % 3 == 0 ? null : "a.example", i % 2 == 0);
        }
        List<InvalidationEntry> entries = table.inForce();
        assertTrue(entries.size() < 10, () -> "entries: " + entries.size());
        InvalidationTable again = restored(entries, new Random(3));
        for (int i = 0; i < 1000; i++) {
            Labels labels = tags("t" + i);
            for (long stamp = Math.max(0, i - 2); stamp < i + 3; stamp++) {
                assertEquals(table.of(URL, stamp, labels), again.of(URL, stamp, labels));
                assertEquals(table.of(OTHER, stamp, labels), again.of(OTHER, stamp, labels));
            }
        }
    }

    /** A hit with tags and purges of other tags allocates nothing, and hashes its tags once. */
    @Test
    void askingAllocatesNothing() {
        purge(table, "other", "a.example", false);
        purge(table, "other", null, true);
        table.invalidate(List.of(InvalidationScope.url(OTHER)), true, 0, Long.MAX_VALUE);
        Labels labels = tags("a", "b", "c");
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        int found = 0;
        long before = 0;
        for (int i = 0; i < 20_000; i++) {
            if (i == 10_000) {
                before = threads.getCurrentThreadAllocatedBytes();
            }
            found += table.of(URL, 0, labels) == null ? 0 : 1;
        }
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertEquals(0, found);
        assertTrue(bytes < 10_000, () -> "bytes for 10,000 calls: " + bytes);
    }

    @Test
    void aUrlIsStaleInBothSchemesAndNoOther() {
        table.invalidate(
                List.of(InvalidationScope.url((TargetUri) TargetUri.parseAbsolute("http://a.example/%7ex?q"))),
                true,
                0,
                Long.MAX_VALUE);
        for (String url : List.of("http://a.example/~x?q", "https://a.example/~x?q")) {
            assertEquals(
                    Outdated.STALE_BY_URL, table.of((TargetUri) TargetUri.parseAbsolute(url), 0, Labels.NONE), url);
        }
        for (String url : List.of("http://a.example/~x", "http://a.example:81/~x?q", "http://b.example/~x?q")) {
            assertNull(table.of((TargetUri) TargetUri.parseAbsolute(url), 0, Labels.NONE), url);
        }
        assertEquals(
                Outdated.STALE_BY_URL,
                restored(table.inForce(), new Random(1))
                        .of((TargetUri) TargetUri.parseAbsolute("http://a.example/~x?q"), 0, Labels.NONE));
    }

    private record Purge(String tag, String site, boolean soft, long stamp) {}

    /** Against the simplest thing that can be right: a list of all purges. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void aTableAndOneRestoredFromItSayWhatAListOfAllWouldSay(long seed) {
        Random random = new Random(seed);
        List<Purge> all = new ArrayList<>();
        String[] sites = {"a.example", "b.example", null};
        InvalidationTable tested = new InvalidationTable();
        for (int step = 0; step < 400; step++) {
            tested.announceKey(0);
            String tag = "t" + random.nextInt(12);
            String site = sites[random.nextInt(3)];
            boolean soft = random.nextBoolean();
            all.add(new Purge(tag, site, soft, purge(tested, tag, site, soft).stamp()));
            if (random.nextInt(40) == 0) {
                tested = restored(tested.inForce(), random);
            }
            for (int probe = 0; probe < 10; probe++) {
                Labels labels = tags("t" + random.nextInt(12), "t" + random.nextInt(12));
                TargetUri url = random.nextBoolean() ? URL : OTHER;
                long stamp = random.nextInt(step + 3);
                assertEquals(
                        expected(all, labels.tags(), url.host(), stamp),
                        said(tested.of(url, stamp, labels)),
                        "seed " + seed + " step " + step);
            }
        }
    }

    private static String said(Outdated outdated) {
        return outdated == null ? "current" : outdated.isSoft() ? "stale" : "gone";
    }

    private static String expected(List<Purge> all, Tags tags, String host, long stamp) {
        String said = "current";
        for (Purge purge : all) {
            boolean covers = tags.texts().contains(purge.tag)
                    && (purge.site == null || purge.site.equals(host))
                    && stamp < purge.stamp;
            if (covers) {
                said = purge.soft && !said.equals("gone") ? "stale" : "gone";
            }
        }
        return said;
    }
}
