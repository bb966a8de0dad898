package io.millrace.launcher.ats;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Filters of remap.config, on a line and by name. A rule whose filter cannot be said is left out, so that nobody gets in by it. */
final class RemapFilters {
    private static final String IP_ALLOW = "ip_allow";

    /** What a filter says. */
    private static final class Filter {
        private final Entry entry;
        private final String name;
        private String action = "allow";
        private final List<String> sources = new ArrayList<>();
        private final List<String> listeners = new ArrayList<>();
        private final List<String> methods = new ArrayList<>();
        private boolean internal;
        private boolean empty = true;
        /** Its name in the configuration; empty while it is not in it. */
        private String written = "";

        Filter(Entry entry, String name) {
            this.entry = entry;
            this.name = name;
        }

        boolean allows() {
            return action.endsWith("allow");
        }

        boolean isSet() {
            return action.startsWith("set_");
        }

        void write(DraftNode node, boolean allow, boolean withMethods) {
            node.put("action", allow ? "allow" : "deny");
            if (!sources.isEmpty()) {
                node.putWords("src_ip", sources);
            }
            if (!listeners.isEmpty()) {
                node.putWords("in_ip", listeners);
            }
            if (withMethods && !methods.isEmpty()) {
                node.putWords("methods", methods);
            }
        }
    }

    private final Input input;
    private final IpAllowImport ipAllow;
    private final Map<String, Filter> defined = new LinkedHashMap<>();
    private final Set<String> taken = new HashSet<>();
    private final List<String> active = new ArrayList<>(List.of(IP_ALLOW));
    private Filter inline = new Filter(new Entry("", 0, 0, ""), "");

    RemapFilters(Input input, IpAllowImport ipAllow) {
        this.input = input;
        this.ipAllow = ipAllow;
    }

    /** Names of the filters that hold for the rules that follow. */
    List<String> active() {
        return List.copyOf(active);
    }

    void directive(SourceFile file, Words words) {
        String name = words.at(1);
        if (name.isEmpty()) {
            file.problem(words.entry(), words.at(0) + " needs the name of a filter");
            return;
        }
        switch (words.at(0).toLowerCase(Locale.ROOT)) {
            case ".definefilter", ".deffilter", ".defflt" -> define(file, words, name);
            case ".activatefilter", ".activefilter", ".usefilter", ".useflt" -> activate(file, words, name, true);
            case ".deactivatefilter", ".unactivefilter", ".unusefilter", ".deuseflt", ".unuseflt" ->
                activate(file, words, name, false);
            case ".deletefilter", ".delfilter", ".delflt" -> {
                defined.remove(name);
                active.remove(name);
                words.entry().note("rules from here on do without it");
            }
            default -> file.problem(words.entry(), "'" + words.at(0) + "' is no directive");
        }
    }

    private void define(SourceFile file, Words words, String name) {
        Filter filter = defined.computeIfAbsent(name, n -> new Filter(words.entry(), n));
        if (!filter.written.isEmpty()) {
            words.entry().notMapped("adds to a filter that rules before it have");
            return;
        }
        for (int i = 2; i < words.words().size(); i++) {
            if (!take(filter, file, words, i)) {
                file.problem(
                        words.entry().line(),
                        words.columns().get(i),
                        "'" + words.at(i) + "' is nothing that a filter has");
            }
        }
        if (!filter.entry.equals(words.entry())) {
            words.entry().note("added to that of " + filter.entry.place());
        }
    }

    private void activate(SourceFile file, Words words, String name, boolean on) {
        if (!name.equals(IP_ALLOW) && !defined.containsKey(name)) {
            file.problem(words.entry(), "no filter is named '" + name + "'");
            return;
        }
        active.remove(name);
        if (on) {
            active.add(name);
        }
        words.entry().note("rules from here on " + (on ? "have it in their filters" : "do without it"));
    }

    /** Begins a rule's own filter. */
    void begin() {
        inline = new Filter(new Entry("", 0, 0, ""), "");
    }

    /** Takes a word that is about a filter; false for any other. */
    boolean take(SourceFile file, Words words, int index) {
        return take(inline, file, words, index);
    }

    private boolean take(Filter filter, SourceFile file, Words words, int index) {
        String word = words.at(index);
        int equals = word.indexOf('=');
        String value = equals < 0 ? "" : word.substring(equals + 1);
        switch ((equals < 0 ? word : word.substring(0, equals)).toLowerCase(Locale.ROOT)) {
            case "@action" -> {
                filter.action = value.toLowerCase(Locale.ROOT);
                if (!List.of("allow", "deny", "add_allow", "add_deny", "set_allow", "set_deny")
                        .contains(filter.action)) {
                    file.problem(words.entry().line(), words.columns().get(index), "'" + value + "' is no action");
                }
            }
            case "@src_ip" -> filter.sources.add(Addresses.of(value));
            case "@in_ip" -> filter.listeners.add(Addresses.of(value));
            case "@src_ip_category" -> {
                if (ipAllow.category(value).isEmpty()) {
                    file.problem(
                            words.entry().line(), words.columns().get(index), "no category is named '" + value + "'");
                }
                filter.sources.addAll(ipAllow.category(value));
            }
            case "@method" -> filter.methods.add(value.toUpperCase(Locale.ROOT));
            case "@internal" -> filter.internal = true;
            default -> {
                return false;
            }
        }
        filter.empty = false;
        for (List<String> addresses : List.of(filter.sources, filter.listeners)) {
            String problem = addresses.isEmpty() ? null : Addresses.problem(addresses);
            if (problem != null) {
                file.problem(words.entry().line(), words.columns().get(index), problem);
                addresses.clear();
            }
        }
        return true;
    }

    /** Those of a rule, in the order in which Traffic Server's version asks them. */
    private List<Filter> of(RemapRule rule) {
        List<Filter> filters = new ArrayList<>();
        if (!inline.empty) {
            filters.add(inline);
        }
        for (String name : rule.activeFilters()) {
            Filter filter = defined.get(name);
            if (filter != null) {
                filters.add(filter);
            }
        }
        if (!input.has("records.yaml")) {
            // Before version 10 whatever denies came first.
            filters.sort((a, b) -> Boolean.compare(a.allows(), b.allows()));
        }
        return filters;
    }

    /** Whether nobody can pass: what is for Traffic Server's own requests lets nobody through here. */
    private static boolean isForNobody(List<Filter> filters) {
        List<Filter> allowing = filters.stream().filter(Filter::allows).toList();
        return !allowing.isEmpty() && allowing.stream().allMatch(filter -> filter.internal);
    }

    /** Writes the rule's filters. */
    void write(RemapRule rule, DraftNode node) {
        List<Filter> filters = of(rule);
        if (rule.verb().equals("reverse_map")) {
            if (!inline.empty) {
                rule.entry().note("filters are for requests, and this rule is for answers");
            }
            return;
        }
        if (isForNobody(filters)) {
            // Without the rule its requests would fall to a wider one.
            rule.entry().note("is for Traffic Server's own requests alone; Millrace makes none, so nobody passes");
            filters.stream()
                    .filter(filter -> filter.internal)
                    .forEach(filter -> filter.entry.note("is for Traffic Server's own requests alone"));
            node.element("filters").put("action", "deny");
            return;
        }
        boolean general = rule.activeFilters().contains(IP_ALLOW);
        boolean allows = filters.stream().anyMatch(filter -> filter.allows() && !filter.isSet());
        if (allows && general) {
            List<String> methods = ipAllow.methodsForRules();
            if (!methods.isEmpty()) {
                node.putWords("methods", methods);
            }
            ipAllow.namesForRules().forEach(name -> node.elementWord("filters", name));
        }
        for (Filter filter : filters) {
            write(filter, node);
        }
        long several = filters.stream().filter(Filter::allows).count();
        if (several > 1) {
            rule.entry().note("where several filters allow, one of them is enough here");
        }
        if (!general
                && !filters.stream().anyMatch(Filter::allows)
                && !input.draft().elements("access.filters").isEmpty()) {
            node.element("filters").put("action", "allow");
        }
    }

    private void write(Filter filter, DraftNode node) {
        if (filter.internal) {
            filter.entry.note("Millrace makes no requests of its own");
            return;
        }
        if (filter.name.isEmpty()) {
            filter.write(node.element("filters"), filter.allows(), true);
        } else {
            if (filter.written.isEmpty()) {
                filter.written = freeName(filter.name);
                DraftNode named = input.draft().element("filters", filter.entry);
                named.put("name", filter.written);
                filter.write(named, filter.allows(), true);
            }
            node.elementWord("filters", filter.written);
        }
        if (filter.action.equals("set_deny")) {
            // Methods that it does not list are allowed, and nothing else is asked.
            filter.write(node.element("filters"), true, false);
        }
    }

    /** A name that no other filter has: one that was deleted may be defined anew, and not every name is one here. */
    private String freeName(String name) {
        String word = name.replaceAll("[^A-Za-z0-9._-]", "-");
        String free = word.startsWith(IpAllowImport.NAME_PREFIX) ? "own-" + word : word;
        for (int i = 2; !taken.add(free); i++) {
            free = word + "-" + i;
        }
        return free;
    }

    /** Says of filters that no rule has. */
    void finish() {
        for (Filter filter : defined.values()) {
            if (filter.written.isEmpty()) {
                filter.entry.note("no rule has it");
            }
        }
    }
}
