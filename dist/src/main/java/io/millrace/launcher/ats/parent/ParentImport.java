package io.millrace.launcher.ats.parent;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.parent.GroupWriter.Host;
import io.millrace.launcher.ats.remap.RemapRule;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The importer of Traffic Server's parent.config, whose lines become origin groups of remap rules. Confined to one
 * thread.
 */
public final class ParentImport {
    private static final Map<String, String> POLICIES = Map.of(
            "false", "first_live",
            "true", "sticky",
            "strict", "round_robin",
            "consistent_hash", "consistent_hash",
            "latched", "latched");

    /** Conditions of a line that have no equivalent. A remap rule uses its origins for all its requests. */
    private static final List<String> CONDITIONS = List.of(
            "dest_ip",
            "host_regex",
            "url",
            "url_regex",
            "port",
            "prefix",
            "suffix",
            "method",
            "time",
            "src_ip",
            "internal");

    private static final Set<String> UNDERSTOOD = Set.of(
            "dest_domain",
            "dest_host",
            "scheme",
            "parent",
            "secondary_parent",
            "secondary_mode",
            "round_robin",
            "qstring",
            "parent_is_proxy",
            "go_direct",
            "parent_retry",
            "max_simple_retries",
            "max_unavailable_server_retries",
            "simple_server_retry_responses",
            "unavailable_server_retry_responses",
            "ignore_self_detect");

    private final ImportState state;
    private final GroupWriter writer;
    private final ForwardedParents forwarded;
    private int groups;

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public ParentImport(ImportState state, GroupWriter writer) {
        this.state = state;
        this.writer = writer;
        forwarded = new ForwardedParents(state);
    }

    /**
     * Imports the file, if it exists.
     *
     * @param rules the remap rules that map to an origin
     */
    public void read(List<RemapRule> rules) {
        // A strategy in the rule takes precedence over parent.config.
        List<RemapRule> unassigned = new ArrayList<>(
                rules.stream().filter(rule -> rule.strategy().isEmpty()).toList());
        SourceFile file = state.read(state.fileNameOf("http.parent_proxy.file", "parent.config"));
        if (file != null) {
            readLines(file, unassigned);
        }
        // This record sets the parents of all requests that no line matches.
        Rec defaultParents = state.records().getAndMarkProcessed("http.parent_proxies");
        if (defaultParents != null && defaultParents.value() != null) {
            readLine(defaultParents.entry(), Map.of("dest_domain", ".", "parent", defaultParents.value()), unassigned);
        } else if (defaultParents != null) {
            defaultParents.entry().note("the record is empty");
        }
        forwarded.finish();
        reportUncacheableBypass();
        reportConnectTimeout();
    }

    private void reportConnectTimeout() {
        Rec timeout = state.records().getAndMarkProcessed("http.parent_proxy.connect_attempts_timeout");
        if (timeout == null) {
            return;
        }
        if (state.draft().elements("origins").isEmpty()) {
            timeout.entry().note("there are no parents");
        } else {
            timeout.entry().notMapped("timeouts.origin_connect applies to parents too");
        }
    }

    private void readLines(SourceFile file, List<RemapRule> unassigned) {
        for (Words words : Words.of(file)) {
            Map<String, String> fields = parseFields(words.entry(), file, words);
            if (!fields.isEmpty()) {
                readLine(words.entry(), fields, unassigned);
            }
        }
    }

    private void reportUncacheableBypass() {
        Rec bypass = state.records().getAndMarkProcessed("http.uncacheable_requests_bypass_parent");
        if (bypass == null) {
            return;
        }
        if (bypass.value() == null || bypass.value().equals("0")) {
            bypass.entry().note("the setting is off, as in Millrace");
        } else if (groups == 0) {
            bypass.entry().note("there are no parents");
        } else {
            bypass.entry().notMapped("all requests go to parents, including uncacheable ones");
        }
    }

    private static Map<String, String> parseFields(Entry entry, SourceFile file, Words words) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (int i = 0; i < words.words().size(); i++) {
            String word = words.at(i);
            int equals = word.indexOf('=');
            if (equals < 0) {
                file.problem(entry.line(), words.columns().get(i), "'" + word + "' is not NAME=VALUE");
                return Map.of();
            }
            String name = word.substring(0, equals).toLowerCase(Locale.ROOT);
            fields.put(name.equals("primary_parent") ? "parent" : name, word.substring(equals + 1));
        }
        return fields;
    }

    private void readLine(Entry entry, Map<String, String> fields, List<RemapRule> unassigned) {
        for (String name : CONDITIONS) {
            if (fields.containsKey(name)) {
                entry.notMapped(
                        name
                                + ": groups of origins are named by rules of remap; write the group and name it in the rules that use it");
                forwarded.handleUnsupported(entry, fields);
                return;
            }
        }
        List<RemapRule> matchingRules = new ArrayList<>();
        for (RemapRule rule : unassigned) {
            String scheme = rule.isToSecure() ? "https" : "http";
            if (matchesHost(fields, rule.toHost())
                    && fields.getOrDefault("scheme", scheme).equalsIgnoreCase(scheme)) {
                matchingRules.add(rule);
            }
        }
        unassigned.removeAll(matchingRules);
        boolean forwards = forwarded.handle(entry, fields);
        String parents = fields.getOrDefault("parent", "");
        if (parents.isEmpty()) {
            entry.note("the line has no parents, so requests go to the target host of the rule");
        } else if (matchingRules.isEmpty() && !forwards) {
            entry.note("no rule of remap has this target, or an earlier line applies to the rule");
        } else {
            write(entry, fields, matchingRules, forwards);
        }
    }

    private static boolean matchesHost(Map<String, String> fields, String host) {
        String domain = fields.get("dest_domain");
        String exact = fields.get("dest_host");
        if (domain != null) {
            String name = domain.startsWith(".") ? domain.substring(1) : domain;
            return name.isEmpty()
                    || host.equalsIgnoreCase(name)
                    || host.toLowerCase(Locale.ROOT).endsWith("." + name.toLowerCase(Locale.ROOT));
        }
        return exact != null && host.equalsIgnoreCase(exact);
    }

    private void write(Entry entry, Map<String, String> fields, List<RemapRule> rules, boolean forwards) {
        groups++;
        boolean proxies = !fields.getOrDefault("parent_is_proxy", "true").equals("false");
        String group = writer.assign(
                "parent-" + groups,
                proxies,
                rules,
                forwards,
                entry,
                (node, scheme) -> write(node, scheme, entry, fields, proxies));
        if (forwards) {
            forwarded.useGroup(group, entry);
        }
        for (Map.Entry<String, String> field : fields.entrySet()) {
            switch (field.getKey()) {
                case "hash_algorithm", "hash_seed0", "hash_seed1", "hash_replicas", "host_override" ->
                    entry.note(field.getKey() + " has no equivalent");
                case "ignore_self_detect" -> {
                    if (field.getValue().equals("true")) {
                        entry.notMapped("ignore_self_detect: a group never sends requests to this proxy itself");
                    }
                }
                default -> {
                    if (!UNDERSTOOD.contains(field.getKey())) {
                        entry.notMapped(field.getKey() + " is not understood");
                    }
                }
            }
        }
    }

    private void write(DraftNode group, String scheme, Entry entry, Map<String, String> fields, boolean proxies) {
        String policy = POLICIES.get(fields.getOrDefault("round_robin", "false"));
        if (policy == null) {
            entry.notMapped("round_robin=" + fields.get("round_robin") + " is not a policy, so round robin is used");
            policy = "round_robin";
        }
        group.put("policy", policy);
        boolean hashed = policy.equals("consistent_hash");
        List<Host> hosts = hosts(fields.getOrDefault("parent", ""), false, entry);
        List<Host> backups = hosts(fields.getOrDefault("secondary_parent", ""), true, entry);
        if (hashed) {
            group.put("hash_key", fields.getOrDefault("qstring", "consider").equals("ignore") ? "path" : "path_query");
            entry.note("the hash assigns URLs to hosts differently than Traffic Server");
            writeRingMode(group, entry, fields.getOrDefault("secondary_mode", "1"), backups);
            hosts.addAll(backups);
        } else if (!backups.isEmpty()) {
            entry.note("secondary_parent has an effect only with round_robin=consistent_hash");
        }
        writer.writeHosts(group, scheme, hosts, entry);
        group.put("parent_is_proxy", Boolean.toString(proxies));
        group.put(
                "go_direct",
                Boolean.toString(
                        proxies && !fields.getOrDefault("go_direct", "true").equals("false")));
        importRetries(group, fields);
    }

    /** Writes the ring mode, which determines when the hosts of the second ring (the backups) are used. */
    private static void writeRingMode(DraftNode group, Entry entry, String mode, List<Host> backups) {
        if (backups.isEmpty()) {
            return;
        }
        if (!mode.equals("2") && !mode.equals("3")) {
            group.put("ring_mode", "alternate_ring");
        }
        if (mode.equals("3")) {
            entry.notMapped(
                    "secondary_mode=3 is imported as 2; Traffic Server would use a backup at once for a host that an"
                            + " operator marked down");
        } else if (!List.of("1", "2").contains(mode)) {
            entry.note("secondary_mode=" + mode + " is unknown, so it means 1");
        }
    }

    private static List<String> list(String parents) {
        List<String> hosts = new ArrayList<>();
        for (String each : parents.split("[;,\\s]+", -1)) {
            if (!each.isEmpty()) {
                hosts.add(each);
            }
        }
        return hosts;
    }

    private static List<Host> hosts(String parents, boolean backup, Entry entry) {
        List<Host> hosts = new ArrayList<>();
        for (String parent : list(parents)) {
            if (parent.contains("&")) {
                entry.note(
                        "hosts are hashed by name; '" + parent.substring(parent.indexOf('&')) + "' has no equivalent");
            }
            String bare = parent.replaceAll("&.*", "");
            int bar = bare.indexOf('|');
            String authority = bar < 0 ? bare : bare.substring(0, bar);
            int colon = authority.endsWith("]") ? -1 : authority.lastIndexOf(':');
            hosts.add(new Host(
                    colon < 0 ? authority : authority.substring(0, colon),
                    colon < 0 ? "" : authority.substring(colon + 1),
                    HostWeights.read(bar < 0 ? "1" : bare.substring(bar + 1)),
                    backup,
                    false,
                    List.of()));
        }
        return hosts;
    }

    private void importRetries(DraftNode group, Map<String, String> fields) {
        String retry = fields.getOrDefault("parent_retry", "none");
        boolean simple = retry.equals("simple_retry") || retry.equals("both");
        boolean unavailable = retry.equals("unavailable_server_retry") || retry.equals("both");
        Set<String> responses = new LinkedHashSet<>();
        List<String> marks =
                unavailable ? codes(fields, "unavailable_server_retry_responses", "503", "5\\d\\d") : List.of();
        if (simple) {
            responses.addAll(codes(fields, "simple_server_retry_responses", "404", "[45]\\d\\d"));
        }
        responses.addAll(marks);
        int more = Math.max(
                simple ? times(fields, "max_simple_retries") : 0,
                unavailable ? times(fields, "max_unavailable_server_retries") : 0);
        writer.writeRetries(group, more, List.copyOf(responses), marks);
    }

    /**
     * Returns the configured status codes; without the field, the default.
     *
     * @param usual the default
     * @param validCodes regular expression for valid codes; other codes are ignored
     */
    private static List<String> codes(Map<String, String> fields, String name, String usual, String validCodes) {
        String list = fields.get(name);
        return list == null
                ? List.of(usual)
                : RecordTable.split(list).stream()
                        .filter(code -> code.matches(validCodes))
                        .toList();
    }

    private static int times(Map<String, String> fields, String name) {
        String text = fields.getOrDefault(name, "1");
        return text.matches("[1-5]") ? Integer.parseInt(text) : 1;
    }
}
