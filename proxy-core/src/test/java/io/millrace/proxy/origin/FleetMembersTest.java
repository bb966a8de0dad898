package io.millrace.proxy.origin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests groups whose hosts are nodes of the fleet. */
class FleetMembersTest {
    private static final long T = 1_000_000;
    private static final int KEYS = 1000;
    private static final String FLEET = "fleet: {name: cdn, servers: ['nats://n:4222'], node: n1}\nvia: {name: n1}\n";

    @TempDir
    Path directory;

    private final OriginGroups groups = new OriginGroups();
    private final LoopOrigins loop = groups.newLoop();

    private static ConfigResult load(String fleet, String group) {
        return ConfigLoader.parse(
                "listen: [':1']\n" + fleet + "origins: [{name: g, " + group
                        + "}]\nremap: [{map: /, to: 'http://o/', origins: g}]\n",
                "m.yaml",
                Map.of());
    }

    private static List<OriginGroupConfig> group(String settings) {
        ConfigResult result = load(FLEET, settings);
        assertEquals(List.of(), result.problems());
        assertNotNull(result.config());
        return result.config().originGroups();
    }

    private static FleetMembers nodes(int... numbers) throws InvalidValueException {
        String text = IntStream.of(numbers)
                .mapToObj(n -> "n" + n + " parent http://10.0.0." + n + ":80 " + (n == 1 ? "self" : "other") + "\n")
                .collect(Collectors.joining());
        return FleetMembers.parse(text + "e edge http://10.9.0.1 other\n");
    }

    private List<String> hosts() {
        return groups.find("g").hosts().stream().map(OriginHost::toString).toList();
    }

    private Map<Long, String> owners() {
        Map<Long, String> owners = new HashMap<>();
        for (long key = 0; key < KEYS; key++) {
            long hash = key * 0x9e3779b97f4a7c15L;
            OriginHost host = loop.preview(groups.find("g"), hash, true, T);
            owners.put(key, String.valueOf(host));
        }
        return owners;
    }

    @Test
    void liveNodesOfTheTierAreHostsExceptThisNode() throws Exception {
        groups.apply(group("hosts_from: {fleet_tier: parent}, hosts: ['http://10.0.0.2:80', 'http://s']"));
        assertEquals(List.of("http://10.0.0.2:80", "http://s"), hosts());
        assertTrue(groups.members(nodes(3, 2, 1), T));
        assertEquals(List.of("http://10.0.0.2:80", "http://s", "http://10.0.0.3:80"), hosts());
        assertFalse(groups.members(nodes(1, 2, 3), T));
        groups.apply(group("hosts_from: {fleet_tier: edge}"));
        assertEquals(List.of("http://10.9.0.1"), hosts());
        groups.apply(group("hosts_from: {fleet_tier: unknown}"));
        assertEquals(List.of(), hosts());
        for (OriginGroupConfig.Policy policy : OriginGroupConfig.Policy.values()) {
            groups.apply(group("hosts_from: {fleet_tier: unknown}, policy: "
                    + policy.name().toLowerCase(Locale.ROOT)));
            assertNull(loop.preview(groups.find("g"), 1, true, T), policy::name);
            assertNull(loop.begin("g", config -> 1, T).next(true, T), policy::name);
        }
    }

    @Test
    void onlyTheShareOfANodeThatLeavesMoves() throws Exception {
        groups.apply(group("hosts_from: {fleet_tier: parent}, policy: consistent_hash"));
        groups.members(nodes(2, 3, 4), T);
        OriginHost stays = groups.find("g").hosts().get(0);
        Map<Long, String> before = owners();
        groups.members(nodes(2, 3), T);
        Map<Long, String> after = owners();
        before.forEach((key, owner) -> {
            if (owner.endsWith("4:80")) {
                assertFalse(after.get(key).endsWith("4:80"));
            } else {
                assertEquals(owner, after.get(key));
            }
        });
        long share =
                before.values().stream().filter(owner -> owner.endsWith("4:80")).count();
        assertTrue(share > KEYS / 5 && share < KEYS / 2, "share of the node: " + share);
        assertSame(stays, groups.find("g").hosts().get(0), "the health of a node that stays is kept");
        groups.members(nodes(2, 3, 4), T);
        assertEquals(before, owners());
    }

    @Test
    void thisNodeIsASiblingOfAPeeringRing() throws Exception {
        ConfigResult result = load(
                FLEET,
                "hosts_from: {fleet_tier: parent}, policy: consistent_hash, ring_mode: peering_ring, go_direct: true");
        assertEquals(List.of(), result.problems());
        groups.apply(result.config().originGroups());
        groups.members(nodes(1, 2), T);
        assertEquals(List.of("http://10.0.0.1:80", "http://10.0.0.2:80"), hosts());
        Map<String, Long> shares =
                owners().values().stream().collect(Collectors.groupingBy(owner -> owner, Collectors.counting()));
        assertTrue(shares.get("null") > KEYS / 3, "URLs of this node, which go to the rule's origin: " + shares);
        assertTrue(shares.get("http://10.0.0.2:80") > KEYS / 3, "URLs of the sibling: " + shares);
    }

    @Test
    void aGroupHasAtMost256Hosts() throws Exception {
        groups.apply(group("hosts_from: {fleet_tier: parent}"));
        groups.members(nodes(IntStream.range(2, 400).toArray()), T);
        assertEquals(256, hosts().size());
    }

    @Test
    void theFileKeepsTheNodes() throws Exception {
        FleetMembersFile file = new FleetMembersFile(directory.resolve("fleet"));
        assertEquals(FleetMembers.NONE, file.read());
        file.write("cdn", nodes(1, 2));
        assertEquals(nodes(1, 2), file.read());
        assertEquals(nodes(1, 2), file.read("cdn"));
        assertEquals(FleetMembers.NONE, file.read("cd"));
        file.write("cdn", FleetMembers.NONE);
        assertEquals(FleetMembers.NONE, file.read());
    }

    @Test
    void aDamagedFileHasNoNodes() throws IOException {
        for (String text : List.of("", "fleet cdn", "fleet cdn\nn1 parent\n", "n1 parent http://h self\n")) {
            Files.writeString(directory.resolve("members"), text);
            assertEquals(FleetMembers.NONE, new FleetMembersFile(directory).read(), text);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "n1 parent http://h",
                "n1 parent http://h own",
                "n1 a.b http://h self",
                "n1 p ftp://h self",
                "" + "n1 p http://h/path self",
                "\u00e9 p http://h self",
                "n1 p http://h self more"
            })
    void otherTextIsRefused(String text) {
        assertThrows(InvalidValueException.class, () -> FleetMembers.parse(text));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "hosts: [] | origins[0].hosts: is empty; a group needs at least one host, or hosts_from",
                "policy: sticky | origins[0].hosts: is empty; a group needs at least one host, or hosts_from",
                "hosts_from: {fleet_tier: parent} | origins[0].hosts_from.fleet_tier: needs the section fleet",
                "hosts_from: {fleet_tier: a.b} | origins[0].hosts_from.fleet_tier: 'a.b' is not a name of a tier"
            })
    void groupsWithoutHostsOrFleetAreRefused(String settings, String problem) {
        List<ConfigProblem> problems = load("", settings).problems();
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(problems.get(0).text().contains(problem), problems::toString);
        assertTrue(problems.get(0).line() > 0, problems::toString);
    }

    /** All nodes have the same default name in Via, so that each would refuse the requests of another as a loop. */
    @Test
    void hostsOfAFleetNeedNodesWithANameInVia() {
        String fleet = "fleet: {name: cdn, servers: ['nats://127.0.0.1:4222'], node: e1}\n";
        List<ConfigProblem> problems =
                load(fleet, "hosts_from: {fleet_tier: parent}").problems();
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(problems.get(0).text().contains("needs a via.name of its own"), problems::toString);
        assertEquals(
                List.of(),
                load(fleet + "via: {name: e1}\n", "hosts_from: {fleet_tier: parent}")
                        .problems());
    }
}
