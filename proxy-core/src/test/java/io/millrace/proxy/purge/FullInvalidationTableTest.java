package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a table that more hosts or groups are entered into than it takes. */
final class FullInvalidationTableTest {
    private static final long SEED = 0x4655_4c4cL;
    private static final int MAX = 16;

    private final InvalidationTable table = new InvalidationTable(MAX, MAX);

    private static TargetUri url(int host) {
        return (TargetUri) TargetUri.parseAbsolute("http://h" + host + "/");
    }

    private static Labels labels(long... groups) {
        return Labels.of(groups, Tags.NONE);
    }

    private InvalidationEntry host(int host, boolean soft) {
        return table.invalidate(InvalidationKind.HOST, soft, ScopeHash.hostHash(url(host)), null, 0);
    }

    private InvalidationEntry group(int group, boolean soft) {
        return table.invalidate(InvalidationKind.GROUP, soft, group, null, 0);
    }

    private Outdated ofHost(int host, long stamp) {
        return table.of(url(host), stamp, Labels.NONE);
    }

    private Outdated ofGroup(int group, long stamp) {
        return table.of(url(0), stamp, labels(group));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneMoreHostOutdatesNothingThatWasAskedForOfLate(boolean soft) {
        for (int i = 0; i < 50 * MAX; i++) {
            long before = table.stamp();
            assertEquals(InvalidationKind.HOST, host(i, soft).kind());
            assertNull(ofHost(-1, before), "another host, after " + i);
            assertEquals(soft ? Outdated.STALE_BY_HOST : Outdated.BY_HOST, ofHost(i, before));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneMoreGroupOutdatesNothingThatWasAskedForOfLate(boolean soft) {
        for (int i = 1; i < 50 * MAX; i++) {
            long before = table.stamp();
            assertEquals(InvalidationKind.GROUP, group(i, soft).kind());
            assertNull(ofGroup(-1, before), "another group, after " + i);
            assertEquals(soft ? Outdated.STALE_BY_GROUP : Outdated.BY_GROUP, ofGroup(i, before));
        }
    }

    @Test
    void softOnesMakeNothingGoneHoweverManyThereAre() {
        host(1000, false);
        long after = table.stamp();
        for (int i = 0; i < 50 * MAX; i++) {
            host(i, true);
            group(i + 1, true);
        }
        Outdated old = ofHost(-1, after);
        assertNotNull(old);
        assertTrue(old.isSoft(), old::detail);
        assertEquals(Outdated.BY_HOST, ofHost(1000, 0));
        assertTrue(ofGroup(5000, after).isSoft());
    }

    @Test
    void hardOnesThatFillItLeaveRoomForSoftOnes() {
        for (int i = 0; i < MAX - 1; i++) {
            host(i, false);
        }
        long last = table.stamp();
        host(MAX - 1, false);
        long before = table.stamp();
        for (int i = 0; i < 10 * MAX; i++) {
            host(100 + i, true);
        }
        assertEquals(Outdated.BY_ALL, ofHost(0, 0));
        assertNull(ofHost(MAX - 1, table.stamp()));
        assertEquals(Outdated.BY_HOST, ofHost(MAX - 1, last), "the newer half is known one by one");
        assertTrue(ofHost(-1, before).isSoft());
    }

    @Test
    void everythingSoftlyTakesOutTheSoftOnesAndLeavesTheHardOnes() {
        host(1, false);
        host(1, true);
        host(2, true);
        group(3, true);
        group(4, false);
        table.invalidate(InvalidationKind.PREFIX, true, 7, new byte[] {'/'}, 0);
        table.invalidate(InvalidationKind.PREFIX, false, 8, new byte[] {'/'}, 0);
        table.invalidate(InvalidationKind.ALL, true, 0, null, 0);
        assertEquals(1, table.entries(InvalidationKind.HOST));
        assertEquals(1, table.entries(InvalidationKind.GROUP));
        assertEquals(1, table.entries(InvalidationKind.PREFIX));
        assertEquals(4, table.inForce().size());
        assertEquals(Outdated.BY_HOST, ofHost(1, 0));
        assertEquals(Outdated.STALE_BY_ALL, ofHost(2, 0));
    }

    /** Against a list of all that was ever invalidated: never less than it says, and of what came last exactly that. */
    @Test
    void aFullTableAndOneRestoredFromItForgetNothingThatMatters() {
        Random random = new Random(SEED);
        List<InvalidationEntry> all = new ArrayList<>();
        for (int step = 0; step < 2000; step++) {
            boolean soft = random.nextInt(3) > 0;
            all.add(random.nextBoolean() ? host(random.nextInt(60), soft) : group(1 + random.nextInt(60), soft));
            InvalidationTable restored = new InvalidationTable(MAX, MAX);
            List<InvalidationEntry> entries = new ArrayList<>(step % 2 == 0 ? table.inForce() : all);
            Collections.shuffle(entries, random);
            restored.restore(entries);
            for (int probe = 0; probe < 20; probe++) {
                TargetUri url = url(random.nextInt(60));
                long stamp = Math.max(0, table.stamp() - random.nextInt(step / 2 + 2));
                long[] groups = {1 + random.nextInt(60)};
                String where = "seed " + SEED + " step " + step;
                int least = severity(all, url, stamp, groups[0]);
                assertTrue(severity(table.of(url, stamp, labels(groups))) >= least, where);
                assertTrue(severity(restored.of(url, stamp, labels(groups))) >= least, where + ", restored");
                if (table.stamp() - stamp < 2) {
                    assertEquals(least, severity(table.of(url, stamp, labels(groups))), where);
                }
            }
        }
    }

    private static int severity(Outdated outdated) {
        return outdated == null ? 0 : outdated.isSoft() ? 1 : 2;
    }

    private static int severity(List<InvalidationEntry> all, TargetUri url, long stamp, long group) {
        int worst = 0;
        for (InvalidationEntry entry : all) {
            boolean covers = entry.hash() == (entry.kind() == InvalidationKind.HOST ? ScopeHash.hostHash(url) : group);
            if (covers && stamp < entry.stamp()) {
                worst = Math.max(worst, entry.isSoft() ? 1 : 2);
            }
        }
        return worst;
    }
}
