package io.millrace.proxy.purge.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.purge.fleet.GapCheck.Gap;
import io.millrace.proxy.purge.fleet.GapCheck.StreamState;
import org.junit.jupiter.api.Test;

/** Tests the detection of missed messages for each state of a stream. */
class GapCheckTest {
    private static final String CREATED = "2026-11-28T10:00:00Z";

    private static FleetPosition at(long sequence) {
        return new FleetPosition(CREATED, sequence, sequence == 0 ? "" : "a:" + sequence);
    }

    private static Gap gap(FleetPosition applied, long first, long last) {
        return GapCheck.find(applied, new StreamState(CREATED, first, last, "", 0));
    }

    @Test
    void nothingIsMissing() {
        assertNull(gap(at(0), 1, 0));
        assertNull(gap(at(0), 1, 7));
        assertNull(gap(at(5), 1, 5));
        assertNull(gap(at(5), 3, 9));
        // The message at the position has expired, and the next one is there.
        assertNull(gap(at(5), 6, 9));
        assertNull(gap(at(5), 6, 5));
    }

    @Test
    void aNodeWithoutAPositionIsNew() {
        assertEquals(Gap.JOINED, gap(null, 1, 0));
    }

    @Test
    void onlyTheTimeOfCreationTellsARecreatedStream() {
        StreamState recreated = new StreamState("2026-11-28T11:00:00Z", 1, 5, "", 0);
        assertEquals(Gap.RECREATED, GapCheck.find(at(5), recreated));
    }

    @Test
    void aStreamMayHaveLostTheBeginningOrTheEnd() {
        assertEquals(Gap.TRUNCATED, gap(at(5), 7, 9));
        assertEquals(Gap.TRUNCATED, gap(at(0), 2, 9));
        assertEquals(Gap.ROLLED_BACK, gap(at(5), 1, 4));
    }

    @Test
    void theMessageAtThePositionIsCompared() {
        assertNull(GapCheck.verify(at(0), null));
        assertNull(GapCheck.verify(at(5), "a:5"));
        assertEquals(Gap.REWRITTEN, GapCheck.verify(at(5), "b:1"));
        assertEquals(Gap.UNVERIFIED, GapCheck.verify(at(5), null));
        assertEquals(Gap.UNVERIFIED, GapCheck.verify(new FleetPosition(CREATED, 5, ""), "b:1"));
    }

    @Test
    void otherNodesAreToldOfLossesThatTheyCannotDetect() {
        // A truncation can hide that the servers had lost the messages before it.
        for (Gap gap : new Gap[] {Gap.ROLLED_BACK, Gap.REWRITTEN, Gap.TRUNCATED, Gap.UNVERIFIED}) {
            assertTrue(gap.mayHideLosses(), gap::word);
        }
        assertFalse(Gap.JOINED.mayHideLosses());
        assertFalse(Gap.RECREATED.mayHideLosses());
    }
}
