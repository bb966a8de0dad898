package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.DraftNode;
import io.millrace.launcher.ats.draft.Input;
import io.millrace.launcher.ats.source.Entry;
import io.millrace.launcher.ats.source.SourceFile;
import io.millrace.launcher.ats.source.Words;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Filters of remap.config, on a line and by name. As Traffic Server does it, a request has to pass every one of them; with
 * {@code acl_behavior_policy} 1 the first for its client decides. A rule whose filter cannot be said is left out, so that nobody gets
 * in by it. Confined to one thread.
 */
final class RemapFilters {
    private static final String IP_ALLOW = "ip_allow";

    private final Input input;
    private final IpAllowFilters ipAllow;
    private final Map<String, RemapFilter> defined = new LinkedHashMap<>();
    private final List<RemapFilter> known = new ArrayList<>();
    private final Set<String> taken = new HashSet<>();
    private final List<RemapFilter> active = new ArrayList<>();
    private boolean general = true;
    private final boolean old;
    private RemapFilter inline;

    RemapFilters(Input input, IpAllowFilters ipAllow) {
        this.input = input;
        this.ipAllow = ipAllow;
        old = !input.has("records.yaml");
        inline = new RemapFilter(new Entry("", 0, 0, ""), "", old);
    }

    private boolean isFirstDeciding() {
        return input.records().value("url_remap.acl_behavior_policy", "0").equals("1");
    }

    /** Begins a file that another one names: there ip_allow holds, whatever the other has said. Returns what it has said. */
    boolean beginFile() {
        boolean before = general;
        general = true;
        return before;
    }

    /** Goes on with the file that has named another one. */
    void endFile(boolean before) {
        general = before;
    }

    void directive(SourceFile file, Words words) {
        String name = words.at(1);
        if (name.isEmpty()) {
            file.problem(words.entry(), words.at(0) + " needs the name of a filter");
            return;
        }
        switch (words.at(0)) {
            case ".definefilter", ".deffilter", ".defflt" -> define(file, words, name);
            case ".activatefilter", ".activefilter", ".usefilter", ".useflt" -> activate(words.entry(), name, true);
            case ".deactivatefilter", ".unactivefilter", ".unusefilter", ".deuseflt", ".unuseflt" ->
                activate(words.entry(), name, false);
            case ".deletefilter", ".delfilter", ".delflt" -> delete(words.entry(), name);
            default -> file.problem(words.entry(), "'" + words.at(0) + "' is not a directive");
        }
    }

    private void define(SourceFile file, Words words, String name) {
        RemapFilter filter = define(words.entry(), name);
        for (int i = 2; i < words.words().size(); i++) {
            if (!words.at(i).startsWith("@")) {
                words.entry().note("'" + words.at(i) + "' is ignored, as in Traffic Server");
            } else if (!take(filter, file, words, i)) {
                file.problem(
                        words.entry().line(),
                        words.columns().get(i),
                        "'" + words.at(i) + "' is not a setting of a filter");
            }
        }
    }

    /** The filter of that name, to which more is then added. */
    RemapFilter define(Entry entry, String name) {
        String key = name.toLowerCase(Locale.ROOT);
        RemapFilter filter = defined.get(key);
        if (filter == null) {
            filter = new RemapFilter(entry, name, old);
            defined.put(key, filter);
            known.add(filter);
        } else {
            entry.note("added to the filter of " + filter.entry().place());
            // Rules before this one keep what it was.
            filter.written("");
        }
        return filter;
    }

    /** The filter of that name, which says nothing yet; what it said before holds for the rules before. */
    RemapFilter defineAnew(Entry entry, String name) {
        String key = name.toLowerCase(Locale.ROOT);
        RemapFilter filter = new RemapFilter(entry, name, old);
        RemapFilter before = defined.put(key, filter);
        known.add(filter);
        int place = active.indexOf(before);
        if (before != null) {
            entry.note("replaces the filter of " + before.entry().place());
        }
        if (place >= 0) {
            active.set(place, filter);
        }
        return filter;
    }

    void activate(Entry entry, String name, boolean on) {
        entry.note("rules after this line " + (on ? "use the filter" : "do not use the filter"));
        if (name.equals(IP_ALLOW)) {
            general = on;
            return;
        }
        RemapFilter filter = defined.get(name.toLowerCase(Locale.ROOT));
        if (filter == null) {
            input.problem(entry, "no filter is named '" + name + "'");
        } else if (!on) {
            active.remove(filter);
        } else if (!active.contains(filter)) {
            active.add(filter);
        }
    }

    void delete(Entry entry, String name) {
        RemapFilter filter = defined.remove(name.toLowerCase(Locale.ROOT));
        if (filter == null) {
            entry.note("no filter is named '" + name + "', so nothing changes");
        } else {
            active.remove(filter);
            entry.note("rules after this line do not use the filter");
        }
    }

    /** Begins a rule's own filter. */
    RemapFilter begin(Entry entry) {
        inline = new RemapFilter(entry, "", old);
        return inline;
    }

    /** Takes a word that is about a filter; false for any other. */
    boolean take(SourceFile file, Words words, int index) {
        return take(inline, file, words, index);
    }

    private boolean take(RemapFilter filter, SourceFile file, Words words, int index) {
        String word = words.at(index);
        int equals = word.indexOf('=');
        String name = (equals < 0 ? word : word.substring(0, equals)).toLowerCase(Locale.ROOT);
        String problem = null;
        try {
            if (!take(filter, words.entry(), name.substring(1), equals < 0 ? "" : word.substring(equals + 1))) {
                return false;
            }
        } catch (IllegalArgumentException e) {
            problem = e.getMessage();
        }
        if (problem != null) {
            file.problem(words.entry().line(), words.columns().get(index), problem);
        }
        return true;
    }

    /**
     * Takes what a filter says by one of its names.
     *
     * @return false where a filter has no such name
     * @throws IllegalArgumentException where Traffic Server would refuse it
     */
    boolean take(RemapFilter filter, Entry line, String name, String value) {
        switch (name) {
            case "action" -> action(filter, line, value);
            case "src_ip" -> filter.source(value);
            case "in_ip" -> filter.listener(value);
            case "src_ip_category" -> category(filter, value);
            case "method" -> filter.method(value);
            case "internal" -> filter.internal();
            default -> {
                return false;
            }
        }
        return true;
    }

    private void action(RemapFilter filter, Entry line, String value) {
        if (!filter.action(value)) {
            throw new IllegalArgumentException("'" + value + "' is not an action");
        }
        if (isFirstDeciding() && filter.isOldWord()) {
            throw new IllegalArgumentException("'" + value
                    + "' is refused where acl_behavior_policy is 1; it is add_" + filter.action() + " or set_"
                    + filter.action());
        }
        if (filter.countAction() > 1) {
            line.note("of several actions the last one applies");
        }
    }

    private void category(RemapFilter filter, String value) {
        boolean negative = value.startsWith("~");
        String name = negative ? value.substring(1) : value;
        if (ipAllow.category(name).isEmpty()) {
            throw new IllegalArgumentException("no category is named '" + name + "'");
        }
        filter.category(ipAllow.category(name), negative);
    }

    /** Writes the filters of a rule: its own, and those by name that hold where it stands. */
    void write(RemapRule rule, DraftNode node) {
        List<RemapFilter> filters = new ArrayList<>();
        if (!inline.isEmpty()) {
            filters.add(inline);
        }
        if (rule.verb().equals("reverse_map")) {
            if (!filters.isEmpty()) {
                rule.entry().note("filters apply to requests, but this rule applies to responses");
            }
            return;
        }
        filters.addAll(active);
        filters.forEach(filter -> filter.explain(filter.entry()));
        RuleFilters writer = new RuleFilters(input, ipAllow, this, rule, node);
        if (isFirstDeciding()) {
            writer.writeFirstDeciding(filters, general);
        } else {
            writer.writeAllPassed(filters, general);
        }
        if (rule.verb().contains("redirect") && !filters.isEmpty()) {
            rule.entry().note("Traffic Server redirects without checking filters; Millrace checks the filters first");
        }
    }

    /** A name that no other filter has: one that was deleted may be defined again, and not every name is one here. */
    String freeName(String name) {
        String word = name.replaceAll("[^A-Za-z0-9._-]", "-");
        String free = word.startsWith(IpAllowFilters.NAME_PREFIX) ? "own-" + word : word;
        for (int i = 2; !taken.add(free); i++) {
            free = word + "-" + i;
        }
        return free;
    }

    /** Says of filters that no rule has. */
    void finish() {
        for (RemapFilter filter : known) {
            if (!filter.isUsed()) {
                filter.entry().note("no rule uses it");
            }
        }
    }
}
