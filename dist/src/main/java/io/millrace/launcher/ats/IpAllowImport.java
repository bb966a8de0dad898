package io.millrace.launcher.ats;

import io.millrace.launcher.ats.Records.Rec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/** ip_allow.yaml or ip_allow.config: filters for all requests, who may purge, and who is forwarded. */
final class IpAllowImport {
    /** What Traffic Server knows, and PATCH. */
    private static final List<String> METHODS =
            List.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PURGE", "PUSH");

    /** How names of filters begin that are made here. */
    static final String NAME_PREFIX = "ip-allow-";

    private static final List<String> PRIVATE =
            List.of("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1", "fc00::/7", "fe80::/10");

    /** @param methods none for all of them */
    private record Rule(
            SourceFile file, Entry entry, boolean out, List<String> addresses, boolean allow, List<String> methods) {
        boolean allows(String method) {
            return methods.isEmpty() ? allow : allow == methods.contains(method);
        }
    }

    private final Input input;
    private final List<Rule> inbound = new ArrayList<>();
    private final Map<String, List<String>> categories = new HashMap<>();
    private final Set<String> named = new LinkedHashSet<>();

    IpAllowImport(Input input) {
        this.input = input;
    }

    void read() {
        SourceFile yaml = input.read("ip_allow.yaml");
        SourceFile lines = input.read("ip_allow.config");
        List<Rule> rules = new ArrayList<>();
        if (yaml != null) {
            readYaml(yaml, rules);
            if (lines != null) {
                input.name("ip_allow.config", "ip_allow.yaml stands beside it, and that counts");
            }
        } else if (lines != null) {
            readLines(lines, rules);
        }
        for (Rule rule : rules) {
            String problem = Addresses.problem(rule.addresses);
            if (problem != null) {
                rule.file.problem(rule.entry, problem);
            } else if (rule.out) {
                explainOut(rule);
            } else {
                inbound.add(rule);
            }
        }
        writeFilters();
        writePurge();
        writeForward();
    }

    /** The addresses of a category; none where it is not known. */
    List<String> category(String name) {
        return categories.getOrDefault(name, List.of());
    }

    private void readYaml(SourceFile file, List<Rule> rules) {
        Map<String, NodeTuple> top = Yaml.pairs(Yaml.root(file));
        NodeTuple known = top.get("ip_categories");
        if (known != null) {
            Yaml.section(file, known.getKeyNode());
            for (Node category : Yaml.elements(known.getValueNode())) {
                categories.put(Yaml.text(category, "name"), Addresses.of(Yaml.words(Yaml.value(category, "ip_addrs"))));
                Yaml.entry(file, category, category).note("its addresses stand where its name did");
            }
        }
        NodeTuple list = top.get("ip_allow");
        if (list == null) {
            return;
        }
        Yaml.section(file, list.getKeyNode());
        for (Node node : Yaml.elements(list.getValueNode())) {
            Entry entry = Yaml.entry(file, node, node);
            List<String> addresses = new ArrayList<>(Addresses.of(Yaml.words(Yaml.value(node, "ip_addrs"))));
            for (String category : Yaml.words(Yaml.value(node, "ip_categories"))) {
                if (!categories.containsKey(category)) {
                    file.problem(entry, "no category is named '" + category + "'");
                }
                addresses.addAll(category(category));
            }
            Node methods = Yaml.value(node, "methods");
            List<String> words = Yaml.words(methods == null ? Yaml.value(node, "method") : methods);
            add(
                    file,
                    entry,
                    Yaml.text(node, "apply").equalsIgnoreCase("out"),
                    addresses,
                    Yaml.text(node, "action"),
                    words,
                    rules);
        }
    }

    private void readLines(SourceFile file, List<Rule> rules) {
        for (Words words : Words.of(file)) {
            List<String> addresses = new ArrayList<>();
            List<String> methods = new ArrayList<>();
            String action = "";
            boolean out = false;
            for (String word : words.words()) {
                String value = word.substring(word.indexOf('=') + 1);
                switch (word.substring(0, Math.max(0, word.indexOf('='))).toLowerCase(Locale.ROOT)) {
                    case "src_ip" -> addresses.add(Addresses.of(value));
                    case "dest_ip" -> {
                        out = true;
                        addresses.add(Addresses.of(value));
                    }
                    case "action" -> action = value;
                    case "method" -> methods.addAll(List.of(value.split("[|,]", -1)));
                    default ->
                        file.problem(words.entry(), "'" + word + "' is none of src_ip=, dest_ip=, action= and method=");
                }
            }
            add(file, words.entry(), out, addresses, action, methods, rules);
        }
    }

    private static void add(
            SourceFile file,
            Entry entry,
            boolean out,
            List<String> addresses,
            String action,
            List<String> words,
            List<Rule> rules) {
        boolean allow =
                switch (action.toLowerCase(Locale.ROOT)) {
                    case "ip_allow", "allow", "set_allow" -> true;
                    case "ip_deny", "deny", "set_deny" -> false;
                    default -> {
                        file.problem(entry, "'" + action + "' is no action; it is set_allow or set_deny");
                        yield false;
                    }
                };
        if (addresses.isEmpty()) {
            file.problem(entry, "names no addresses");
            return;
        }
        List<String> methods = new ArrayList<>();
        for (String word : words) {
            methods.add(word.strip().toUpperCase(Locale.ROOT));
        }
        if (methods.contains("ALL")) {
            methods.clear();
        }
        rules.add(new Rule(file, entry, out, addresses, allow, methods));
    }

    private void explainOut(Rule rule) {
        boolean forward = !input.records().isOn("url_remap.remap_required", true);
        if (rule.allow && rule.methods.isEmpty()) {
            rule.entry.note("origins may be reached unless something forbids it");
        } else if (!forward && rule.methods.equals(List.of("CONNECT"))) {
            rule.entry.note("nothing is forwarded to hosts that clients name: forward_proxy is off");
        } else if (forward && !rule.allow) {
            rule.entry.notMapped(
                    "forward_proxy.deny_destinations has private and reserved ranges already; write what else it shall have, and these again");
        } else {
            rule.entry.notMapped("origins that rules name are not filtered; leave them out of remap");
        }
    }

    /** The address chooses the rule, and its methods then decide: here as two filters in a row. */
    private void writeFilters() {
        for (Rule rule : inbound) {
            if (rule.methods.isEmpty()) {
                filter("access.filters", rule, rule.allow, List.of());
            } else {
                filter("access.filters", rule, rule.allow, rule.methods);
                filter("access.filters", rule, !rule.allow, List.of());
            }
        }
        if (!inbound.isEmpty() && inbound.stream().noneMatch(rule -> rule.allow || !rule.methods.isEmpty())) {
            input.draft().root().element("access.filters").put("action", "deny");
        }
    }

    private DraftNode filter(String list, Rule rule, boolean allow, List<String> methods) {
        DraftNode node = input.draft().element(list, rule.entry);
        node.put("action", allow ? "allow" : "deny");
        node.putWords("src_ip", rule.addresses);
        if (!methods.isEmpty()) {
            node.putWords("methods", methods);
        }
        return node;
    }

    private void writePurge() {
        Set<String> purgers = new LinkedHashSet<>();
        List<Entry> sources = new ArrayList<>();
        for (Rule rule : inbound) {
            if (rule.allows("PURGE")) {
                sources.add(rule.entry);
                for (String address : rule.addresses) {
                    purgers.addAll(address.equals("all") ? List.of("0.0.0.0/0", "::/0") : List.of(address));
                }
            }
        }
        boolean usual = List.of("127.0.0.0/8", "::1").containsAll(purgers)
                || List.of("127.0.0.1", "::1").containsAll(purgers);
        if (!inbound.isEmpty() && !usual) {
            DraftNode node = input.draft()
                    .root()
                    .putWords("purge.allow", purgers.isEmpty() ? List.of("none") : List.copyOf(purgers));
            sources.forEach(node::from);
        }
    }

    /** Names of filters that do for a rule what those for all do, for rules whose own filters would come before these. */
    List<String> namesForRules() {
        if (named.isEmpty()) {
            List<String> before = new ArrayList<>();
            int number = 0;
            for (Rule rule : inbound) {
                List<String> rest = new ArrayList<>(rule.addresses);
                rest.removeAll(before);
                List<String> denied = rule.methods.isEmpty()
                        ? List.of()
                        : METHODS.stream()
                                .filter(method -> !rule.allows(method))
                                .toList();
                if (!rest.isEmpty()
                        && !(rule.allow && rule.methods.isEmpty())
                        && (rule.methods.isEmpty() || !denied.isEmpty())) {
                    number++;
                    before.forEach(address -> rest.add("~" + address));
                    nameFilter(NAME_PREFIX + number, rule.entry, rest, denied);
                }
                before.addAll(rule.addresses);
            }
            boolean everybody = before.contains("all") || before.containsAll(List.of("0.0.0.0/0", "::/0"));
            if (!everybody && !inbound.isEmpty()) {
                nameFilter(
                        NAME_PREFIX + "rest",
                        inbound.get(inbound.size() - 1).entry,
                        before.stream().map(address -> "~" + address).toList(),
                        List.of());
            }
        }
        return List.copyOf(named);
    }

    /**
     * The methods that a rule with such filters takes; empty for all. A list of methods that are allowed refuses every other one, and
     * filters that deny can only name those that are known.
     */
    List<String> methodsForRules() {
        return inbound.stream().noneMatch(rule -> rule.allow && !rule.methods.isEmpty())
                ? List.of()
                : METHODS.stream()
                        .filter(method -> !List.of("TRACE", "CONNECT", "PURGE").contains(method))
                        .filter(method -> inbound.stream().anyMatch(rule -> rule.allows(method)))
                        .toList();
    }

    private void nameFilter(String name, Entry entry, List<String> addresses, List<String> methods) {
        DraftNode node = input.draft().element("filters", entry);
        node.put("name", name);
        node.put("action", "deny");
        node.putWords("src_ip", addresses);
        if (!methods.isEmpty()) {
            node.putWords("methods", methods);
        }
        named.add(name);
    }

    /** remap_required 0: who is forwarded must be said, and everybody is never meant unasked. */
    private void writeForward() {
        Rec required = input.records().take("url_remap.remap_required");
        Rec ports = input.records().take("http.connect_ports");
        boolean forward = !input.records().isOn("url_remap.remap_required", true);
        if (ports != null && !forward) {
            ports.entry().note("nothing is forwarded to hosts that clients name: forward_proxy is off");
        }
        if (required == null || !forward) {
            if (required != null) {
                required.entry().same("forward_proxy.enabled");
            }
            return;
        }
        Draft draft = input.draft();
        draft.set("forward_proxy.enabled", "true", required.entry());
        Set<String> clients = new LinkedHashSet<>();
        inbound.stream().filter(rule -> rule.allows("GET")).forEach(rule -> clients.addAll(rule.addresses));
        boolean open = clients.isEmpty()
                || clients.stream()
                        .anyMatch(each -> List.of("all", "0.0.0.0/0", "::/0").contains(each));
        if (open) {
            required.entry()
                    .notMapped(
                            "no file says for whom alone, which would make an open proxy: forward_proxy.allow has private addresses; name your clients there");
        }
        draft.root()
                .putWords("forward_proxy.allow", open ? PRIVATE : List.copyOf(clients))
                .from(required.entry());
        if (ports != null && ports.value() != null) {
            draft.set("forward_proxy.connect_ports", RecordTable.split(ports.value()), ports.entry());
        }
    }
}
