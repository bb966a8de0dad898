package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.store.Journal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Patterns in the table and in the journal. */
class PatternInvalidationTest {
    private static final long NOW = 1_790_000_000_000L;
    private static final TargetUri URL = (TargetUri) TargetUri.parseAbsolute("http://a.example/b");

    /** A journal that keeps every entry until {@link #rewrite}. */
    private static final class KeptJournal implements Journal {
        private final List<Entry> entries = new ArrayList<>();
        private Owner owner;

        @Override
        public void attach(Owner newOwner) {
            owner = newOwner;
            newOwner.recovered(List.copyOf(entries), entries.isEmpty() ? Condition.NEW : Condition.COMPLETE);
        }

        @Override
        public void append(Entry entry, Executor replyOn, AppendCallback reply) {
            entries.add(entry);
            reply.onAppend(null);
        }

        void rewrite() {
            entries.clear();
            entries.addAll(owner.inForce());
        }
    }

    private static StoredHead head(long stamp) {
        ResponseHead response = ResponseHead.of(
                200,
                "OK",
                FieldSection.builder().add("Cache-Control", "max-age=60").build());
        RequestHead request = RequestHead.of("GET", URL, FieldSection.EMPTY);
        return StoredHead.of(request, response, NOW, NOW, CacheSettings.DEFAULTS)
                .withStamp(stamp, URL, null);
    }

    private final KeptJournal journal = new KeptJournal();
    private long now = NOW;
    private long window;

    private Invalidator open() {
        return Invalidator.over(journal, () -> now, () -> window);
    }

    private static void purge(Invalidator invalidator, String expression, boolean soft) throws ExpressionException {
        assertTrue(invalidator.invalidate(
                PurgedPattern.parse(expression, soft), false, Runnable::run, (entries, failure) -> {
                    assertNull(failure);
                    assertEquals(InvalidationKind.PATTERN, entries.get(0).kind());
                }));
    }

    @Test
    void livePatternsReturnAndRetiredOnesDoNot() throws ExpressionException {
        long seed = new Random().nextLong();
        Invalidator first = open();
        long before = first.stamp();
        purge(first, "path == '/b'", true);
        purge(first, "status == 200", false);
        first.retire(first.patterns().get(1));
        long stamp = first.stamp();
        for (boolean rewritten : new boolean[] {false, true}) {
            if (rewritten) {
                journal.rewrite();
            }
            Collections.shuffle(journal.entries, new Random(seed));
            Invalidator next = open();
            assertEquals(1, next.patterns().size(), () -> "seed=" + seed);
            assertEquals(1, next.entries(InvalidationKind.PATTERN));
            assertEquals(Outdated.STALE_BY_PATTERN, next.invalidations().of(URL, head(before), 0));
            assertEquals(NOW, next.invalidations().staleSinceMillis(URL, head(before)));
            assertNull(next.invalidations().of(URL, head(stamp), 0));
            assertEquals(stamp, next.stamp(), "stamps go on where they were");
        }
    }

    /** After the clock was set back, a purge after a restart still covers earlier responses. */
    @Test
    void stampsGoOnWhenAllIsRetiredAndTheClockIsSetBack() throws ExpressionException {
        Invalidator first = open();
        purge(first, "path == '/b'", false);
        StoredHead later = head(first.stamp());
        first.retire(first.patterns().get(0));
        journal.rewrite();
        now -= 3_600_000;
        Invalidator next = open();
        purge(next, "path == '/b'", false);
        assertEquals(Outdated.BY_PATTERN, next.invalidations().of(URL, later, 0));
    }

    @Test
    void anUnknownExpressionPurgesEverything() {
        byte[] content = new byte[16 + 7];
        content[0] = (byte) InvalidationKind.PATTERN.code();
        System.arraycopy("x ~~ 'y".getBytes(StandardCharsets.US_ASCII), 0, content, 16, 7);
        journal.entries.add(new Journal.Entry(5, content));
        Invalidator invalidator = open();
        assertEquals(Outdated.BY_ALL, invalidator.invalidations().of(URL, head(4), 0));
        assertNull(invalidator.invalidations().of(URL, head(5), 0));
    }

    @Test
    void anotherProcessRetiresForItself() throws ExpressionException {
        Invalidator here = open();
        purge(here, "path == '/b'", false);
        long stamp = here.stamp();
        Journal.Entry retired = new Journal.Entry(
                stamp,
                InvalidationEntry.of(InvalidationKind.PATTERN_RETIRED, false, stamp, stamp)
                        .bytes());
        here.recovered(List.of(retired), Journal.Condition.COMPLETE);
        assertEquals(1, here.patterns().size());
    }

    @Test
    void atMost64AndAWiderPurgeMakesRoom() throws ExpressionException {
        Invalidator invalidator = open();
        for (int i = 0; i < 64; i++) {
            purge(invalidator, "path == '/" + i + "'", false);
        }
        long stamp = invalidator.stamp();
        PurgedPattern more = PurgedPattern.parse("path == '/b'", false);
        assertFalse(invalidator.invalidate(more, false, Runnable::run, (entries, failure) -> {
            throw new AssertionError("a reply");
        }));
        assertEquals(stamp, invalidator.stamp());
        invalidator.invalidate(List.of(InvalidationScope.all()), false, Runnable::run, (entries, failure) -> {});
        assertEquals(0, invalidator.patterns().size());
        purge(invalidator, "path == '/b'", false);
    }

    /** A purge covers a fetch from before if the condition can hold for its URL. */
    @Test
    void inFlight() throws ExpressionException {
        Invalidator invalidator = open();
        long before = invalidator.stamp();
        purge(invalidator, "host == 'a.example' && type == 'text/css'", true);
        assertEquals(Outdated.STALE_BY_PATTERN, invalidator.invalidations().ofFetch(URL, before, Labels.NONE));
        assertNull(invalidator.invalidations().ofFetch(URL, invalidator.stamp(), Labels.NONE));
        assertNull(invalidator.invalidations().of(URL, head(before), 0), "its head has no type");
        TargetUri other = (TargetUri) TargetUri.parseAbsolute("http://b.example/b");
        assertNull(invalidator.invalidations().ofFetch(other, before, Labels.NONE));
        invalidator.retire(invalidator.patterns().get(0));
        assertEquals(Outdated.STALE_BY_PATTERN, invalidator.invalidations().ofFetch(URL, before, Labels.NONE));
    }

    private String state(Invalidator of, long before) {
        Outdated outdated = of.invalidations().of(URL, head(before), 0);
        Outdated fetch = of.invalidations().ofFetch(URL, before, Labels.NONE);
        assertEquals(outdated, fetch);
        return outdated == null ? "current" : outdated.isSoft() ? "stale" : "gone";
    }

    private static void durable(@Nullable IOException failure) {
        assertNull(failure);
    }

    @Test
    void aSoftPurgeIsUndoneWithinItsWindowAndSweptAfterwards() throws ExpressionException {
        window = 1000;
        Invalidator first = open();
        long before = first.stamp();
        purge(first, "path == '/b'", true);
        long undone = first.stamp();
        purge(first, "status == 200", true);
        long kept = first.stamp();
        assertEquals(List.of(), first.sweepable());
        assertEquals("stale", state(first, before));
        assertTrue(first.undo(undone, Runnable::run, PatternInvalidationTest::durable));
        assertFalse(first.isLive(undone));
        assertEquals("stale", state(first, before));
        for (boolean rewritten : new boolean[] {false, true}) {
            if (rewritten) {
                journal.rewrite();
            }
            Invalidator next = open();
            assertEquals("stale", state(next, before));
            assertEquals(1, next.patterns().size());
            assertTrue(next.isUndoable(kept));
        }
        now += 1000;
        Invalidator late = open();
        assertEquals(1, late.sweepable().size());
        assertFalse(late.undo(kept, Runnable::run, PatternInvalidationTest::durable));
        assertEquals(1, first.sweepable().size());
        window = 100_000;
        assertFalse(first.undo(kept, Runnable::run, PatternInvalidationTest::durable), "a sweep has begun");
    }

    @Test
    void aCancelledPurgeEndsForGood() throws ExpressionException {
        for (boolean soft : new boolean[] {false, true}) {
            window = soft ? 1000 : 0;
            Invalidator first = open();
            long before = first.stamp();
            purge(first, "path == '/b'", soft);
            long stamp = first.stamp();
            assertEquals(soft ? "stale" : "gone", state(first, before));
            assertTrue(first.cancel(stamp, Runnable::run, PatternInvalidationTest::durable));
            assertEquals("current", state(first, before));
            assertFalse(first.cancel(stamp, Runnable::run, PatternInvalidationTest::durable));
            assertFalse(first.undo(stamp, Runnable::run, PatternInvalidationTest::durable));
            assertEquals("current", state(open(), before));
            journal.rewrite();
            Invalidator next = open();
            assertEquals("current", state(next, before));
            assertEquals(stamp, next.stamp());
        }
    }

    @Test
    void aHeldPurgeIsSweptAfterItsRelease() throws ExpressionException {
        Invalidator invalidator = open();
        int[] told = {0};
        invalidator.onPattern(() -> told[0]++);
        PurgedPattern pattern = PurgedPattern.parse("path == '/b'", false);
        assertTrue(invalidator.invalidate(pattern, true, Runnable::run, (entries, failure) -> {}));
        assertEquals(1, told[0]);
        assertEquals(List.of(), invalidator.sweepable());
        invalidator.allowSweep(invalidator.stamp() + 1);
        assertEquals(1, told[0]);
        invalidator.allowSweep(invalidator.stamp());
        assertEquals(2, told[0]);
        assertEquals(1, invalidator.sweepable().size());
    }
}
