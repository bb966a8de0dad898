package io.millrace.launcher.ats.remap;

import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A filter of remap.config, either on the line of a rule or with a name. Confined to one thread. */
final class RemapFilter {
    private static final Set<String> ALLOWING = Set.of("allow", "add_allow", "set_allow", "1", "on", "enable");
    private static final Set<String> DENYING = Set.of("deny", "add_deny", "set_deny", "0", "off", "disable");

    /** The methods known to Traffic Server. */
    private static final Set<String> METHODS =
            Set.of("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PURGE", "PUT", "TRACE", "PUSH");

    private final Entry entry;
    private final String name;
    private final boolean beforeVersion10;
    private String action = "allow";
    private final AddressWords sources = new AddressWords();
    private final AddressWords categories = new AddressWords();
    private final AddressWords listeners = new AddressWords();
    private final List<String> methods = new ArrayList<>();
    private boolean internal;
    private boolean empty = true;
    private boolean used;
    private int actions;
    /** The name of the filter in the resulting configuration; empty while the filter is not written. */
    private String written = "";

    /**
     * Creates a filter without conditions.
     *
     * @param name empty for the filter of a rule's own line
     * @param beforeVersion10 whether the filter is of a version before 10. Such a filter never matches a method that
     *     Traffic Server does not know
     */
    RemapFilter(Entry entry, String name, boolean beforeVersion10) {
        this.entry = entry;
        this.name = name;
        this.beforeVersion10 = beforeVersion10;
    }

    Entry entry() {
        return entry;
    }

    String name() {
        return name;
    }

    /** Returns true if the filter has neither an action nor conditions. */
    boolean isEmpty() {
        return empty;
    }

    boolean allows() {
        return ALLOWING.contains(action);
    }

    /**
     * Returns true if the action begins with {@code set_}. The filter then applies the opposite action to all methods
     * that are not listed.
     */
    boolean isSetAction() {
        return action.startsWith("set_");
    }

    /** Returns true if the action is {@code allow} or {@code deny}, which newer versions may refuse. */
    boolean isOldAction() {
        return action.equals("allow") || action.equals("deny");
    }

    /** Returns true if the filter matches only requests that Traffic Server itself creates. */
    boolean isInternal() {
        return internal;
    }

    /** Returns {@code allow} or {@code deny}. */
    String action() {
        return allows() ? "allow" : "deny";
    }

    /** The number of actions in the filter; the last one applies. */
    int actionCount() {
        return actions;
    }

    /** Returns true if a rule uses the filter. */
    boolean isUsed() {
        return used;
    }

    void markUsed() {
        used = true;
    }

    String writtenName() {
        return written;
    }

    void setWrittenName(String as) {
        written = as;
    }

    /** Sets the action; returns false if it is unknown. */
    boolean setAction(String word) {
        action = word.toLowerCase(Locale.ROOT);
        actions++;
        empty = false;
        return ALLOWING.contains(action) || DENYING.contains(action);
    }

    void addSource(String word) {
        empty = false;
        sources.add(word);
    }

    void addListener(String word) {
        empty = false;
        listeners.add(word);
    }

    void addCategory(List<String> addresses, boolean negative) {
        empty = false;
        categories.addCategory(addresses, negative);
    }

    void setInternal() {
        empty = false;
        internal = true;
    }

    void addMethod(String word) {
        empty = false;
        if (!methods.contains(word.toUpperCase(Locale.ROOT))) {
            methods.add(word.toUpperCase(Locale.ROOT));
        }
    }

    /** Returns the conditions of the filter. */
    FilterTerms terms() {
        // An allow filter of an old version does not allow methods that Traffic Server does not know.
        List<String> knownMethods = beforeVersion10 && allows()
                ? methods.stream().filter(METHODS::contains).toList()
                : methods;
        FilterTerms named = knownMethods.isEmpty() && !methods.isEmpty()
                ? FilterTerms.ALL.withoutMethod()
                : FilterTerms.ALL.withMethods(knownMethods);
        return terms(categories, true)
                .and(terms(sources, true))
                .and(terms(listeners, false))
                .and(named);
    }

    private static FilterTerms terms(AddressWords words, boolean sources) {
        return sources
                ? new FilterTerms(
                        words.addresses(), words.texts(), FilterTerms.ALL.listeners(), List.of(), List.of(), false)
                : new FilterTerms(
                        FilterTerms.ALL.sources(), List.of(), words.addresses(), words.texts(), List.of(), false);
    }

    /** Adds notes about conditions with an unexpected meaning, or with another meaning in Millrace. */
    void explain(Entry line) {
        for (AddressWords words : List.of(sources, categories, listeners)) {
            if (words.differsInMillrace()) {
                line.note("Traffic Server combines these words by OR, so the filter matches "
                        + (words.addresses().texts().equals(List.of("all"))
                                ? "all addresses"
                                : String.join(", ", words.addresses().texts())));
            }
        }
        for (String method : methods) {
            if (beforeVersion10 && !METHODS.contains(method)) {
                line.note("filters before version 10 never match the method " + method
                        + (allows()
                                ? ", so the method is omitted: it is not allowed in Traffic Server either"
                                : "; the imported filter does"));
            }
        }
    }
}
