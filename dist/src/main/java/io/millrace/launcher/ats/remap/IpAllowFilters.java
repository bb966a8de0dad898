package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.proxy.config.value.AddressSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The lines of ip_allow.yaml or ip_allow.config about clients. In Traffic Server, the first line that contains the
 * client's address decides whether the request is allowed. Confined to one thread.
 */
final class IpAllowFilters {
    /** Prefix of the names of generated filters. */
    static final String NAME_PREFIX = "ip-allow-";

    /**
     * A line about clients.
     *
     * @param methods methods to which the action applies; the opposite applies to other methods. Empty for all methods
     */
    record Line(Entry entry, List<String> addresses, boolean allow, List<String> methods) {
        boolean allows(String method) {
            return methods.isEmpty() ? allow : allow == methods.contains(method);
        }

        FilterTerms terms() {
            return FilterTerms.ofSources(addresses);
        }
    }

    private final ImportState state;
    private final List<Line> lines = new ArrayList<>();
    private final Map<String, List<String>> categories = new HashMap<>();
    /** Names of the written named filters, by their conditions. */
    private final Map<String, String> named = new LinkedHashMap<>();

    IpAllowFilters(ImportState state) {
        this.state = state;
    }

    void add(Line line) {
        lines.add(line);
    }

    void addCategory(String name, List<String> addresses) {
        categories.put(name, List.copyOf(addresses));
    }

    boolean hasCategory(String name) {
        return categories.containsKey(name);
    }

    /** Returns the addresses of a category (a named list of addresses); empty if the category is unknown. */
    List<String> category(String name) {
        return categories.getOrDefault(name, List.of());
    }

    List<Line> lines() {
        return List.copyOf(lines);
    }

    /** Writes the lines as filters in {@code access.filters}, which apply to all rules. */
    void write() {
        for (Line line : lines) {
            if (line.methods.isEmpty()) {
                write(line, line.allow);
            } else {
                line.terms()
                        .withMethods(line.methods)
                        .write(state.draft().addElement("access.filters", line.entry), line.allow);
                write(line, !line.allow);
            }
        }
        // Traffic Server denies clients that no line contains. Filters do so only if one of them allows requests.
        if (!lines.isEmpty() && lines.stream().noneMatch(line -> line.allow || !line.methods.isEmpty())) {
            state.draft().root().addElement("access.filters").put("action", "deny");
        }
    }

    private void write(Line line, boolean allow) {
        line.terms().write(state.draft().addElement("access.filters", line.entry), allow);
    }

    /** Returns true if deny filters can express the lines. This requires that no line allows only some methods. */
    boolean onlyDenies() {
        return lines.stream().noneMatch(line -> line.allow && !line.methods.isEmpty());
    }

    /**
     * Writes named filters that deny the same requests as the filters in {@code access.filters}. Returns their names. A
     * rule needs them if its own filters take precedence over {@code access.filters}.
     */
    List<String> writeDenyFilters() {
        List<String> names = new ArrayList<>();
        List<String> before = new ArrayList<>();
        AddressSet decided = AddressSet.NONE;
        for (Line line : lines) {
            AddressSet addresses = line.terms().sources();
            if (!line.allow && !decided.covers(addresses)) {
                List<String> words = new ArrayList<>(line.addresses);
                before.forEach(address -> words.add("~" + address));
                names.add(writeDenyFilter(line, words, line.methods, ""));
            }
            before.addAll(line.addresses);
            decided = decided.or(addresses);
        }
        if (!lines.isEmpty() && !decided.covers(AddressSet.ALL)) {
            Line last = lines.get(lines.size() - 1);
            names.add(writeDenyFilter(
                    last, before.stream().map(address -> "~" + address).toList(), List.of(), "rest"));
        }
        return names;
    }

    /** Writes a named filter that denies requests, unless it exists. Returns its name. */
    private String writeDenyFilter(Line line, List<String> addresses, List<String> methods, String word) {
        return named.computeIfAbsent(addresses + " " + methods, key -> {
            DraftNode node = state.draft().addElement("filters", line.entry);
            String name = NAME_PREFIX + (word.isEmpty() ? Integer.toString(named.size() + 1) : word);
            node.put("name", name);
            FilterTerms.ofSources(addresses).withMethods(methods).write(node, false);
            return name;
        });
    }

    /**
     * Writes the lines as filters into a rule. These filters only allow requests that the rule's own filters also
     * allow.
     *
     * @return false if there are no lines, so that nothing was written
     */
    boolean write(DraftNode rule, FilterTerms allowedByRule) {
        AddressSet decided = AddressSet.NONE;
        boolean hasAllowFilter = false;
        for (Line line : lines) {
            FilterTerms lineTerms = line.terms();
            if (decided.covers(lineTerms.sources())) {
                continue;
            }
            decided = decided.or(lineTerms.sources());
            if (!line.allow && !line.methods.isEmpty()) {
                rule.addWord("filters", writeDenyFilter(line, line.addresses, line.methods, ""));
            }
            FilterTerms both = allowedByRule.and(line.allow ? lineTerms.withMethods(line.methods) : lineTerms);
            boolean hasAllowed = (line.allow || !line.methods.isEmpty()) && !both.matchesNothing();
            if (hasAllowed) {
                both.write(rule.addElement("filters").from(line.entry), true);
                hasAllowFilter = true;
            }
            boolean allRequestsAllowed = hasAllowed
                    && both.sources().covers(lineTerms.sources())
                    && both.listeners().covers(AddressSet.ALL)
                    && both.methods().isEmpty();
            if (!allRequestsAllowed && !decided.covers(AddressSet.ALL)) {
                // No later line applies to these addresses, so all other requests from them are denied.
                rule.addWord("filters", writeDenyFilter(line, line.addresses, List.of(), ""));
            }
        }
        if (!lines.isEmpty() && !hasAllowFilter) {
            // Without an allow filter in this list, access.filters would apply too, and might allow the request.
            rule.addElement("filters").put("action", "deny");
        }
        return !lines.isEmpty();
    }
}
