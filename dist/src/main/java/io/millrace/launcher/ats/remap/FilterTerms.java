package io.millrace.launcher.ats.remap;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.proxy.config.value.AddressSet;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The conditions of an access filter, which must all be true. Immutable.
 *
 * @param sources addresses of clients
 * @param sourceTexts text form of {@code sources}; empty for all addresses
 * @param listeners local addresses to which clients connect
 * @param listenerTexts text form of {@code listeners}; empty for all addresses
 * @param methods request methods; empty for all
 * @param noMethod true if no method matches, which results from combining filters without a common method
 */
record FilterTerms(
        AddressSet sources,
        List<String> sourceTexts,
        AddressSet listeners,
        List<String> listenerTexts,
        List<String> methods,
        boolean noMethod) {
    /** Conditions that every request meets. */
    static final FilterTerms ALL =
            new FilterTerms(AddressSet.ALL, List.of(), AddressSet.ALL, List.of(), List.of(), false);

    /** Returns conditions for client addresses. */
    static FilterTerms ofSources(List<String> addresses) {
        return new FilterTerms(
                AddressSet.parse(addresses.toArray(String[]::new)),
                addresses,
                AddressSet.ALL,
                List.of(),
                List.of(),
                false);
    }

    /** Returns a copy with these methods; an empty list means all. */
    FilterTerms withMethods(List<String> only) {
        return new FilterTerms(sources, sourceTexts, listeners, listenerTexts, List.copyOf(only), false);
    }

    /** Returns a copy that matches no method. */
    FilterTerms withoutMethod() {
        return new FilterTerms(sources, sourceTexts, listeners, listenerTexts, List.of(), true);
    }

    /** Returns the conditions of requests that meet both these conditions and {@code other}. */
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

    /**
     * Returns the text form of an intersection. If one set contains the other, the result is the given text form of the
     * smaller set.
     */
    private static List<String> texts(
            AddressSet one, List<String> oneTexts, AddressSet other, List<String> otherTexts) {
        if (other.covers(one)) {
            return oneTexts;
        }
        return one.covers(other) ? otherTexts : one.and(other).texts();
    }

    /** Returns true if no request can meet the conditions. */
    boolean matchesNothing() {
        return noMethod || sources.isEmpty() || listeners.isEmpty();
    }

    /** Writes the conditions and the action into a filter. */
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
