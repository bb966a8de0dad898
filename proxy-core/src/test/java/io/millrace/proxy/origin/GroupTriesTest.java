package io.millrace.proxy.origin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.fetch.OriginFailure.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests which hosts successive requests try, while their health changes. */
class GroupTriesTest {
    private static final long T = 1_000_000;

    private final OriginGroups groups = new OriginGroups();
    private final LoopOrigins loop = groups.newLoop();

    /** Three hosts 1, 2, 3, of which the last is a backup. The first available host receives all requests. */
    private void apply(UnaryOperator<ConfigValues.Builder> more) {
        ConfigValues.Builder settings =
                ConfigValues.builder().set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.FIRST_LIVE);
        groups.apply(ProxyConfig.builder()
                .originGroup("g", more.apply(settings).build(), List.of(host(1, false), host(2, false), host(3, true)))
                .build()
                .originGroups());
    }

    private static ConfigValues host(int number, boolean backup) {
        return ConfigValues.builder()
                .set(OriginGroupKeys.HOST_URL, new RuleUrl("http", "10.0.0." + number, -1, "/"))
                .set(OriginGroupKeys.HOST_BACKUP, backup)
                .build();
    }

    private GroupTries request(long nowMillis) {
        return loop.begin("g", config -> 0, nowMillis);
    }

    private static int number(GroupTries.Try of) {
        assertNotNull(of);
        return Integer.parseInt(of.host().toString().substring("http://10.0.0.".length()));
    }

    private void markDown(int number, long nowMillis) {
        for (int i = 0; i < 3; i++) {
            OriginHost host = groups.find("g").hosts().get(number - 1);
            host.failed(
                    "reset",
                    host.health().term(),
                    nowMillis,
                    groups.find("g").config().markdown(),
                    0);
        }
    }

    private List<Integer> order(boolean mayMove, long nowMillis) {
        GroupTries tries = request(nowMillis);
        List<Integer> order = new ArrayList<>();
        GroupTries.Try next;
        while ((next = tries.next(mayMove, nowMillis)) != null) {
            order.add(number(next));
            next.responded(502, 1, nowMillis, 1);
            next.refused(502);
        }
        return order;
    }

    @Test
    void eachHostIsTriedOnceAndBackupsLast() {
        apply(settings -> settings.set(OriginGroupKeys.RETRY_TRIES, 16));
        assertEquals(List.of(1, 2, 3), order(true, T));
    }

    @Test
    void noMoreThanTheTriesThatAreAllowed() {
        apply(settings -> settings.set(OriginGroupKeys.RETRY_TRIES, 2));
        assertEquals(List.of(1, 2), order(true, T));
    }

    @Test
    void noOtherIsBegunWhenTheTimeIsOver() {
        apply(settings -> settings.set(OriginGroupKeys.RETRY_WITHIN, Duration.ofSeconds(2)));
        GroupTries tries = request(T);
        assertNotNull(tries.next(true, T));
        assertNotNull(tries.next(true, T + 1999));
        assertNull(tries.next(true, T + 2000));
    }

    @Test
    void whatIsDownIsPassedOver() {
        apply(settings -> settings);
        markDown(1, T);
        assertEquals(2, order(true, T).get(0));
        markDown(2, T);
        assertEquals(3, order(true, T).get(0));
    }

    @Test
    void whenAllAreDownTheyAreTriedAllTheSame() {
        apply(settings -> settings);
        markDown(1, T);
        markDown(2, T);
        markDown(3, T);
        assertEquals(List.of(1, 2, 3), order(true, T));
    }

    @Test
    void whenAllAreDownRequestsFailAtOnceWhereTheGroupSaysSo() {
        apply(settings -> settings.set(OriginGroupKeys.WHEN_ALL_DOWN, OriginGroupConfig.WhenAllDown.FAIL));
        markDown(1, T);
        markDown(2, T);
        markDown(3, T);
        assertEquals(List.of(), order(true, T));
        assertEquals("no host is up", request(T).text());
    }

    @Test
    void whatAnOperatorPutDownIsNeverTried() {
        apply(settings -> settings);
        groups.find("g").hosts().get(0).markDown(new OriginHealth.ManualDown("deploy", T, Long.MAX_VALUE), T);
        markDown(2, T);
        markDown(3, T);
        assertEquals(List.of(2, 3), order(true, T));
    }

    @Test
    void oneRequestOnTrialWhenItsTimeHasComeAndTheOthersElsewhere() {
        apply(settings -> settings);
        markDown(1, T);
        long due = T + 20_000;
        GroupTries.Try trial = request(due).next(true, due);
        assertEquals(1, number(trial));
        assertEquals(2, order(true, due).get(0));
        trial.responded(200, 1, due, 1);
        assertEquals(1, order(true, due).get(0));
    }

    @Test
    void aTrialThatIsLeftIsTheNextRequests() {
        apply(settings -> settings);
        markDown(1, T);
        long due = T + 20_000;
        request(due).next(true, due).abandoned();
        assertEquals(1, number(request(due).next(true, due)));
    }

    @Test
    void aRequestThatNobodyElseCouldHaveGoesOnTrialOnlyWhenNoOtherDid() {
        apply(settings -> settings);
        markDown(1, T);
        assertEquals(2, order(false, T + 12_000).get(0));
        assertEquals(1, order(false, T + 22_000).get(0));
    }

    @Test
    void aRequestThatHasFailedOnceGoesToAHostThatIsUp() {
        apply(settings -> settings);
        markDown(2, T);
        long due = T + 12_000;
        GroupTries tries = request(due);
        tries.next(true, due).failed(Reason.RESET, due);
        // The second host's trial is due by then, and the third one, a backup, is up.
        assertEquals(3, number(tries.next(true, due)));
    }

    @Test
    void whoIsUpIsAskedAgainWhenAllHaveFailedButNotTwiceInARow() {
        apply(settings -> settings.set(OriginGroupKeys.RETRY_TRIES, 6));
        markDown(3, T);
        GroupTries tries = request(T);
        List<Integer> order = new ArrayList<>();
        GroupTries.Try next = tries.next(true, T);
        while (next != null) {
            order.add(number(next));
            next.failed(Reason.RESET, T);
            next = tries.next(true, T);
        }
        assertEquals(List.of(1, 2, 3, 1, 2, 1), order);
    }

    @Test
    void whoHasRefusedIsNotAskedAgain() {
        apply(settings -> settings.set(OriginGroupKeys.RETRY_TRIES, 6));
        GroupTries tries = request(T);
        tries.next(true, T).failed(Reason.RESET, T);
        tries.next(true, T).responded(503, 1, T, 1);
        tries.next(true, T).responded(502, 1, T, 1);
        assertEquals(1, number(tries.next(true, T)));
        assertNull(tries.next(true, T));
    }

    @Test
    void aGroupOfOneIsNotAskedTwice() {
        groups.apply(ProxyConfig.builder()
                .originGroup("g", ConfigValues.empty(), List.of(host(1, false)))
                .build()
                .originGroups());
        GroupTries tries = request(T);
        tries.next(true, T).failed(Reason.RESET, T);
        assertNull(tries.next(true, T));
    }

    @Test
    void limitsOfThisSideAreNoFailuresOfTheHost() {
        apply(settings -> settings);
        for (int i = 0; i < 10; i++) {
            request(T).next(true, T).failed(Reason.QUEUE_FULL, T);
        }
        assertTrue(groups.find("g").hosts().get(0).health().isUp(T));
    }

    @Test
    void anErrorThatIsRetriedIsNoSignOfHealth() {
        apply(settings -> settings);
        for (int i = 0; i < 3; i++) {
            GroupTries.Try bad = request(T).next(true, T);
            bad.responded(502, 1, T, 1);
            bad.answered(502, T);
            request(T).next(true, T).failed(Reason.RESET, T);
        }
        assertEquals(2, order(true, T).get(0));
    }

    @Test
    void whatWasTriedIsToldWithWhatCameOfIt() {
        apply(settings -> settings);
        GroupTries tries = request(T);
        tries.next(true, T).failed(Reason.CONNECT_REFUSED, T);
        tries.next(true, T).responded(503, 1, T, 1);
        assertEquals("http://10.0.0.1 (connect-refused), http://10.0.0.2 (503)", tries.text());
    }

    @Test
    void requestsUnderWayAreCountedUntilTheyEnd() {
        apply(settings -> settings);
        GroupTries.Try one = request(T).next(true, T);
        HostLoad load = one.host().loads().get(0);
        assertEquals(1, load.underWay());
        one.answered(200, T);
        one.abandoned();
        assertEquals(0, load.underWay());
        assertEquals(1, load.requests());
    }

    @Test
    void aReloadKeepsWhatIsKnownOfHostsThatStay() {
        apply(settings -> settings);
        OriginHost first = groups.find("g").hosts().get(0);
        markDown(1, T);
        apply(settings -> settings.set(OriginGroupKeys.RETRY_TRIES, 5));
        assertSame(first, groups.find("g").hosts().get(0));
        assertEquals(2, order(true, T).get(0));
    }

    @Test
    void aGroupThatAReloadDidNotChangeKeepsItsTurn() {
        apply(settings -> settings);
        OriginGroup before = groups.find("g");
        apply(settings -> settings);
        assertSame(before, groups.find("g"));
    }

    @Test
    void aRequestOfTheConfigurationBeforeStillFindsItsGroup() {
        apply(settings -> settings);
        groups.apply(List.of());
        assertEquals(1, order(true, T).get(0));
    }

    @Test
    void slowStartRampsTheWeightFromATenthToTheWhole() {
        apply(settings -> settings.set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.ROUND_ROBIN)
                .set(OriginGroupKeys.SLOW_START, Duration.ofSeconds(10)));
        markDown(1, T);
        OriginHost first = groups.find("g").hosts().get(0);
        first.answered(first.health().term(), T);
        assertEquals(10, share(T));
        assertEquals(35, share(T + 5000));
        assertEquals(50, share(T + 10_000));
    }

    /** Returns the first host's share of 110 or 100 requests, which is the sum of the weights. */
    private int share(long nowMillis) {
        int count = 0;
        int requests = nowMillis == T ? 110 : 100;
        for (int i = 0; i < requests; i++) {
            GroupTries.Try next = request(nowMillis).next(true, nowMillis);
            count += number(next) == 1 ? 1 : 0;
            next.abandoned();
        }
        return count;
    }

    @Test
    void anAnswerThatItsClientDidNotWaitForIsNoFailureInARow() {
        apply(settings -> settings);
        for (int i = 0; i < 9; i++) {
            GroupTries.Try failing = request(T).next(false, T);
            assertEquals(1, number(failing));
            failing.failed(Reason.RESET, T);
            GroupTries.Try left = request(T).next(false, T);
            left.responded(200, 1, T, 1);
            left.abandoned();
        }
        assertEquals(1, order(true, T).get(0));
    }

    @Test
    void whatFailedSinceTheHeadOfAnAnswerCountsWhoeverLeavesThatAnswer() {
        apply(settings -> settings);
        for (int i = 0; i < 3; i++) {
            GroupTries.Try left = request(T).next(false, T);
            left.responded(200, 1, T, 1);
            request(T).next(false, T).failed(Reason.RESET, T);
            left.abandoned();
        }
        assertEquals(2, order(true, T).get(0));
    }

    /** Responses to earlier requests show an earlier state. */
    @Test
    void answersToRequestsFromBeforeAHostWasMarkedDownDoNotBringItBack() {
        apply(settings -> settings);
        GroupTries.Try early = request(T).next(true, T);
        GroupTries.Try leftLater = request(T).next(true, T);
        markDown(1, T);
        early.responded(200, 1, T, 1);
        early.answered(200, T);
        leftLater.responded(200, 1, T, 1);
        leftLater.abandoned();
        assertEquals(2, order(true, T).get(0));
    }

    @Test
    void anAnswerFromBeforeTheMarkingDoesNotEndTheTrialThatIsUnderWay() {
        apply(settings -> settings);
        GroupTries.Try early = request(T).next(true, T);
        GroupTries.Try earlyToo = request(T).next(true, T);
        markDown(1, T);
        long due = T + 20_000;
        GroupTries.Try trial = request(due).next(true, due);
        early.responded(200, 1, due, 1);
        early.answered(200, due);
        earlyToo.failed(Reason.RESET, due);
        assertEquals(OriginHealth.State.SUSPECT, trial.host().health().state());
        trial.responded(200, 1, due, 1);
        assertEquals(1, order(true, due).get(0));
    }

    @Test
    void aTrialThatIsLeftDoesNotEndTheNextOne() {
        apply(settings -> settings);
        markDown(1, T);
        GroupTries.Try first = request(T + 20_000).next(true, T + 20_000);
        first.host().markUp(T + 20_001);
        markDown(1, T + 20_002);
        GroupTries.Try second = request(T + 40_000).next(true, T + 40_000);
        first.abandoned();
        assertEquals(OriginHealth.State.SUSPECT, second.host().health().state());
    }

    @Test
    void whenAllAreDownAHostThatAnswersWhatWasAskedSinceThenIsUp() {
        apply(settings -> settings);
        markDown(1, T);
        markDown(2, T);
        markDown(3, T);
        GroupTries.Try any = request(T).next(true, T);
        assertEquals(1, number(any));
        any.responded(200, 1, T, 1);
        any.answered(200, T);
        assertTrue(any.host().health().isUp(T));
    }

    @Test
    void aRequestThatOutlivesManyReloadsStillFindsItsGroup() {
        apply(settings -> settings);
        for (int i = 0; i < 5; i++) {
            groups.apply(List.of());
        }
        assertEquals(1, order(true, T).get(0));
    }

    /** A group that is redefined keeps the failures of its hosts. */
    @Test
    void whatIsKnownOfAHostGoesWithItWhenItsGroupHasAnotherName() {
        apply(settings -> settings);
        groups.find("g").hosts().get(0).markDown(new OriginHealth.ManualDown("deploy", T, Long.MAX_VALUE), T);
        markDown(2, T);
        groups.apply(ProxyConfig.builder()
                .originGroup("renamed", ConfigValues.empty(), List.of(host(2, false), host(1, false)))
                .build()
                .originGroups());
        assertFalse(groups.find("renamed").hosts().get(0).health().isUp(T));
        assertTrue(groups.find("renamed").hosts().get(1).health().isManuallyDown(T));
    }

    @Test
    void aGroupThatStaysGivesNothingOfItsHostsToANewOne() {
        apply(settings -> settings);
        markDown(1, T);
        groups.apply(ProxyConfig.builder()
                .originGroup("g", ConfigValues.empty(), List.of(host(1, false)))
                .originGroup("new", ConfigValues.empty(), List.of(host(1, false)))
                .build()
                .originGroups());
        assertTrue(groups.find("new").hosts().get(0).health().isUp(T));
    }

    /** The trial reports to the host of the removed group. */
    @Test
    void aHostThatIsOnTrialWhenItsGroupGetsAnotherNameHasItsNextTrialThere() {
        apply(settings -> settings);
        markDown(1, T);
        long due = T + 20_000;
        assertEquals(
                OriginHealth.State.SUSPECT,
                request(due).next(true, due).host().health().state());
        groups.apply(ProxyConfig.builder()
                .originGroup(
                        "renamed",
                        ConfigValues.builder()
                                .set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.FIRST_LIVE)
                                .build(),
                        List.of(host(1, false), host(2, false)))
                .build()
                .originGroups());
        GroupTries.Try next = loop.begin("renamed", config -> 0, due).next(true, due);
        assertEquals(1, number(next));
        next.responded(200, 1, due, 1);
        assertTrue(next.host().health().isUp(due));
    }

    /** The requests began with other settings. */
    @Test
    void failuresCountByTheRulesOfTheMomentInWhichTheyCome() {
        apply(settings ->
                settings.set(OriginGroupKeys.FAIL_THRESHOLD, 1).set(OriginGroupKeys.RETRY_TIME, Duration.ofHours(1)));
        GroupTries.Try first = request(T).next(true, T);
        apply(settings ->
                settings.set(OriginGroupKeys.FAIL_THRESHOLD, 2).set(OriginGroupKeys.RETRY_TIME, Duration.ofSeconds(1)));
        first.failed(Reason.RESET, T);
        assertTrue(first.host().health().isUp(T), "one failure of two");
        request(T).next(true, T).failed(Reason.RESET, T);
        assertFalse(first.host().health().isUp(T));
        assertTrue(first.host().health().isTrialDue(T + 1100, 0));
    }

    @Test
    void aFailureOfWhatWasSentBecauseAllWereDownDoesNotEndTheTrialThatIsUnderWay() {
        apply(settings -> settings);
        markDown(1, T);
        markDown(2, T);
        markDown(3, T);
        GroupTries.Try any = request(T).next(true, T);
        assertEquals(1, number(any));
        long due = T + 20_000;
        GroupTries.Try trial = request(due).next(true, due);
        assertEquals(1, number(trial));
        any.failed(Reason.FIRST_BYTE_TIMEOUT, due);
        assertEquals(OriginHealth.State.SUSPECT, trial.host().health().state());
        trial.responded(200, 1, due, 1);
        assertTrue(trial.host().health().isUp(due));
    }
}
