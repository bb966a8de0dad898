package io.millrace.launcher.ats.parent;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.draft.JoinedYaml;
import io.millrace.launcher.ats.parent.GroupWriter.Host;
import io.millrace.launcher.ats.remap.RemapRule;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * The importer of Traffic Server's strategies.yaml. Strategies become origin groups of remap rules. Confined to one
 * thread.
 */
public final class StrategiesImport {
    private static final Map<String, String> POLICIES = Map.of(
            "rr_strict", "round_robin",
            "rr_ip", "sticky",
            "first_live", "first_live",
            "latched", "latched",
            "consistent_hash", "consistent_hash");

    private static final Map<String, String> HASH_KEYS = Map.of(
            "url", "url",
            "uri", "url",
            "hostname", "host",
            "path", "path",
            "path+query", "path_query",
            "path+fragment", "path",
            "cache_key", "cache_key");

    private static final List<String> RING_MODES = List.of("exhaust_ring", "alternate_ring", "peering_ring");

    /** @param node the mapping in the list of strategies */
    private record Strategy(String name, Node node, Entry entry) {}

    private final ImportState state;
    private final GroupWriter writer;
    private final Map<String, Strategy> strategies = new LinkedHashMap<>();
    /** Report entries of the YAML nodes of hosts and groups. Strategies refer to these nodes by anchors. */
    private final IdentityHashMap<Node, Entry> anchored = new IdentityHashMap<>();

    /** Entries of hosts and groups that a written strategy contains. */
    private final Set<Entry> used = new HashSet<>();

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public StrategiesImport(ImportState state, GroupWriter writer) {
        this.state = state;
        this.writer = writer;
    }

    /**
     * Imports the file, if it exists.
     *
     * @param rules the remap rules that map to an origin
     */
    public void read(List<RemapRule> rules) {
        JoinedYaml yaml = JoinedYaml.read(
                state,
                state.fileNameOf("url_remap.strategies.filename", "strategies.yaml"),
                true,
                List.of("hosts", "groups", "strategies"));
        if (yaml == null) {
            rules.stream()
                    .filter(rule -> !rule.strategy().isEmpty())
                    .forEach(
                            rule -> rule.entry()
                                    .notMapped(
                                            "@strategy=" + rule.strategy()
                                                    + ": strategies.yaml is missing; write a group of origins and set origins in the rule; see docs/guide/origins.md"));
            return;
        }
        for (JoinedYaml.Item item : yaml.items("hosts")) {
            anchored.put(item.node(), item.entry());
        }
        for (JoinedYaml.Item item : yaml.items("groups")) {
            anchored.put(item.node(), item.entry());
        }
        yaml.items("strategies").forEach(this::readStrategy);
        for (RemapRule rule : rules) {
            if (!rule.strategy().isEmpty() && !strategies.containsKey(rule.strategy())) {
                state.problem(rule.entry(), "no strategy is named '" + rule.strategy() + "'");
            }
        }
        for (Strategy strategy : strategies.values()) {
            List<RemapRule> matchingRules = rules.stream()
                    .filter(rule -> rule.strategy().equals(strategy.name))
                    .toList();
            if (matchingRules.isEmpty()) {
                strategy.entry.note("no rule of remap uses this entry");
            } else {
                write(strategy, matchingRules);
            }
        }
        for (Entry entry : anchored.values()) {
            if (!used.contains(entry)) {
                entry.note("no strategy that a rule uses contains this entry");
            }
        }
    }

    private void readStrategy(JoinedYaml.Item item) {
        String name = Yaml.text(item.node(), "strategy");
        String policy = Yaml.text(item.node(), "policy");
        if (name.isEmpty()) {
            state.problem(item.entry(), "a strategy needs a name in the key strategy");
        } else if (!POLICIES.containsKey(policy)) {
            // Traffic Server ignores such a strategy, and refuses the rules that name it.
            item.entry().notMapped("'" + policy + "' is not a policy");
        } else if (strategies.containsKey(name)) {
            item.entry().note(strategies.get(name).entry.place() + " already has the name; the first one applies");
        } else {
            strategies.put(name, new Strategy(name, item.node(), item.entry()));
        }
    }

    private void write(Strategy strategy, List<RemapRule> rules) {
        boolean proxies = flag(strategy.node, "parent_is_proxy", true);
        writer.assign(
                strategy.name,
                proxies,
                rules,
                false,
                strategy.entry,
                (group, scheme) -> write(strategy, group, scheme, proxies));
        for (String key : Yaml.pairs(strategy.node).keySet()) {
            explain(strategy, key, Yaml.text(strategy.node, key));
        }
    }

    private static void explain(Strategy strategy, String key, String value) {
        switch (key) {
            case "strategy", "policy", "hash_key", "go_direct", "parent_is_proxy", "groups", "scheme", "failover" -> {}
            case "hash_url", "hash_algorithm", "hash_seed0", "hash_seed1", "hash_replicas", "host_override" ->
                strategy.entry.note(key + " has no equivalent");
            case "ignore_self_detect" -> {
                if (value.equals("true")) {
                    strategy.entry.notMapped("ignore_self_detect: a group never sends requests to this proxy itself");
                }
            }
            case "cache_peer_result" -> {
                if (value.equals("false")) {
                    strategy.entry.notMapped("cache_peer_result: responses of siblings are stored like all others");
                }
            }
            default -> strategy.entry.notMapped(key + " is not understood");
        }
    }

    private static boolean flag(@Nullable Node node, String key, boolean defaultValue) {
        String text = Yaml.text(node, key).toLowerCase(Locale.ROOT);
        return text.isEmpty() ? defaultValue : List.of("true", "yes", "on", "y").contains(text);
    }

    private void write(Strategy strategy, DraftNode group, String scheme, boolean proxies) {
        Node failover = Yaml.value(strategy.node, "failover");
        String policy = POLICIES.getOrDefault(Yaml.text(strategy.node, "policy"), "round_robin");
        group.put("policy", policy);
        boolean hashed = policy.equals("consistent_hash");
        if (hashed) {
            String key = Yaml.text(strategy.node, "hash_key");
            group.put("hash_key", HASH_KEYS.getOrDefault(key, "path"));
            strategy.entry.note("the hash assigns URLs to hosts differently than Traffic Server");
            if (key.equals("cache_key")) {
                strategy.entry.note(
                        "hash_key: in Traffic Server cache_key is only the path, unless cachekey.so changes the key");
            }
        }
        String usedScheme = Yaml.text(strategy.node, "scheme");
        String self = Yaml.text(failover, "self");
        List<Host> hosts = new ArrayList<>();
        List<Node> rings = Yaml.elements(Yaml.value(strategy.node, "groups"));
        for (int i = 0; i < rings.size(); i++) {
            for (Node host : Yaml.elements(rings.get(i))) {
                Host read =
                        readHost(strategy, host, rings.get(i), i > 0, usedScheme.isEmpty() ? scheme : usedScheme, self);
                if (read != null) {
                    hosts.add(read);
                }
            }
        }
        if (rings.size() > 2) {
            strategy.entry.note("all groups except the first form one ring of backups");
        }
        writeRingMode(strategy, group, failover, hashed, hosts);
        writer.writeHosts(group, scheme, hosts, strategy.entry);
        group.put("parent_is_proxy", Boolean.toString(proxies));
        group.put("go_direct", Boolean.toString(flag(strategy.node, "go_direct", true)));
        importRetries(strategy, group, failover);
        writeHealthChecks(strategy, group, failover, rings, usedScheme.isEmpty() ? scheme : usedScheme);
    }

    /** Writes the ring mode. Without this key, Traffic Server alternates between the hosts of both rings. */
    private static void writeRingMode(
            Strategy strategy, DraftNode group, @Nullable Node failover, boolean hashed, List<Host> hosts) {
        String configuredMode = Yaml.text(failover, "ring_mode");
        String mode = RING_MODES.contains(configuredMode) ? configuredMode : "alternate_ring";
        if (!configuredMode.isEmpty() && !configuredMode.equals(mode)) {
            strategy.entry.note("'" + configuredMode + "' is not a ring_mode; alternate_ring is used");
        }
        boolean backups = hosts.stream().anyMatch(Host::backup);
        if (hashed && (mode.equals("peering_ring") || (mode.equals("alternate_ring") && backups))) {
            group.put("ring_mode", mode);
        } else if (!hashed && !mode.equals("exhaust_ring") && backups) {
            strategy.entry.note("backups are used when all other hosts are down: ring_mode " + mode
                    + " has an effect only with consistent_hash");
        }
    }

    private @Nullable Host readHost(
            Strategy strategy, Node node, Node ring, boolean backup, String scheme, String self) {
        Node merged = Yaml.value(node, "<<");
        Node host = merged == null ? node : merged;
        String name = Yaml.text(host, "host");
        if (name.isEmpty()) {
            strategy.entry.notMapped("a host of its groups has no name");
            return null;
        }
        String weight = Yaml.text(node, "weight");
        if (weight.isEmpty()) {
            weight = Yaml.text(host, "weight");
        }
        if (!Yaml.text(host, "hash_string").isEmpty()) {
            strategy.entry.note("hosts are hashed by name: hash_string has no equivalent");
        }
        List<Entry> sources = new ArrayList<>();
        for (Node from : List.of(node, host, ring)) {
            Entry entry = anchored.get(from);
            if (entry != null) {
                sources.add(entry);
                used.add(entry);
            }
        }
        return new Host(
                name,
                port(host, scheme),
                HostWeights.read(weight.isEmpty() ? "1" : weight),
                backup,
                !self.isEmpty() && self.equals(name),
                sources);
    }

    /** Returns the host's port for a scheme. If the host has none, returns the port of its first protocol. */
    private static String port(Node host, String scheme) {
        Node protocol = protocol(host, scheme);
        return protocol == null ? "" : Yaml.text(protocol, "port");
    }

    private static @Nullable Node protocol(Node host, String scheme) {
        List<Node> all = Yaml.elements(Yaml.value(host, "protocol"));
        for (Node each : all) {
            if (Yaml.text(each, "scheme").equals(scheme)) {
                return each;
            }
        }
        return all.isEmpty() ? null : all.get(0);
    }

    private void importRetries(Strategy strategy, DraftNode group, @Nullable Node failover) {
        List<String> marks = codes(strategy, failover, "markdown_codes");
        Set<String> responses = new LinkedHashSet<>(codes(strategy, failover, "response_codes"));
        responses.addAll(marks);
        writer.writeRetries(
                group,
                Math.max(times(failover, "max_simple_retries"), times(failover, "max_unavailable_retries")),
                List.copyOf(responses),
                marks);
        for (String key : Yaml.pairs(failover).keySet()) {
            if (!List.of(
                            "ring_mode",
                            "max_simple_retries",
                            "max_unavailable_retries",
                            "response_codes",
                            "markdown_codes",
                            "health_check",
                            "self")
                    .contains(key)) {
                strategy.entry.notMapped("failover." + key + " is not understood");
            }
        }
    }

    private static int times(@Nullable Node failover, String key) {
        String text = Yaml.text(failover, key);
        return text.matches("\\d") ? Integer.parseInt(text) : 1;
    }

    private static List<String> codes(Strategy strategy, @Nullable Node failover, String key) {
        List<String> codes = new ArrayList<>();
        for (String code : Yaml.words(Yaml.value(failover, key))) {
            if (code.matches("[345]\\d\\d") && !code.equals("300") && !code.equals("599")) {
                codes.add(code);
            } else {
                strategy.entry.note(key + ": " + code + " is ignored");
            }
        }
        return codes;
    }

    /**
     * Writes active health checks. For Traffic Server an external program sends the checks, but Millrace sends them
     * itself. The path "/" is not imported, since it is hardly a page for health checks.
     */
    private static void writeHealthChecks(
            Strategy strategy, DraftNode group, @Nullable Node failover, List<Node> rings, String scheme) {
        if (!Yaml.words(Yaml.value(failover, "health_check")).contains("active")) {
            return;
        }
        Set<String> paths = new LinkedHashSet<>();
        for (Node ring : rings) {
            for (Node node : Yaml.elements(ring)) {
                Node merged = Yaml.value(node, "<<");
                Node protocol = protocol(merged == null ? node : merged, scheme);
                String url = protocol == null ? "" : Yaml.text(protocol, "health_check_url");
                paths.add(url.replaceFirst("^[a-z]+://[^/]*", ""));
            }
        }
        String path = paths.isEmpty() ? "" : paths.iterator().next();
        if (paths.size() == 1 && path.length() > 1) {
            group.put("health_check.path", path);
            strategy.entry.note("health_check: Millrace itself sends active checks to the hosts");
        } else {
            strategy.entry.notMapped(
                    "health_check: Millrace itself sends active checks; set health_check.path to a page that all hosts answer with 200");
        }
    }
}
