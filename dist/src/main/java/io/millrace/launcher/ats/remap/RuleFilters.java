package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.DraftNode;
import io.millrace.launcher.ats.draft.Input;
import java.util.List;

/** Writes the filters of one rule, such that the first that a request meets decides as all of Traffic Server's do. Confined to one thread. */
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
     * A request passes that meets no filter that denies and every one that allows, and then ip_allow.
     *
     * @param general whether ip_allow holds for the rule
     */
    void writeAllPassed(List<RemapFilter> filters, boolean general) {
        filters.forEach(RemapFilter::use);
        List<RemapFilter> allowing =
                filters.stream().filter(RemapFilter::allows).toList();
        if (allowing.stream().anyMatch(RemapFilter::isInternal)) {
            // Without the rule its requests would fall to a wider one.
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

    /** One filter that allows what all of them do. */
    private void allowed(List<RemapFilter> allowing, boolean general) {
        FilterTerms all = FilterTerms.ALL;
        for (RemapFilter filter : allowing) {
            all = all.and(filter.terms());
        }
        if (all.isForNobody()) {
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

    /** The first filter for a client decides; one that only adds goes on to the next for methods that it does not list. */
    void writeFirstDeciding(List<RemapFilter> filters, boolean general) {
        boolean allows = false;
        for (RemapFilter filter : filters) {
            filter.use();
            FilterTerms terms = filter.terms();
            if (filter.isInternal()) {
                filter.entry().note("Millrace has no internal requests");
                continue;
            }
            if (terms.isForNobody()) {
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
        } else if (terms.isForNobody()) {
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
