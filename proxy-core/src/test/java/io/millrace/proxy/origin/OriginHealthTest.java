package io.millrace.proxy.origin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the states of a host, step by step. */
class OriginHealthTest {
    private static final Markdown RULES = new Markdown(3, 1000, 60_000, List.of(503));
    private static final long T = 1_000_000;

    private static OriginHealth failing(OriginHealth health, int times, long nowMillis) {
        OriginHealth now = health;
        for (int i = 0; i < times; i++) {
            now = now.failed("reset", now.term(), nowMillis, RULES, 0);
        }
        return now;
    }

    private static OriginHealth answered(OriginHealth health, long nowMillis) {
        return health.answered(health.term(), nowMillis);
    }

    @Test
    void itIsUpUntilSoManyFailuresInARow() {
        OriginHealth health = failing(OriginHealth.unknown(), 2, T);
        assertTrue(health.isUp(T));
        assertEquals(2, health.failures());
        health = failing(health, 1, T);
        assertFalse(health.isUp(T));
        assertEquals(OriginHealth.State.DOWN, health.state());
        assertEquals("reset", health.reason());
        assertEquals(T, health.since());
    }

    @Test
    void anAnswerBetweenThemBreaksTheRow() {
        OriginHealth health = failing(answered(failing(OriginHealth.unknown(), 2, T), T), 2, T);
        assertTrue(health.isUp(T));
    }

    @Test
    void withoutAThresholdNothingMarksItDown() {
        Markdown never = new Markdown(0, 1000, 60_000, List.of());
        OriginHealth health = OriginHealth.unknown();
        for (int i = 0; i < 100; i++) {
            health = health.failed("reset", health.term(), T, never, 0);
        }
        assertTrue(health.isUp(T));
    }

    @Test
    void itsTrialIsDueWhenTheTimeIsOver() {
        OriginHealth down = failing(OriginHealth.unknown(), 3, T);
        assertFalse(down.isTrialDue(T + 999, 0));
        assertTrue(down.isTrialDue(T + 1000, 0));
        assertFalse(down.isTrialDue(T + 1999, 1000));
        assertTrue(down.isTrialDue(T + 2000, 1000));
    }

    @Test
    void otherRulesHoldForAHostThatIsDownAlready() {
        OriginHealth down = failing(OriginHealth.unknown(), 3, T);
        OriginHealth sooner = down.underRules(new Markdown(3, 100, 60_000, List.of()), false, T);
        assertFalse(sooner.isTrialDue(T + 99, 0));
        assertTrue(sooner.isTrialDue(T + 100, 0));
        OriginHealth later = down.underRules(new Markdown(3, 5000, 60_000, List.of()), false, T);
        assertFalse(later.isTrialDue(T + 4999, 0));
        assertTrue(later.isTrialDue(T + 5000, 0));
        OriginHealth up = OriginHealth.unknown();
        assertSame(up, up.underRules(new Markdown(1, 1, 1, List.of()), false, T));
        assertSame(down, down.underRules(RULES, false, T));
    }

    @Test
    void hostsAreUpAfterRequestsNoLongerMarkHostsDown() {
        Markdown never = new Markdown(0, 1000, 60_000, List.of());
        OriginHealth down = failing(OriginHealth.unknown(), 3, T);
        assertTrue(down.underRules(never, false, T + 1).isUp(T + 1));
        OriginHealth suspect = down.withTrialBegun();
        OriginHealth up = suspect.underRules(never, true, T + 1);
        assertTrue(up.isUp(T + 1));
        assertSame(up, up.failed("reset", suspect.term(), T + 2, never, 0), "of the trial");
    }

    @Test
    void onlyChecksEndAMarkDownByChecks() {
        Markdown never = new Markdown(0, 1000, 60_000, List.of());
        OriginHealth down = OriginHealth.unknown().checkedDown("health-check 500", T, RULES);
        assertSame(down, down.underRules(never, true, T + 1));
        assertTrue(down.underRules(never, false, T + 1).isUp(T + 1));
        OriginHealth left = down.underRules(RULES, false, T + 1);
        assertFalse(left.isUp(T + 1));
        assertTrue(answered(left.withTrialBegun(), T + 1000).isUp(T + 1000));
    }

    @Test
    void aClockThatIsSetBackDoesNotPutTheTrialOff() {
        assertTrue(failing(OriginHealth.unknown(), 3, T).isTrialDue(T - 1, 0));
    }

    @ParameterizedTest
    @CsvSource({"0,1000", "1,2000", "2,4000", "5,32000", "6,60000", "40,60000"})
    void eachTrialThatFailsDoublesTheTimeUpToTheLongest(int failedTrials, long wait) {
        OriginHealth health = failing(OriginHealth.unknown(), 3, T);
        for (int i = 0; i < failedTrials; i++) {
            health = failing(health.withTrialBegun(), 1, T);
        }
        assertEquals(T + wait, health.retryAt());
        assertEquals(T, health.since());
    }

    @Test
    void jitterAddsATenthAtMost() {
        OriginHealth health = failing(OriginHealth.unknown(), 2, T).failed("reset", 0, T, RULES, 1);
        assertEquals(T + 1100, health.retryAt());
    }

    @Test
    void aTrialThatIsAnsweredBringsItUpAndTheNextTimeIsShortAgain() {
        OriginHealth health = answered(
                failing(failing(OriginHealth.unknown(), 3, T).withTrialBegun(), 1, T)
                        .withTrialBegun(),
                T + 5);
        assertTrue(health.isUp(T + 5));
        assertEquals(T + 5, health.since());
        assertEquals(T + 1000, failing(health, 3, T).retryAt());
    }

    @Test
    void aTrialWithoutAResultIsFollowedByAnother() {
        OriginHealth down = failing(OriginHealth.unknown(), 3, T);
        assertEquals(down, down.withTrialBegun().withTrialAbandoned(down.term()));
        assertSame(
                OriginHealth.unknown().state(),
                OriginHealth.unknown().withTrialAbandoned(0).state());
    }

    @Test
    void failuresOfEarlierRequestsDoNotPutTheTrialOff() {
        OriginHealth down = failing(OriginHealth.unknown(), 3, T);
        assertEquals(down.retryAt(), failing(down, 5, T + 900).retryAt());
    }

    @Test
    void failuresOfEarlierRequestsDoNotMarkARecoveredHostDown() {
        OriginHealth down = failing(OriginHealth.unknown(), 3, T);
        OriginHealth back = answered(down.withTrialBegun(), T + 100);
        OriginHealth health = back;
        for (int i = 0; i < 10; i++) {
            health = health.failed("first-byte-timeout", down.term(), T + 200, RULES, 0);
        }
        assertSame(back, health);
        assertFalse(failing(back, 3, T + 200).isUp(T + 200));
    }

    @Test
    void answersToRequestsFromBeforeItWentDownDoNotBringItBack() {
        OriginHealth up = OriginHealth.unknown();
        OriginHealth down = failing(up, 3, T);
        assertSame(down, down.answered(up.term(), T + 1));
        OriginHealth suspect = down.withTrialBegun();
        assertSame(suspect, suspect.answered(up.term(), T + 1));
        assertTrue(suspect.answered(down.term(), T + 1).isUp(T + 1));
    }

    @Test
    void answersToRequestsFromBeforeTheLastTrialFailedDoNotBringItBack() {
        OriginHealth first = failing(OriginHealth.unknown(), 3, T);
        OriginHealth second = failing(first.withTrialBegun(), 1, T + 1000);
        assertSame(second, second.answered(first.term(), T + 1001));
    }

    @Test
    void aCheckFromBeforeItWentDownDoesNotBringItBack() {
        OriginHealth up = OriginHealth.unknown();
        OriginHealth down = failing(up, 3, T);
        assertSame(down, down.checkedUp(up.term(), T + 1));
        assertTrue(down.checkedUp(down.term(), T + 1).isUp(T + 1));
    }

    @Test
    void anOperatorsWordGoesFirstAndEndsWithItsTime() {
        OriginHealth put = OriginHealth.unknown().markDown(new OriginHealth.ManualDown("deploy", T, T + 10));
        assertFalse(put.isUp(T + 9));
        assertTrue(put.isUp(T + 10));
        assertFalse(put.markDown(new OriginHealth.ManualDown("for good", T, Long.MAX_VALUE))
                .isUp(Long.MAX_VALUE - 1));
        assertFalse(failing(put, 3, T).isTrialDue(T + 5, 0));
        assertTrue(failing(put, 3, T).markUp(T + 1).isUp(T + 1));
    }

    @Test
    void ofManyThreadsOneGetsTheTrial() throws Exception {
        ProxyConfig config = ProxyConfig.builder()
                .origins("g", ConfigValues.empty(), List.of("http://10.0.0.1:80"))
                .build();
        OriginGroups groups = new OriginGroups();
        groups.apply(config.originGroups());
        OriginHost host = groups.find("g").hosts().get(0);
        int threads = 4;
        for (int round = 0; round < 300; round++) {
            for (int i = 0; i < 3; i++) {
                host.failed("reset", host.health().term(), T, RULES, 0);
            }
            AtomicInteger won = new AtomicInteger();
            CyclicBarrier together = new CyclicBarrier(threads);
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread thread = new Thread(() -> {
                    try {
                        together.await();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    if (host.beginTrial(T + 5000)) {
                        won.incrementAndGet();
                    }
                });
                thread.start();
                all.add(thread);
            }
            for (Thread thread : all) {
                thread.join();
            }
            assertEquals(1, won.get(), "round " + round);
            host.answered(host.health().term(), T + 5000);
        }
    }
}
