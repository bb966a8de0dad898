package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.Draft;
import io.millrace.launcher.ats.draft.DraftNode;
import io.millrace.launcher.ats.draft.Input;
import io.millrace.launcher.ats.remap.IpAllowFilters.Line;
import io.millrace.launcher.ats.source.Addresses;
import io.millrace.launcher.ats.source.Entry;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.ats.source.SourceFile;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.value.AddressSet;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/** ip_allow.yaml or ip_allow.config: filters for all requests, who may purge, and who is forwarded. */
public final class IpAllowImport {
    private static final List<String> PRIVATE =
            List.of("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1", "fc00::/7", "fe80::/10");

    /** One line, for clients or for origins. */
    private record Rule(SourceFile file, boolean out, Line line) {}

    private final Input input;
    private final IpAllowFilters filters;

    /** Reads ip_allow of that input. */
    public IpAllowImport(Input input) {
        this.input = input;
        filters = new IpAllowFilters(input);
    }

    /** What was read, for rules that have to say it themselves. */
    public IpAllowFilters filters() {
        return filters;
    }

    /** Reads the file, if there is one. */
    public void read() {
        List<Rule> rules = new ArrayList<>();
        String categories = input.named("cache.ip_categories.filename", "");
        SourceFile known = categories.isEmpty() ? null : input.read(categories);
        if (known != null) {
            readYaml(known, rules);
        }
        String name = input.named("cache.ip_allow.filename", "ip_allow.yaml");
        SourceFile yaml = name.endsWith(".yaml") ? input.read(name) : null;
        SourceFile lines = input.read(name.endsWith(".yaml") ? "ip_allow.config" : name);
        if (yaml != null) {
            readYaml(yaml, rules);
            if (lines != null) {
                input.name("ip_allow.config", "Traffic Server reads ip_allow.yaml instead");
            }
        } else if (lines != null) {
            readLines(lines, rules);
        }
        List<Line> destinations = new ArrayList<>();
        for (Rule rule : rules) {
            String problem = Addresses.problem(rule.line.addresses());
            if (problem != null) {
                rule.file.problem(rule.line.entry(), problem);
            } else if (rule.out) {
                explainOut(rule.line);
                destinations.add(rule.line);
            } else {
                filters.add(rule.line);
            }
        }
        if (filters.lines().isEmpty()) {
            withoutLines(yaml != null || lines != null, name);
        }
        if (isForward()) {
            writeDestinations(destinations);
        }
        filters.write();
        writePurge();
        writeForward();
    }

    /** Traffic Server lets nobody in then. A file that is left out may be one of a sample, one that says nothing is meant so. */
    private void withoutLines(boolean there, String name) {
        if (there) {
            filters.add(new Line(new Entry(name, 1, 1, ""), List.of("all"), false, List.of()));
        } else {
            input.warnings()
                    .add(
                            name
                                    + " is missing, and without it Traffic Server denies all requests; Millrace allows all requests that remap maps, unless access.filters denies them");
        }
    }

    private void readYaml(SourceFile file, List<Rule> rules) {
        Map<String, NodeTuple> top = Yaml.pairs(Yaml.root(file));
        NodeTuple known = top.get("ip_categories");
        if (known != null) {
            Yaml.section(file, known.getKeyNode());
            for (Node category : Yaml.elements(known.getValueNode())) {
                filters.addCategory(
                        Yaml.text(category, "name"), Addresses.of(Yaml.words(Yaml.value(category, "ip_addrs"))));
                Yaml.entry(file, category, category).note("the addresses replace the name of the category");
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
                if (!filters.hasCategory(category)) {
                    file.problem(entry, "no category is named '" + category + "'");
                }
                addresses.addAll(filters.category(category));
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
                        file.problem(
                                words.entry(), "'" + word + "' is not one of src_ip=, dest_ip=, action= and method=");
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
                        file.problem(entry, "'" + action + "' is not an action; use set_allow or set_deny");
                        yield false;
                    }
                };
        if (addresses.isEmpty()) {
            file.problem(entry, "has no addresses");
            return;
        }
        List<String> methods = new ArrayList<>();
        for (String word : words) {
            methods.add(word.strip().toUpperCase(Locale.ROOT));
        }
        if (methods.contains("ALL")) {
            methods.clear();
        }
        rules.add(new Rule(file, out, new Line(entry, List.copyOf(addresses), allow, List.copyOf(methods))));
    }

    private boolean isForward() {
        return !input.records().isOn("url_remap.remap_required", true);
    }

    private void explainOut(Line line) {
        if (line.allow() && line.methods().isEmpty()) {
            line.entry().note("Millrace allows connections to all origins that are not denied");
        } else if (!isForward() && line.methods().equals(List.of("CONNECT"))) {
            line.entry().note("requests to hosts that clients name are not forwarded: forward_proxy is off");
        } else if (!isForward() || (line.allows("GET") && line.allows("CONNECT"))) {
            line.entry().notMapped("connections to origins of rules are not filtered; remove the rules from remap");
        }
    }

    /** Where nothing is forwarded to, whatever the method: the first line with an address decides. */
    private void writeDestinations(List<Line> lines) {
        AddressSet usual = ForwardProxyKeys.DENY_DESTINATIONS.defaultValue();
        AddressSet denied = usual == null ? AddressSet.NONE : usual;
        AddressSet known = AddressSet.NONE;
        List<Entry> sources = new ArrayList<>();
        for (Line line : lines) {
            AddressSet mine = line.terms().sources().butNot(known);
            known = known.or(mine);
            if (line.allows("GET") && line.allows("CONNECT")) {
                continue;
            }
            line.entry()
                    .note(
                            "applies to forwarded requests with any method; connections to origins of rules are not filtered");
            if (!denied.covers(mine)) {
                denied = denied.or(mine);
                sources.add(line.entry());
            }
        }
        if (!sources.isEmpty()) {
            DraftNode node = input.draft().root().putWords("forward_proxy.deny_destinations", denied.texts());
            sources.forEach(node::from);
        }
    }

    private void writePurge() {
        Set<String> purgers = new LinkedHashSet<>();
        List<Entry> sources = new ArrayList<>();
        for (Line line : filters.lines()) {
            if (line.allows("PURGE")) {
                sources.add(line.entry());
                for (String address : line.addresses()) {
                    purgers.addAll(address.equals("all") ? List.of("0.0.0.0/0", "::/0") : List.of(address));
                }
            }
        }
        boolean usual = List.of("127.0.0.0/8", "::1").containsAll(purgers)
                || List.of("127.0.0.1", "::1").containsAll(purgers);
        if (!filters.lines().isEmpty() && !usual) {
            DraftNode node = input.draft()
                    .root()
                    .putWords("purge.allow", purgers.isEmpty() ? List.of("none") : List.copyOf(purgers));
            sources.forEach(node::from);
        }
    }

    /** remap_required 0: who is forwarded must be said, and everybody is never meant unasked. */
    private void writeForward() {
        Rec required = input.records().take("url_remap.remap_required");
        Rec ports = input.records().take("http.connect_ports");
        boolean forward = isForward();
        if (required == null || !forward) {
            if (required != null) {
                required.entry().same("forward_proxy.enabled");
            }
            return;
        }
        Draft draft = input.draft();
        draft.set("forward_proxy.enabled", "true", required.entry());
        Set<String> clients = new LinkedHashSet<>();
        filters.lines().stream().filter(line -> line.allows("GET")).forEach(line -> clients.addAll(line.addresses()));
        AddressSet all = AddressSet.parse(clients.toArray(String[]::new));
        boolean open =
                clients.isEmpty() || all.covers(AddressSet.parse("0.0.0.0/0")) || all.covers(AddressSet.parse("::/0"));
        if (open) {
            required.entry()
                    .notMapped(
                            "no file restricts the clients, so this would be an open proxy: forward_proxy.allow is set to private addresses; name your clients in this key");
        }
        draft.root()
                .putWords("forward_proxy.allow", open ? PRIVATE : List.copyOf(clients))
                .from(required.entry());
        if (ports != null && ports.value() != null) {
            draft.set("forward_proxy.connect_ports", RecordTable.split(ports.value()), ports.entry());
        }
    }
}
