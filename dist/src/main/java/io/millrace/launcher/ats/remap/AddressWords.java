package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.source.Addresses;
import io.millrace.proxy.config.value.AddressSet;
import java.util.ArrayList;
import java.util.List;

/**
 * Addresses as a filter of remap.config lists them: what any of its words has, where {@code ~} stands for all addresses but those.
 * Millrace takes what {@code ~} names out of the others, so where that is something else the ranges are written out. Confined to one
 * thread.
 */
final class AddressWords {
    private final List<String> words = new ArrayList<>();
    private final List<AddressSet> named = new ArrayList<>();
    private AddressSet addresses = AddressSet.NONE;

    /**
     * Adds a word; one that names a range again, in whichever way, is passed over as Traffic Server does.
     *
     * @throws IllegalArgumentException when it is neither an address nor a range; the message is the problem
     */
    void add(String word) {
        String text = Addresses.of(word);
        boolean negative = text.startsWith("~");
        add(AddressSet.parse(negative ? text.substring(1) : text), negative, List.of(text));
    }

    /** Adds a list that has a name. */
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

    /** Whether nothing was listed, which stands for every address. */
    boolean isEmpty() {
        return named.isEmpty();
    }

    AddressSet addresses() {
        return isEmpty() ? AddressSet.ALL : addresses;
    }

    /** Whether Millrace would read the words as they stand in another way. */
    boolean isReadOtherwise() {
        return !isEmpty() && !isSame(addresses, AddressSet.parse(words.toArray(String[]::new)));
    }

    /** How Millrace writes them; nothing where none was listed. */
    List<String> texts() {
        return isReadOtherwise() ? addresses.texts() : List.copyOf(words);
    }
}
