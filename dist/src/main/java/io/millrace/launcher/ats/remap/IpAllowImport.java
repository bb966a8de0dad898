package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.remap.IpAllowFilters.Line;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
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

/**
 * The importer of ip_allow.yaml or ip_allow.config. Writes request filters, the addresses that may purge, and the
 * clients of the forward proxy. Confined to one thread.
 */
public final class IpAllowImport {
    /**
     * Private, loopback and link-local addresses. They are the clients of the forward proxy if the file does not
     * restrict them.
     */
    private static final List<String> PRIVATE =
            List.of("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1", "fc00::/7", "fe80::/10");

    /**
     * A line of the file.
     *
     * @param forOrigins whether the line applies to connections to origins, not to clients
     */
    private record Rule(SourceFile file, boolean forOrigins, Line line) {}

    private final ImportState state;
    private final IpAllowFilters filters;

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public IpAllowImport(ImportState state) {
        this.state = state;
        filters = new IpAllowFilters(state);
    }

    /** The imported filters. Some remap rules need copies of them. */
    public IpAllowFilters filters() {
        return filters;
    }

    /** Imports the file, if it exists. */
    public void read() {
        List<Rule> rules = new ArrayList<>();
        String categories = state.fileNameOf("cache.ip_categories.filename", "");
        SourceFile categoriesFile = categories.isEmpty() ? null : state.read(categories);
        if (categoriesFile != null) {
            readYaml(categoriesFile, rules);
        }
        String name = state.fileNameOf("cache.ip_allow.filename", "ip_allow.yaml");
        SourceFile yaml = name.endsWith(".yaml") ? state.read(name) : null;
        SourceFile lines = state.read(name.endsWith(".yaml") ? "ip_allow.config" : name);
        if (yaml != null) {
            readYaml(yaml, rules);
            if (lines != null) {
                state.markNotMapped(
                        "ip_allow.config", "the file is not used: ip_allow.yaml exists and takes precedence");
            }
        } else if (lines != null) {
            readLines(lines, rules);
        }
        List<Line> destinations = new ArrayList<>();
        for (Rule rule : rules) {
            String problem = Addresses.problem(rule.line.addresses());
            if (problem != null) {
                rule.file.problem(rule.line.entry(), problem);
            } else if (rule.forOrigins) {
                explainForOrigins(rule.line);
                destinations.add(rule.line);
            } else {
                filters.add(rule.line);
            }
        }
        if (filters.lines().isEmpty()) {
            importNoRules(yaml != null || lines != null, name);
        }
        if (isForward()) {
            writeDestinations(destinations);
        }
        filters.write();
        writePurge();
        writeForward();
    }

    /**
     * Handles the case of no rules, in which Traffic Server denies all clients. An empty file is imported with this
     * meaning. A missing file only causes a warning, since the directory may be an incomplete copy.
     */
    private void importNoRules(boolean fileExists, String name) {
        if (fileExists) {
            filters.add(new Line(new Entry(name, 1, 1, ""), List.of("all"), false, List.of()));
        } else {
            state.warnings()
                    .add(name
                            + " is missing. Traffic Server denies all clients without it; here all clients may"
                            + " request what remap maps: set access.filters to restrict them");
        }
    }

    private void readYaml(SourceFile file, List<Rule> rules) {
        Map<String, NodeTuple> top = Yaml.pairs(Yaml.root(file));
        NodeTuple categoriesPair = top.get("ip_categories");
        if (categoriesPair != null) {
            Yaml.section(file, categoriesPair.getKeyNode());
            for (Node category : Yaml.elements(categoriesPair.getValueNode())) {
                filters.addCategory(
                        Yaml.text(category, "name"), Addresses.of(Yaml.words(Yaml.value(category, "ip_addrs"))));
                Yaml.entry(file, category, category)
                        .note("the category is replaced by its addresses wherever it is named");
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
            boolean forOrigins = false;
            for (String word : words.words()) {
                String value = word.substring(word.indexOf('=') + 1);
                switch (word.substring(0, Math.max(0, word.indexOf('='))).toLowerCase(Locale.ROOT)) {
                    case "src_ip" -> addresses.add(Addresses.of(value));
                    case "dest_ip" -> {
                        forOrigins = true;
                        addresses.add(Addresses.of(value));
                    }
                    case "action" -> action = value;
                    case "method" -> methods.addAll(List.of(value.split("[|,]", -1)));
                    default ->
                        file.problem(
                                words.entry(), "'" + word + "' is not one of src_ip=, dest_ip=, action= and method=");
                }
            }
            add(file, words.entry(), forOrigins, addresses, action, methods, rules);
        }
    }

    private static void add(
            SourceFile file,
            Entry entry,
            boolean forOrigins,
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
            file.problem(entry, "the rule has no addresses");
            return;
        }
        List<String> methods = new ArrayList<>();
        for (String word : words) {
            methods.add(word.strip().toUpperCase(Locale.ROOT));
        }
        if (methods.contains("ALL")) {
            methods.clear();
        }
        rules.add(new Rule(file, forOrigins, new Line(entry, List.copyOf(addresses), allow, List.copyOf(methods))));
    }

    private boolean isForward() {
        return !state.records().isOn("url_remap.remap_required", true);
    }

    private void explainForOrigins(Line line) {
        if (line.allow() && line.methods().isEmpty()) {
            line.entry().note("the rule is not needed: connections to origins are allowed by default");
        } else if (!isForward() && line.methods().equals(List.of("CONNECT"))) {
            line.entry().note("forward_proxy is off: requests for hosts without a remap rule are not forwarded");
        } else if (!isForward() || (line.allows("GET") && line.allows("CONNECT"))) {
            line.entry()
                    .notMapped("remap rules are not filtered by the address of the origin; leave out"
                            + " the rules whose origin must not be reached");
        }
    }

    /**
     * Writes the origin addresses to which the forward proxy does not connect. For each address, the first line that
     * contains it decides. The keys in Millrace apply to all methods.
     */
    private void writeDestinations(List<Line> lines) {
        AddressSet deniedByDefault = ForwardProxyKeys.DENY_DESTINATIONS.defaultValue();
        AddressSet denied = deniedByDefault == null ? AddressSet.NONE : deniedByDefault;
        AddressSet decided = AddressSet.NONE;
        List<Entry> sources = new ArrayList<>();
        for (Line line : lines) {
            AddressSet undecided = line.terms().sources().butNot(decided);
            decided = decided.or(undecided);
            if (line.allows("GET") && line.allows("CONNECT")) {
                continue;
            }
            line.entry()
                    .note("the rule applies to the forward proxy only, for all methods; remap rules are not filtered by"
                            + " the address of the origin");
            if (!denied.covers(undecided)) {
                denied = denied.or(undecided);
                sources.add(line.entry());
            }
        }
        if (!sources.isEmpty()) {
            DraftNode node = state.draft().root().putWords("forward_proxy.deny_destinations", denied.texts());
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
        boolean onlyLocal = List.of("127.0.0.0/8", "::1").containsAll(purgers)
                || List.of("127.0.0.1", "::1").containsAll(purgers);
        if (!filters.lines().isEmpty() && !onlyLocal) {
            DraftNode node = state.draft()
                    .root()
                    .putWords("purge.allow", purgers.isEmpty() ? List.of("none") : List.copyOf(purgers));
            sources.forEach(node::from);
        }
    }

    /**
     * Imports {@code url_remap.remap_required} 0 as a forward proxy. If the files do not restrict the clients, only
     * private addresses are written, so that the import never configures an open proxy.
     */
    private void writeForward() {
        Rec required = state.records().getAndMarkProcessed("url_remap.remap_required");
        Rec ports = state.records().getAndMarkProcessed("http.connect_ports");
        boolean forward = isForward();
        if (required == null || !forward) {
            if (required != null) {
                required.entry().matchesDefaultOf("forward_proxy.enabled");
            }
            return;
        }
        Draft draft = state.draft();
        draft.set("forward_proxy.enabled", "true", required.entry());
        Set<String> clients = new LinkedHashSet<>();
        filters.lines().stream().filter(line -> line.allows("GET")).forEach(line -> clients.addAll(line.addresses()));
        AddressSet all = AddressSet.parse(clients.toArray(String[]::new));
        boolean open =
                clients.isEmpty() || all.covers(AddressSet.parse("0.0.0.0/0")) || all.covers(AddressSet.parse("::/0"));
        if (open) {
            required.entry()
                    .notMapped("the imported files do not restrict the clients, which would make an open proxy:"
                            + " forward_proxy.allow has private addresses; list your clients there");
        }
        draft.root()
                .putWords("forward_proxy.allow", open ? PRIVATE : List.copyOf(clients))
                .from(required.entry());
        if (ports != null && ports.value() != null) {
            draft.set("forward_proxy.connect_ports", RecordTable.split(ports.value()), ports.entry());
        }
    }
}
