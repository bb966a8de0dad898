package io.millrace.store.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SpacePolicyTest {
    private static final int SEGMENTS = 8;
    /**
     * An object in blocks has several records in a segment, and the policy rates each of them. The next request for the
     * object confirms all ratings.
     */
    @Test
    void theRecordsOfAnObjectAreOneDecision() {
        ReuseHistory history = new ReuseHistory(1, SEGMENTS, 1024);
        for (long object = 1; object <= 100; object++) {
            for (int block = 0; block < 6; block++) {
                history.decided(object, 0);
            }
            history.recordRequest(object);
        }
        history.addRecentResults(100);
        assertTrue(history.reuseRate(0, 1, 0) > 0.9, "chance=" + history.reuseRate(0, 1, 0));
    }

    @Test
    void aRingThatWasNeverFullTakesAll() {
        for (AdmissionRule rule : AdmissionRule.values()) {
            SpacePolicy policy = new SpacePolicy(rule, 1 << 20, SEGMENTS);
            policy.recordRequest(1);
            assertTrue(policy.admits(1));
            assertEquals(0, policy.refusals());
        }
    }

    @Test
    void secondHitAdmitsAnObjectRequestedBefore() {
        SpacePolicy policy = new SpacePolicy(AdmissionRule.SECOND_HIT, 1 << 20, SEGMENTS);
        policy.segmentBegun(100);
        policy.recordRequest(1);
        assertFalse(policy.admits(1));
        policy.recordRequest(1);
        assertTrue(policy.admits(1));
        assertEquals(1, policy.refusals());
    }

    /** The trace has keys that are requested once, and some that are requested repeatedly. */
    @Test
    void doesNotAdmitObjectsRequestedOnce() {
        SpacePolicy policy = new SpacePolicy(AdmissionRule.FREQUENCY, 1 << 25, SEGMENTS);
        long fresh = 1000;
        for (int segment = 0; segment < 20 * SEGMENTS; segment++) {
            policy.segmentBegun(400);
            for (long key = 0; key < 50; key++) {
                policy.recordRequest(key);
                policy.recordRequest(key);
                assertTrue(policy.rating(key, 2) > 0, "kept: " + key);
            }
            for (int i = 0; i < 50; i++) {
                policy.recordRequest(++fresh);
                policy.admits(fresh);
                assertEquals(0, policy.rating(fresh, 0), "asked for once");
            }
        }
        long before = policy.refusals();
        for (int i = 0; i < 100; i++) {
            policy.recordRequest(++fresh);
            policy.admits(fresh);
        }
        assertTrue(policy.refusals() - before > 90, "refused=" + (policy.refusals() - before));
        // Keys requested once are admitted as soon as they are requested again, although nothing was written in the
        // meantime.
        boolean taken = false;
        for (int i = 0; i < 3000 && !taken; i++) {
            policy.recordRequest(++fresh);
            taken = policy.admits(fresh);
            policy.recordRequest(fresh);
        }
        assertTrue(taken);
    }

    /** Keys that were requested often are dropped when they are not requested any more. */
    @Test
    void dropsFormerlyFrequentObjects() {
        SpacePolicy policy = new SpacePolicy(AdmissionRule.FREQUENCY, 1 << 20, SEGMENTS);
        long key = 0;
        int kept = 0;
        for (int segment = 0; segment < 40 * SEGMENTS; segment++) {
            policy.segmentBegun(400);
            for (int i = 0; i < 20; i++) {
                key++;
                for (int n = 0; n < 4; n++) {
                    policy.recordRequest(key);
                    policy.admits(key);
                }
                boolean late = segment > 20 * SEGMENTS;
                kept += policy.rating(key - 20 * SEGMENTS, 0) > 0 && late ? 1 : 0;
            }
        }
        assertEquals(0, kept);
    }
}
