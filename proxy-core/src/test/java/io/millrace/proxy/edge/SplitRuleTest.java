package io.millrace.proxy.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.edge.SplitConfig;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SplitRuleTest {
    private static final int CLIENTS = 100_000;

    private static SplitConfig.Branch branch(String name, int weight, String cookie, String value) {
        return new SplitConfig.Branch(name, null, name, weight, cookie, value, true);
    }

    private static SplitRule split(String cookie, SplitConfig.Branch... branches) {
        return new SplitRule(new SplitConfig(List.of(branches), cookie));
    }

    private static IpAddress client(int number) {
        return IpAddress.of(new byte[] {10, (byte) (number >> 16), (byte) (number >> 8), (byte) number});
    }

    private static FieldSection cookies(String value) {
        return FieldSection.builder().add("Cookie", value).build();
    }

    private static int count(SplitRule split, int branch) {
        int count = 0;
        for (int i = 0; i < CLIENTS; i++) {
            count += split.choose(FieldSection.EMPTY, client(i)) == branch ? 1 : 0;
        }
        return count;
    }

    /** The share differs from the weight by less than half a percent of all clients. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 500, 5_000, 9_999, 10_000})
    void shareOfClientsIsTheWeight(int weight) {
        int chosen = count(split(null, branch("a", weight, "c", null)), 0);
        assertEquals(weight / 10_000.0, chosen / (double) CLIENTS, 0.005);
    }

    @Test
    void weightsAddUp() {
        SplitRule split = split(null, branch("a", 1_000, null, null), branch("b", 2_000, null, null));
        assertEquals(0.1, count(split, 0) / (double) CLIENTS, 0.005);
        assertEquals(0.2, count(split, 1) / (double) CLIENTS, 0.005);
        assertEquals(0.7, count(split, SplitRule.OWN) / (double) CLIENTS, 0.005);
    }

    @Test
    void clientsOfTheFirstBranchStayWhenItGrows() {
        SplitRule small = split(null, branch("a", 500, null, null));
        SplitRule large = split(null, branch("a", 2_500, null, null));
        int stayed = 0;
        for (int i = 0; i < 1_000; i++) {
            if (small.choose(FieldSection.EMPTY, client(i)) == 0) {
                assertEquals(0, large.choose(FieldSection.EMPTY, client(i)));
                stayed++;
            }
        }
        assertTrue(stayed > 0);
    }

    @Test
    void cookieOfABranchPrecedesWeights() {
        SplitRule split =
                split(null, branch("a", 10_000, null, null), branch("b", 0, "canary", "1"), branch("c", 0, "c", null));
        assertEquals(0, split.choose(FieldSection.EMPTY, client(1)));
        assertEquals(1, split.choose(cookies("a=b; canary=1"), client(1)));
        assertEquals(0, split.choose(cookies("canary=2"), client(1)));
        assertEquals(2, split.choose(cookies("c="), client(1)));
        assertEquals(1, split.choose(cookies("c=1; canary=1"), client(1)));
    }

    @Test
    void cookieIdentifiesTheClientWhateverItsAddress() {
        SplitRule split = split("uid", branch("a", 5_000, null, null));
        List<Integer> byUser = new ArrayList<>();
        for (int user = 0; user < 100; user++) {
            FieldSection fields = cookies("x=y; uid=" + user);
            byUser.add(split.choose(fields, client(1)));
            assertEquals(byUser.get(user), split.choose(fields, client(2)));
            assertEquals(byUser.get(user), split.choose(fields, null));
        }
        assertTrue(byUser.contains(0) && byUser.contains(SplitRule.OWN));
    }

    @Test
    void withoutTheCookieTheAddressDecides() {
        SplitRule byCookie = split("uid", branch("a", 5_000, null, null));
        SplitRule byAddress = split(null, branch("a", 5_000, null, null));
        for (int i = 0; i < 100; i++) {
            assertEquals(
                    byAddress.choose(FieldSection.EMPTY, client(i)), byCookie.choose(cookies("other=1"), client(i)));
        }
    }

    @Test
    void addressesOfOneNetworkAreOneClient() {
        SplitRule split = split(null, branch("a", 5_000, null, null));
        List<Integer> chosen = new ArrayList<>();
        for (int network = 0; network < 100; network++) {
            long high = 0x2001_0db8_0000_0000L + network;
            chosen.add(split.choose(FieldSection.EMPTY, new IpAddress(high, 1)));
            assertEquals(chosen.get(network), split.choose(FieldSection.EMPTY, new IpAddress(high, 99)));
        }
        assertNotEquals(List.of(chosen.get(0)), chosen.stream().distinct().toList());
    }

    @Test
    void unknownClientsGetTheOriginOfTheRule() {
        assertEquals(SplitRule.OWN, split(null, branch("a", 9_999, null, null)).choose(FieldSection.EMPTY, null));
    }
}
