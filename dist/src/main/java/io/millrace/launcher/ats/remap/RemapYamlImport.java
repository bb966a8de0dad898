package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.draft.JoinedYaml;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/** The importer of remap.yaml, the YAML form of remap.config. Confined to one thread. */
public final class RemapYamlImport {
    /** Limit of included files. Traffic Server has none. */
    private static final int INCLUDES_MAX = 1000;

    private static final List<String> KEYS = List.of("remap", "acl_filters");

    /**
     * The keys of a filter, with the corresponding words of remap.config. They have the order in which Traffic Server
     * reads them. If the word ends with {@code =~}, each value gets the prefix {@code ~}, which excludes its addresses.
     */
    private static final Map<String, String> TERMS = new LinkedHashMap<>();

    static {
        TERMS.put("method", "method");
        TERMS.put("src_ip", "src_ip");
        TERMS.put("src_ip_invert", "src_ip=~");
        TERMS.put("src_ip_category", "src_ip_category");
        TERMS.put("src_ip_category_invert", "src_ip_category=~");
        TERMS.put("in_ip", "in_ip");
        TERMS.put("in_ip_invert", "in_ip=~");
        TERMS.put("action", "action");
    }

    private static final Set<String> DIRECTIVES =
            Set.of("include", "activate_filter", "deactivate_filter", "delete_filter", "define_filter");

    private static final Set<String> UNDERSTOOD =
            Set.of("type", "from", "to", "acl_filter", "plugins", "strategy", "redirect", "mapid");

    private final ImportState state;
    private final RemapRules rules;
    private final RemapFilters filters;
    /** Files whose reading has begun but not ended, to detect a file that includes itself. */
    private final Deque<String> openFiles = new ArrayDeque<>();

    private int includes;

    /** Creates an import from {@code state} that adds rules to {@code rules}. */
    public RemapYamlImport(ImportState state, RemapRules rules) {
        this.state = state;
        this.rules = rules;
        filters = rules.filters();
    }

    /** Imports the file, if it exists. */
    public void read() {
        read("remap.yaml");
        filters.finish();
    }

    /** @return the problem; null if the file was read */
    private @Nullable String read(String name) {
        if (openFiles.contains(name)) {
            return " includes itself";
        }
        if (++includes > INCLUDES_MAX) {
            return ": more than " + INCLUDES_MAX + " files are included";
        }
        if (state.files().containsKey(name)) {
            return " is included twice; copy its content to the second place";
        }
        JoinedYaml yaml = JoinedYaml.read(state, name, false, KEYS);
        if (yaml == null) {
            return ": no such file";
        }
        openFiles.push(name);
        for (JoinedYaml.Item item : yaml.pairs("acl_filters")) {
            define(item.entry(), item.name(), item.node());
        }
        for (JoinedYaml.Item item : yaml.items("remap")) {
            readElement(item.node(), item.entry());
        }
        openFiles.pop();
        return null;
    }

    private void readElement(Node node, Entry entry) {
        Map<String, NodeTuple> pairs = Yaml.pairs(node);
        for (String key :
                List.of("include", "activate_filter", "deactivate_filter", "delete_filter", "define_filter")) {
            if (pairs.containsKey(key)) {
                readDirective(key, pairs.get(key).getValueNode(), entry);
                for (String other : pairs.keySet()) {
                    if (!other.equals(key)) {
                        entry.note(other + " is ignored, as in Traffic Server");
                    }
                }
                return;
            }
        }
        readRule(node, entry);
    }

    private void readDirective(String key, Node value, Entry entry) {
        switch (key) {
            case "include" -> include(Yaml.text(value), entry);
            case "activate_filter" -> filters.activate(entry, Yaml.text(value), true);
            case "deactivate_filter" -> filters.activate(entry, Yaml.text(value), false);
            case "delete_filter" -> filters.delete(entry, Yaml.text(value));
            default -> {
                int count = 0;
                for (Map.Entry<String, NodeTuple> pair : Yaml.pairs(value).entrySet()) {
                    if (count++ == 0) {
                        define(entry, pair.getKey(), pair.getValue().getValueNode());
                    } else {
                        entry.note(pair.getKey() + " is ignored, as in Traffic Server");
                    }
                }
                if (count == 0) {
                    state.problem(entry, "define_filter needs a name with the settings of the filter below it");
                }
            }
        }
    }

    private void include(String name, Entry entry) {
        entry.note("the rules of the file replace the entry");
        String relative = state.relative(name);
        for (String each : state.isDirectory(relative) ? state.list(relative) : List.of(relative)) {
            boolean before = filters.beginFile();
            String problem = read(each);
            filters.endFile(before);
            if (problem != null) {
                state.problem(entry, each + problem);
            }
        }
    }

    private void define(Entry entry, String name, Node node) {
        RemapFilter filter = filters.defineAnew(entry, name);
        readTerms(filter, node, entry);
    }

    private void readTerms(RemapFilter filter, @Nullable Node node, Entry entry) {
        if (!(node instanceof MappingNode)) {
            state.problem(entry, "a filter must consist of names and values");
            return;
        }
        for (Map.Entry<String, String> term : TERMS.entrySet()) {
            Node value = Yaml.value(node, term.getKey());
            String name = term.getValue().replace("=~", "");
            boolean negative = term.getValue().endsWith("~");
            for (Node each : Yaml.elements(value)) {
                take(filter, entry, name, (negative ? "~" : "") + Yaml.text(each));
            }
        }
        if (Set.of("true", "yes", "on", "y")
                .contains(Yaml.text(node, "internal").toLowerCase(java.util.Locale.ROOT))) {
            filter.setInternal();
        }
        for (String key : Yaml.pairs(node).keySet()) {
            if (!TERMS.containsKey(key) && !key.equals("internal")) {
                entry.note(key + " in a filter is ignored, as in Traffic Server");
            }
        }
    }

    private void take(RemapFilter filter, Entry entry, String name, String value) {
        try {
            if (value.isEmpty()) {
                throw new IllegalArgumentException(name + " is empty");
            }
            filters.addTerm(filter, entry, name, value);
        } catch (IllegalArgumentException e) {
            state.problem(entry, String.valueOf(e.getMessage()));
        }
    }

    private void readRule(Node node, Entry entry) {
        String kind = Yaml.text(node, "type");
        List<String> from = urls(Yaml.value(node, "from"), true);
        List<String> to = urls(Yaml.value(node, "to"), false);
        if (kind.isEmpty() || from.isEmpty() || to.isEmpty()) {
            state.problem(entry, "a rule needs type, from and to, and to needs a scheme and a host");
            return;
        }
        for (String each : from) {
            RemapRule rule = rules.begin(entry, kind, each, to.get(0));
            if (rule == null) {
                return;
            }
            readOptionalKeys(rule, node, entry);
            rules.write(rule);
        }
        if (from.size() > 1) {
            entry.note("a rule without a scheme applies to http and https: two rules in Millrace");
        }
    }

    private void readOptionalKeys(RemapRule rule, Node node, Entry entry) {
        Node filter = Yaml.value(node, "acl_filter");
        if (filter != null) {
            readTerms(filters.begin(entry), filter, entry);
        }
        Node redirect = Yaml.value(node, "redirect");
        if (redirect != null && rule.verb().equals("map_with_referer")) {
            List<String> expressions = new ArrayList<>();
            Yaml.elements(Yaml.value(redirect, "regex")).forEach(each -> expressions.add(Yaml.text(each)));
            if (Yaml.text(redirect, "url").isEmpty() || expressions.isEmpty()) {
                state.problem(entry, "redirect needs url and regex");
            }
            rules.setReferers(rule, Yaml.text(redirect, "url"), expressions);
        }
        for (Node plugin : Yaml.elements(Yaml.value(node, "plugins"))) {
            rules.arguments().importArgument("plugin=" + Yaml.text(plugin, "name"), rule);
            for (Node parameter : Yaml.elements(Yaml.value(plugin, "params"))) {
                rules.arguments().importArgument("pparam=" + Yaml.text(parameter), rule);
            }
        }
        if (!Yaml.text(node, "strategy").isEmpty()) {
            rule.strategy(Yaml.text(node, "strategy"));
        }
        for (String key : Yaml.pairs(node).keySet()) {
            if (!UNDERSTOOD.contains(key) && !DIRECTIVES.contains(key)) {
                entry.notMapped(key + " is not understood");
            }
        }
    }

    /**
     * Returns the URLs that a node describes, as a whole or in parts. A {@code from} host without a scheme gives a URL
     * for http, and one for https if a listening address has TLS.
     */
    private List<String> urls(@Nullable Node node, boolean from) {
        String whole = Yaml.text(node, "url");
        if (!whole.isEmpty()) {
            return List.of(whole);
        }
        String scheme = Yaml.text(node, "scheme");
        String host = Yaml.text(node, "host");
        String port = Yaml.text(node, "port");
        String path = Yaml.text(node, "path");
        String rooted = path.startsWith("/") ? path : "/" + path;
        if (host.isEmpty()) {
            return from && path.startsWith("/") ? List.of(path) : List.of();
        }
        String afterScheme = "://" + host + (port.isEmpty() ? "" : ":" + port) + rooted;
        if (!scheme.isEmpty()) {
            return List.of(scheme + afterScheme);
        }
        boolean secure = state.draft().elements("listen").stream().anyMatch(listener -> listener.find("tls") != null);
        return !from
                ? List.of()
                : secure ? List.of("http" + afterScheme, "https" + afterScheme) : List.of("http" + afterScheme);
    }
}
