package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The filters of remap.config: those on the lines of rules, and those with names. In Traffic Server, a request must
 * pass every filter of a rule. With {@code acl_behavior_policy} 1, the first filter that matches the client decides.
 * Confined to one thread.
 */
final class RemapFilters {
    private static final String IP_ALLOW = "ip_allow";

    private final ImportState state;
    private final IpAllowFilters ipAllow;
    /** Filters by their names in lower case, as defined before the current line. */
    private final Map<String, RemapFilter> defined = new LinkedHashMap<>();

    private final List<RemapFilter> allFilters = new ArrayList<>();
    /** Filter names that are used in the resulting configuration. */
    private final Set<String> taken = new HashSet<>();
    /** Named filters that apply to the next rules. */
    private final List<RemapFilter> active = new ArrayList<>();
    /** Whether ip_allow applies to the next rules. */
    private boolean ipAllowActive = true;

    private final boolean beforeVersion10;
    /** The filter on the line of the current rule. */
    private RemapFilter inline;

    RemapFilters(ImportState state, IpAllowFilters ipAllow) {
        this.state = state;
        this.ipAllow = ipAllow;
        beforeVersion10 = !state.has("records.yaml");
        inline = new RemapFilter(new Entry("", 0, 0, ""), "", beforeVersion10);
    }

    private boolean firstMatchDecides() {
        return state.records().value("url_remap.acl_behavior_policy", "0").equals("1");
    }

    /**
     * Begins an included file. In it, ip_allow applies even if the including file has deactivated ip_allow.
     *
     * @return the state of the including file, for {@link #endFile}
     */
    boolean beginFile() {
        boolean before = ipAllowActive;
        ipAllowActive = true;
        return before;
    }

    /** Ends an included file and restores the state of the including file. */
    void endFile(boolean before) {
        ipAllowActive = before;
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
            } else if (!addTerm(filter, file, words, i)) {
                file.problem(
                        words.entry().line(),
                        words.columns().get(i),
                        "'" + words.at(i) + "' is not a setting of a filter");
            }
        }
    }

    /** Returns the filter with a name, or creates it. The caller adds conditions to the filter. */
    RemapFilter define(Entry entry, String name) {
        String key = name.toLowerCase(Locale.ROOT);
        RemapFilter filter = defined.get(key);
        if (filter == null) {
            filter = new RemapFilter(entry, name, beforeVersion10);
            defined.put(key, filter);
            allFilters.add(filter);
        } else {
            entry.note(
                    "the settings are added to the filter of " + filter.entry().place());
            // Earlier rules use the filter without the additions, so the extended filter is written under a new name.
            filter.setWrittenName("");
        }
        return filter;
    }

    /** Creates an empty filter with a name. Earlier rules keep the previous filter with this name. */
    RemapFilter defineAnew(Entry entry, String name) {
        String key = name.toLowerCase(Locale.ROOT);
        RemapFilter filter = new RemapFilter(entry, name, beforeVersion10);
        RemapFilter before = defined.put(key, filter);
        allFilters.add(filter);
        int place = active.indexOf(before);
        if (before != null) {
            entry.note("the new filter replaces the filter of " + before.entry().place());
        }
        if (place >= 0) {
            active.set(place, filter);
        }
        return filter;
    }

    void activate(Entry entry, String name, boolean on) {
        entry.note("rules after this line " + (on ? "use the filter" : "do not use the filter"));
        if (name.equals(IP_ALLOW)) {
            ipAllowActive = on;
            return;
        }
        RemapFilter filter = defined.get(name.toLowerCase(Locale.ROOT));
        if (filter == null) {
            state.problem(entry, "no filter is named '" + name + "'");
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

    /** Creates the filter for the line of a rule. */
    RemapFilter begin(Entry entry) {
        inline = new RemapFilter(entry, "", beforeVersion10);
        return inline;
    }

    /** Adds a filter term of a line. Returns false if the word is not a filter term. */
    boolean addTerm(SourceFile file, Words words, int index) {
        return addTerm(inline, file, words, index);
    }

    private boolean addTerm(RemapFilter filter, SourceFile file, Words words, int index) {
        String word = words.at(index);
        int equals = word.indexOf('=');
        String name = (equals < 0 ? word : word.substring(0, equals)).toLowerCase(Locale.ROOT);
        String problem = null;
        try {
            if (!addTerm(filter, words.entry(), name.substring(1), equals < 0 ? "" : word.substring(equals + 1))) {
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
     * Adds a filter term by its name.
     *
     * @return false if filters have no such term
     * @throws IllegalArgumentException if Traffic Server would refuse the value
     */
    boolean addTerm(RemapFilter filter, Entry line, String name, String value) {
        switch (name) {
            case "action" -> takeAction(filter, line, value);
            case "src_ip" -> filter.addSource(value);
            case "in_ip" -> filter.addListener(value);
            case "src_ip_category" -> takeCategory(filter, value);
            case "method" -> filter.addMethod(value);
            case "internal" -> filter.setInternal();
            default -> {
                return false;
            }
        }
        return true;
    }

    private void takeAction(RemapFilter filter, Entry line, String value) {
        if (!filter.setAction(value)) {
            throw new IllegalArgumentException("'" + value + "' is not an action");
        }
        if (firstMatchDecides() && filter.isOldAction()) {
            throw new IllegalArgumentException("'" + value
                    + "' is refused where acl_behavior_policy is 1; it is add_" + filter.action() + " or set_"
                    + filter.action());
        }
        if (filter.actionCount() > 1) {
            line.note("of several actions the last one applies");
        }
    }

    private void takeCategory(RemapFilter filter, String value) {
        boolean negative = value.startsWith("~");
        String name = negative ? value.substring(1) : value;
        if (ipAllow.category(name).isEmpty()) {
            throw new IllegalArgumentException("no category is named '" + name + "'");
        }
        filter.addCategory(ipAllow.category(name), negative);
    }

    /** Writes the filters of a rule. These are its own filter and the active named filters. */
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
        RuleFilters writer = new RuleFilters(state, ipAllow, this, rule, node);
        if (firstMatchDecides()) {
            writer.writeFirstMatchDecides(filters, ipAllowActive);
        } else {
            writer.writeRequiringAll(filters, ipAllowActive);
        }
        if (rule.verb().contains("redirect") && !filters.isEmpty()) {
            rule.entry().note("Traffic Server redirects without checking filters; Millrace checks the filters first");
        }
    }

    /**
     * Returns a valid and unique filter name for the resulting configuration. In Traffic Server, a name can be used
     * again after its filter was deleted.
     */
    String freeName(String name) {
        String word = name.replaceAll("[^A-Za-z0-9._-]", "-");
        String free = word.startsWith(IpAllowFilters.NAME_PREFIX) ? "own-" + word : word;
        for (int i = 2; !taken.add(free); i++) {
            free = word + "-" + i;
        }
        return free;
    }

    /** Adds a note to each filter that no rule uses. */
    void finish() {
        for (RemapFilter filter : allFilters) {
            if (!filter.isUsed()) {
                filter.entry().note("no rule uses the filter");
            }
        }
    }
}
