package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.importing.draft.DraftNode;
import java.util.List;

/**
 * The writer of the filters of one rule. Traffic Server combines several filters, but in Millrace the first matching
 * filter decides. This class writes filters with the same result. Confined to one thread.
 */
final class RuleFilters {
    private final ImportState state;
    private final IpAllowFilters ipAllow;
    private final RemapFilters filterNames;
    private final RemapRule rule;
    private final DraftNode node;

    RuleFilters(ImportState state, IpAllowFilters ipAllow, RemapFilters filterNames, RemapRule rule, DraftNode node) {
        this.state = state;
        this.ipAllow = ipAllow;
        this.filterNames = filterNames;
        this.rule = rule;
        this.node = node;
    }

    /**
     * Writes filters for a rule in which a request must pass all filters: it must match no deny filter and every allow
     * filter, and be allowed by ip_allow.
     *
     * @param ipAllowApplies whether the rules of ip_allow apply to the remap rule
     */
    void writeRequiringAll(List<RemapFilter> filters, boolean ipAllowApplies) {
        filters.forEach(RemapFilter::markUsed);
        List<RemapFilter> allowing =
                filters.stream().filter(RemapFilter::allows).toList();
        if (allowing.stream().anyMatch(RemapFilter::isInternal)) {
            // The rule is written, but denies all requests. Without it, these requests would match a wider rule.
            filters.stream()
                    .filter(filter -> filter.isInternal() && !filter.name().isEmpty())
                    .forEach(filter ->
                            filter.entry().note("the filter applies only to Traffic Server's internal requests"));
            denyAll("the filter applies only to Traffic Server's internal requests, which Millrace does not have, so"
                    + " all requests are denied");
            return;
        }
        for (RemapFilter filter : filters) {
            if (!filter.allows()) {
                writeFilter(filter, filter.terms());
            }
        }
        if (!allowing.isEmpty()) {
            writeAllowFilters(allowing, ipAllowApplies);
        } else if (!ipAllowApplies && !state.draft().elements("access.filters").isEmpty()) {
            node.addElement("filters").put("action", "allow");
        }
    }

    /** Writes the allow filters as one filter with all their conditions. */
    private void writeAllowFilters(List<RemapFilter> allowing, boolean ipAllowApplies) {
        FilterTerms all = FilterTerms.ALL;
        for (RemapFilter filter : allowing) {
            all = all.and(filter.terms());
        }
        if (all.matchesNothing()) {
            allowing.forEach(filter -> node.from(filter.entry()));
            denyAll("no request can pass all filters of the rule");
            return;
        }
        if (ipAllowApplies && !ipAllow.onlyDenies()) {
            allowing.forEach(filter -> node.from(filter.entry()));
            ipAllow.write(node, all);
            return;
        }
        if (ipAllowApplies) {
            ipAllow.writeDenyFilters().forEach(name -> node.addWord("filters", name));
        }
        if (allowing.size() == 1) {
            writeFilter(allowing.get(0), all);
        } else {
            DraftNode joined = node.addElement("filters");
            all.write(joined, true);
            allowing.forEach(filter -> joined.from(filter.entry()));
            rule.entry().note("a request must pass all filters that allow: these are combined into one filter");
        }
    }

    /**
     * Writes filters for a rule in which the first filter that matches the client decides. A filter whose action begins
     * with {@code add_} decides only about its methods. The next filter decides about other methods.
     */
    void writeFirstMatchDecides(List<RemapFilter> filters, boolean ipAllowApplies) {
        boolean allows = false;
        for (RemapFilter filter : filters) {
            filter.markUsed();
            FilterTerms terms = filter.terms();
            if (filter.isInternal()) {
                filter.entry().note("Millrace has no internal requests");
                continue;
            }
            if (terms.matchesNothing()) {
                filter.entry().note("no request matches the filter");
                continue;
            }
            boolean deniesOtherMethods =
                    filter.isSetAction() && !terms.methods().isEmpty();
            allows |= filter.allows() || deniesOtherMethods;
            writeFilter(filter, terms);
            if (deniesOtherMethods) {
                terms.withMethods(List.of()).write(node.addElement("filters"), !filter.allows());
            }
        }
        if (!ipAllowApplies
                && (allows || !state.draft().elements("access.filters").isEmpty())) {
            node.addElement("filters").put("action", "allow");
        } else if (ipAllowApplies && allows && !ipAllow.write(node, FilterTerms.ALL)) {
            node.addElement("filters").put("action", "allow");
        }
    }

    private void denyAll(String why) {
        rule.entry().note(why);
        node.addElement("filters").put("action", "deny");
    }

    private void writeFilter(RemapFilter filter, FilterTerms terms) {
        if (filter.isInternal()) {
            filter.entry().note("Millrace has no internal requests");
        } else if (terms.matchesNothing()) {
            filter.entry().note("no request matches the filter");
        } else if (filter.name().isEmpty()) {
            terms.write(node.addElement("filters"), filter.allows());
        } else {
            if (filter.writtenName().isEmpty()) {
                filter.setWrittenName(filterNames.freeName(filter.name()));
                DraftNode named = state.draft().addElement("filters", filter.entry());
                named.put("name", filter.writtenName());
                terms.write(named, filter.allows());
            }
            node.addWord("filters", filter.writtenName());
        }
    }
}
