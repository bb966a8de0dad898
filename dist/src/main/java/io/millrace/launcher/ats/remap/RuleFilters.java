package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.Input;
import io.millrace.launcher.importing.draft.DraftNode;
import java.util.List;

/**
 * Writes the filters of one rule. Millrace uses the first matching filter; the written filters give the same result as
 * all filters of Traffic Server. Confined to one thread.
 */
final class RuleFilters {
    private final Input input;
    private final IpAllowFilters ipAllow;
    private final RemapFilters names;
    private final RemapRule rule;
    private final DraftNode node;

    RuleFilters(Input input, IpAllowFilters ipAllow, RemapFilters names, RemapRule rule, DraftNode node) {
        this.input = input;
        this.ipAllow = ipAllow;
        this.names = names;
        this.rule = rule;
        this.node = node;
    }

    /**
     * Writes filters that a request must all pass: it matches no deny filter and every allow filter, and passes
     * ip_allow.
     *
     * @param general whether ip_allow applies to the rule
     */
    void writeAllPassed(List<RemapFilter> filters, boolean general) {
        filters.forEach(RemapFilter::use);
        List<RemapFilter> allowing =
                filters.stream().filter(RemapFilter::allows).toList();
        if (allowing.stream().anyMatch(RemapFilter::isInternal)) {
            // Without the rule, its requests would match a wider rule.
            filters.stream()
                    .filter(filter -> filter.isInternal() && !filter.name().isEmpty())
                    .forEach(filter -> filter.entry().note("applies only to Traffic Server's internal requests"));
            nobody(
                    "applies only to Traffic Server's internal requests, which Millrace does not have, so all requests are denied");
            return;
        }
        for (RemapFilter filter : filters) {
            if (!filter.allows()) {
                one(filter, filter.terms());
            }
        }
        if (!allowing.isEmpty()) {
            allowed(allowing, general);
        } else if (!general && !input.draft().elements("access.filters").isEmpty()) {
            node.element("filters").put("action", "allow");
        }
    }

    /** Writes one filter with the intersection of all allow filters. */
    private void allowed(List<RemapFilter> allowing, boolean general) {
        FilterTerms all = FilterTerms.ALL;
        for (RemapFilter filter : allowing) {
            all = all.and(filter.terms());
        }
        if (all.matchesNothing()) {
            allowing.forEach(filter -> node.from(filter.entry()));
            nobody("no request can pass all filters of the rule");
            return;
        }
        if (general && !ipAllow.onlyDenies()) {
            allowing.forEach(filter -> node.from(filter.entry()));
            ipAllow.write(node, all);
            return;
        }
        if (general) {
            ipAllow.namesOfDenying().forEach(name -> node.elementWord("filters", name));
        }
        if (allowing.size() == 1) {
            one(allowing.get(0), all);
        } else {
            DraftNode joined = node.element("filters");
            all.write(joined, true);
            allowing.forEach(filter -> joined.from(filter.entry()));
            rule.entry().note("a request must pass all filters that allow: these are combined into one filter");
        }
    }

    /**
     * Writes filters of which the first one for a client decides. A filter that only adds methods passes other methods
     * on to the next filter.
     */
    void writeFirstDeciding(List<RemapFilter> filters, boolean general) {
        boolean allows = false;
        for (RemapFilter filter : filters) {
            filter.use();
            FilterTerms terms = filter.terms();
            if (filter.isInternal()) {
                filter.entry().note("Millrace has no internal requests");
                continue;
            }
            if (terms.matchesNothing()) {
                filter.entry().note("no request matches it");
                continue;
            }
            boolean flips = filter.isSet() && !terms.methods().isEmpty();
            allows |= filter.allows() || flips;
            one(filter, terms);
            if (flips) {
                terms.withMethods(List.of()).write(node.element("filters"), !filter.allows());
            }
        }
        if (!general && (allows || !input.draft().elements("access.filters").isEmpty())) {
            node.element("filters").put("action", "allow");
        } else if (general && allows && !ipAllow.write(node, FilterTerms.ALL)) {
            node.element("filters").put("action", "allow");
        }
    }

    private void nobody(String why) {
        rule.entry().note(why);
        node.element("filters").put("action", "deny");
    }

    private void one(RemapFilter filter, FilterTerms terms) {
        if (filter.isInternal()) {
            filter.entry().note("Millrace has no internal requests");
        } else if (terms.matchesNothing()) {
            filter.entry().note("no request matches it");
        } else if (filter.name().isEmpty()) {
            terms.write(node.element("filters"), filter.allows());
        } else {
            if (filter.written().isEmpty()) {
                filter.written(names.freeName(filter.name()));
                DraftNode named = input.draft().element("filters", filter.entry());
                named.put("name", filter.written());
                terms.write(named, filter.allows());
            }
            node.elementWord("filters", filter.written());
        }
    }
}
