package io.millrace.proxy.origin;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the use of backups: hosts 1 to 3, and the backups 8 and 9. */
class RingModeTest {
    private static final long T = 1_000_000;
    private static final long KEYS = 200;

    private final OriginGroups groups = new OriginGroups();
    private final LoopOrigins loop = groups.newLoop();

    private static ConfigValues host(int number) {
        return ConfigValues.builder()
                .set(OriginGroupKeys.HOST_URL, new RuleUrl("http", "10.0.0." + number, -1, "/"))
                .set(OriginGroupKeys.HOST_BACKUP, number >= 8)
                .build();
    }

    private static void apply(OriginGroups to, OriginGroupConfig.RingMode mode, int self, int... numbers) {
        to.apply(
                ProxyConfig.builder()
                        .originGroup(
                                "g",
                                ConfigValues.builder()
                                        .set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.CONSISTENT_HASH)
                                        .set(OriginGroupKeys.RING_MODE, mode)
                                        .set(OriginGroupKeys.RETRY_TRIES, 16)
                                        .build(),
                                IntStream.of(numbers)
                                        .mapToObj(RingModeTest::host)
                                        .toList())
                        .build()
                        .originGroups(),
                url -> url.host().equals("10.0.0." + self),
                0);
    }

    private GroupTries request(long key) {
        return loop.begin("g", config -> key * 0x9e3779b97f4a7c15L, T);
    }

    private static int number(OriginHost host) {
        return Integer.parseInt(host.toString().substring("http://10.0.0.".length()));
    }

    private static int first(GroupTries tries) {
        GroupTries.Try next = tries.next(true, T);
        next.abandoned();
        return number(next.host());
    }

    private static List<Integer> order(GroupTries tries) {
        List<Integer> order = new ArrayList<>();
        GroupTries.Try next;
        while ((next = tries.next(true, T)) != null) {
            order.add(number(next.host()));
            next.responded(502, 1, T, 1);
            next.refused(502);
        }
        return order;
    }

    private void markDown(int number) {
        OriginHost host = groups.find("g").hosts().stream()
                .filter(each -> number(each) == number)
                .findFirst()
                .orElseThrow();
        while (host.health().isUp(T)) {
            host.failed(
                    "reset", host.health().term(), T, groups.find("g").config().markdown(), 0);
        }
    }

    @Test
    void alternateRing_bothRingsTakeTurnsFromTheUrlsOwnHostOn() {
        apply(groups, OriginGroupConfig.RingMode.ALTERNATE_RING, 0, 1, 2, 3, 8, 9);
        for (long key = 0; key < KEYS; key++) {
            List<Integer> order = order(request(key));
            assertEquals(5, new HashSet<>(order).size(), order::toString);
            assertTrue(order.get(0) < 8 && order.get(1) >= 8 && order.get(2) < 8 && order.get(3) >= 8, order::toString);
        }
    }

    @Test
    void alternateRing_aBackupReplacesAHostThatIsDown_andNoOtherUrlMoves() {
        apply(groups, OriginGroupConfig.RingMode.ALTERNATE_RING, 0, 1, 2, 3, 8, 9);
        List<Integer> before = new ArrayList<>();
        for (long key = 0; key < KEYS; key++) {
            before.add(first(request(key)));
        }
        assertEquals(Set.of(1, 2, 3), new HashSet<>(before));
        markDown(2);
        for (int key = 0; key < KEYS; key++) {
            int now = first(request(key));
            assertTrue(before.get(key) == 2 ? now >= 8 : now == before.get(key), key + ": " + now);
        }
    }

    @Test
    void alternateRing_aHostThatIsDownGetsItsTrial() {
        apply(groups, OriginGroupConfig.RingMode.ALTERNATE_RING, 0, 1, 8);
        markDown(1);
        assertEquals(8, first(request(1)));
        GroupTries.Try trial = request(1).next(true, T + 20_000);
        assertEquals(1, number(trial.host()));
        assertEquals(OriginHealth.State.SUSPECT, trial.host().health().state());
        trial.responded(200, 1, T + 20_000, 1);
        assertEquals(1, first(request(1)));
    }

    /** Three proxies with one configuration agree on the owner of a URL, and the owner connects upstream. */
    @Test
    void peeringRing_siblingsAskTheOwnerAndTheOwnerAsksUpstream() {
        for (long key = 0; key < KEYS; key++) {
            Set<Integer> owners = new HashSet<>();
            int upstream = 0;
            for (int self = 1; self <= 3; self++) {
                OriginGroups fresh = new OriginGroups();
                apply(fresh, OriginGroupConfig.RingMode.PEERING_RING, self, 1, 2, 3, 8, 9);
                long hash = key * 0x9e3779b97f4a7c15L;
                int asked = first(fresh.newLoop().begin("g", config -> hash, T));
                upstream += asked >= 8 ? 1 : 0;
                owners.add(asked >= 8 ? self : asked);
            }
            assertEquals(1, owners.size(), "key " + key + ": " + owners);
            assertEquals(1, upstream, "key " + key);
        }
    }

    @Test
    void peeringRing_whereASiblingFailsUpstreamIsAskedAndNoOtherSibling() {
        apply(groups, OriginGroupConfig.RingMode.PEERING_RING, 1, 1, 2, 3, 8, 9);
        for (long key = 0; key < KEYS; key++) {
            List<Integer> order = order(request(key));
            assertTrue(order.stream().skip(1).allMatch(number -> number >= 8), order::toString);
            assertTrue(order.get(0) != 1, order::toString);
        }
    }

    @Test
    void peeringRing_withoutUpstreamObjectsOfThisProxyAreNotFetched() {
        apply(groups, OriginGroupConfig.RingMode.PEERING_RING, 1, 1, 2, 3);
        Set<Integer> asked = new HashSet<>();
        int own = 0;
        for (long key = 0; key < KEYS; key++) {
            GroupTries tries = request(key);
            GroupTries.Try next = tries.next(true, T);
            if (next == null) {
                own++;
            } else {
                asked.add(number(next.host()));
                next.failed(Reason.RESET, T);
                assertNull(tries.next(true, T));
                next.host().markUp(T);
            }
        }
        assertEquals(Set.of(2, 3), asked);
        assertTrue(own > KEYS / 5, "own: " + own);
    }

    @Test
    void peeringRing_whatASiblingThatIsDownOwnedGoesToTheNextOwner() {
        apply(groups, OriginGroupConfig.RingMode.PEERING_RING, 1, 1, 2, 3, 8);
        markDown(2);
        Set<Integer> asked = new HashSet<>();
        for (long key = 0; key < KEYS; key++) {
            asked.add(first(request(key)));
        }
        assertEquals(Set.of(3, 8), asked);
    }

    @Test
    void thisProxyIsNeverAsked() {
        apply(groups, OriginGroupConfig.RingMode.EXHAUST_RING, 1, 1, 2, 8);
        for (long key = 0; key < KEYS; key++) {
            assertTrue(!order(request(key)).contains(1));
        }
        markDown(2);
        markDown(8);
        GroupTries.Try next = request(1).next(true, T);
        assertNotNull(next);
        assertEquals(2, number(next.host()));
    }

    /**
     * The proxy's own requests are not counted, so shares are unknown. A host that is skipped because of its load would
     * not share its cache.
     */
    @Test
    void peeringRing_theOwnerIsUsedForAnyNumberOfCurrentRequests() {
        apply(groups, OriginGroupConfig.RingMode.PEERING_RING, 1, 1, 2, 8);
        for (long key = 0; key < KEYS; key++) {
            int owner = first(request(key));
            for (int i = 0; i < 10; i++) {
                GroupTries.Try underWay = request(key).next(true, T);
                assertEquals(owner, number(underWay.host()), "key " + key);
            }
        }
    }

    /** The siblings do not know that, and would send the request back. */
    @Test
    void peeringRing_whatThisProxyOwnsStaysItsOwnThoughItIsPutDown() {
        apply(groups, OriginGroupConfig.RingMode.PEERING_RING, 1, 1, 2, 3, 8);
        List<Integer> before = new ArrayList<>();
        for (long key = 0; key < KEYS; key++) {
            before.add(first(request(key)));
        }
        assertEquals(Set.of(2, 3, 8), new HashSet<>(before));
        groups.find("g").hosts().get(0).markDown(new OriginHealth.ManualDown("deploy", T, Long.MAX_VALUE), T);
        for (int key = 0; key < KEYS; key++) {
            assertEquals(before.get(key), first(request(key)), "key " + key);
        }
    }

    @Test
    void whichHostIsThisProxyIsFoundOutAtEachReload() {
        apply(groups, OriginGroupConfig.RingMode.EXHAUST_RING, 0, 1, 2);
        OriginGroup before = groups.find("g");
        apply(groups, OriginGroupConfig.RingMode.EXHAUST_RING, 0, 1, 2);
        assertSame(before, groups.find("g"));
        apply(groups, OriginGroupConfig.RingMode.EXHAUST_RING, 2, 1, 2);
        assertTrue(groups.find("g").isSelf(1));
        assertSame(before.hosts().get(0), groups.find("g").hosts().get(0));
    }
}
