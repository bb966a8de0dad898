package io.millrace.launcher.ats.remap;

import io.millrace.launcher.importing.source.Addresses;
import io.millrace.proxy.config.value.AddressSet;
import java.util.ArrayList;
import java.util.List;

/**
 * The addresses in a filter of remap.config. Traffic Server matches the union of all words; a word with {@code ~} adds
 * all addresses outside its range. Millrace instead subtracts the range of such a word from the other words. If the two
 * results differ, this class writes the ranges of the result without {@code ~}. Confined to one thread.
 */
final class AddressWords {
    private final List<String> words = new ArrayList<>();
    /** The range or list of each added word, without regard to {@code ~}. */
    private final List<AddressSet> named = new ArrayList<>();

    private AddressSet addresses = AddressSet.NONE;

    /**
     * Adds a word. Ignores a range that was already added, as Traffic Server does.
     *
     * @throws IllegalArgumentException if the word is not an address or a range; the message states the problem
     */
    void add(String word) {
        String text = Addresses.of(word);
        boolean negative = text.startsWith("~");
        add(AddressSet.parse(negative ? text.substring(1) : text), negative, List.of(text));
    }

    /** Adds a named list of addresses. */
    void addCategory(List<String> category, boolean negative) {
        AddressSet set = AddressSet.parse(category.toArray(String[]::new));
        add(set, negative, negative ? AddressSet.ALL.butNot(set).texts() : category);
    }

    private void add(AddressSet set, boolean negative, List<String> written) {
        if (named.stream().anyMatch(other -> isSame(other, set))) {
            return;
        }
        named.add(set);
        words.addAll(written);
        addresses = addresses.or(negative ? AddressSet.ALL.butNot(set) : set);
    }

    private static boolean isSame(AddressSet one, AddressSet other) {
        return one.covers(other) && other.covers(one);
    }

    /** Returns true if no word was added. The filter matches every address then. */
    boolean isEmpty() {
        return named.isEmpty();
    }

    AddressSet addresses() {
        return isEmpty() ? AddressSet.ALL : addresses;
    }

    /** Returns true if the words would mean other addresses in Millrace than in Traffic Server. */
    boolean differsInMillrace() {
        return !isEmpty() && !isSame(addresses, AddressSet.parse(words.toArray(String[]::new)));
    }

    /** Returns the addresses as Millrace writes them; empty if none were added. */
    List<String> texts() {
        return differsInMillrace() ? addresses.texts() : List.copyOf(words);
    }
}
