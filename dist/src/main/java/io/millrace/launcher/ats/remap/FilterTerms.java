package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.DraftNode;
import io.millrace.proxy.config.value.AddressSet;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * For which requests a filter is: all that it names have to fit. Immutable.
 *
 * @param sources the clients' addresses
 * @param sourceTexts how they are written; nothing stands for all
 * @param listeners the addresses that clients connect to
 * @param listenerTexts how they are written; nothing stands for all
 * @param methods none for all of them
 * @param noMethod whether no method is left, as of two filters that have none in common
 */
record FilterTerms(
        AddressSet sources,
        List<String> sourceTexts,
        AddressSet listeners,
        List<String> listenerTexts,
        List<String> methods,
        boolean noMethod) {
    /** Every request. */
    static final FilterTerms ALL =
            new FilterTerms(AddressSet.ALL, List.of(), AddressSet.ALL, List.of(), List.of(), false);

    /** Requests of clients at these addresses. */
    static FilterTerms ofSources(List<String> addresses) {
        return new FilterTerms(
                AddressSet.parse(addresses.toArray(String[]::new)),
                addresses,
                AddressSet.ALL,
                List.of(),
                List.of(),
                false);
    }

    /** The same for some methods alone; none stands for all. */
    FilterTerms withMethods(List<String> only) {
        return new FilterTerms(sources, sourceTexts, listeners, listenerTexts, List.copyOf(only), false);
    }

    /** The same for no method at all. */
    FilterTerms withoutMethod() {
        return new FilterTerms(sources, sourceTexts, listeners, listenerTexts, List.of(), true);
    }

    /** What both are for. */
    FilterTerms and(FilterTerms other) {
        List<String> common = new ArrayList<>(new LinkedHashSet<>(methods.isEmpty() ? other.methods : methods));
        if (!methods.isEmpty() && !other.methods.isEmpty()) {
            common.retainAll(other.methods);
        }
        boolean none = common.isEmpty() && !(methods.isEmpty() && other.methods.isEmpty());
        return new FilterTerms(
                sources.and(other.sources),
                texts(sources, sourceTexts, other.sources, other.sourceTexts),
                listeners.and(other.listeners),
                texts(listeners, listenerTexts, other.listeners, other.listenerTexts),
                List.copyOf(common),
                noMethod || other.noMethod || none);
    }

    /** As one of them is written where it is within the other. */
    private static List<String> texts(
            AddressSet one, List<String> oneTexts, AddressSet other, List<String> otherTexts) {
        if (other.covers(one)) {
            return oneTexts;
        }
        return one.covers(other) ? otherTexts : one.and(other).texts();
    }

    /** Whether no request is like that. */
    boolean isForNobody() {
        return noMethod || sources.isEmpty() || listeners.isEmpty();
    }

    /** Writes what it is for, with what is done then. */
    void write(DraftNode filter, boolean allow) {
        filter.put("action", allow ? "allow" : "deny");
        if (!sourceTexts.isEmpty()) {
            filter.putWords("src_ip", sourceTexts);
        }
        if (!listenerTexts.isEmpty()) {
            filter.putWords("in_ip", listenerTexts);
        }
        if (!methods.isEmpty()) {
            filter.putWords("methods", methods);
        }
    }
}
