package io.millrace.proxy.config.value;

import io.millrace.proxy.http.IpAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set of IP addresses, compiled from addresses and ranges such as {@code [10.0.0.0/8, 192.168.1.5-192.168.1.9,
 * ~10.1.2.3]}. Entries with {@code ~} are excluded. If there are only excluded entries, all other addresses belong to
 * the set. An IPv4-mapped IPv6 address counts as IPv4, so no IPv6 range contains it. A lookup is a binary search and
 * allocates nothing. Immutable.
 */
public final class AddressSet {
    /** The set of all addresses. */
    public static final AddressSet ALL = parse("all");

    /** The empty set. */
    public static final AddressSet NONE = parse("~all");

    private final List<String> texts;
    private final AddressSpans v4;
    private final AddressSpans v6;

    private AddressSet(List<String> texts, AddressSpans v4, AddressSpans v6) {
        this.texts = texts;
        this.v4 = v4;
        this.v6 = v6;
    }

    /**
     * Compiles texts to a set.
     *
     * @throws InvalidValueException if one of them is neither an address nor a range
     */
    public static AddressSet of(List<String> texts) throws InvalidValueException {
        List<AddressSpan> listed = new ArrayList<>();
        List<AddressSpan> excluded = new ArrayList<>();
        for (String text : texts) {
            boolean negative = text.startsWith("~");
            (negative ? excluded : listed).addAll(AddressSpan.parse(negative ? text.substring(1) : text));
        }
        if (listed.isEmpty()) {
            listed.addAll(AddressSpan.ALL);
        }
        return new AddressSet(
                List.copyOf(texts), AddressSpans.of(listed, excluded, true), AddressSpans.of(listed, excluded, false));
    }

    /**
     * Like {@link #of(List)}, for texts in code.
     *
     * @throws IllegalArgumentException if one of them is neither an address nor a range; the message is the problem
     */
    public static AddressSet parse(String... texts) {
        try {
            return of(List.of(texts));
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException(e.problem(), e);
        }
    }

    /** Returns the addresses of some ranges; the empty set for no ranges. */
    public static AddressSet ofRanges(List<AddressRange> ranges) {
        return ranges.isEmpty()
                ? NONE
                : parse(ranges.stream().map(AddressRange::toString).toArray(String[]::new));
    }

    /** Returns true if the set contains the address. Null is in no set. */
    public boolean contains(@Nullable IpAddress address) {
        if (address == null) {
            return false;
        }
        return address.isV4() ? v4.contains(0, address.v4()) : v6.contains(address.high(), address.low());
    }

    /** Returns the union of both sets. */
    public AddressSet or(AddressSet other) {
        return of(v4.or(other.v4), v6.or(other.v6));
    }

    /** Returns the addresses of this set that are not in {@code other}. */
    public AddressSet butNot(AddressSet other) {
        return of(v4.butNot(other.v4), v6.butNot(other.v6));
    }

    /** Returns the intersection of both sets. */
    public AddressSet and(AddressSet other) {
        return butNot(ALL.butNot(other));
    }

    private static AddressSet of(AddressSpans v4, AddressSpans v6) {
        List<String> ranges = new ArrayList<>(v4.texts(true));
        ranges.addAll(v6.texts(false));
        if (ranges.isEmpty()) {
            return NONE;
        }
        return ranges.equals(List.of("0.0.0.0/0", "::/0")) ? ALL : new AddressSet(List.copyOf(ranges), v4, v6);
    }

    /** Returns true if this set contains every address of {@code other}. */
    public boolean covers(AddressSet other) {
        return v4.covers(other.v4) && v6.covers(other.v6);
    }

    /** Returns true if the set is empty. */
    public boolean isEmpty() {
        return v4.isEmpty() && v6.isEmpty();
    }

    /** The texts from which the set was compiled; each range for a set computed from other sets. */
    public List<String> texts() {
        return texts;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AddressSet that && texts.equals(that.texts);
    }

    @Override
    public int hashCode() {
        return texts.hashCode();
    }

    /** The texts, separated by commas. */
    @Override
    public String toString() {
        return String.join(", ", texts);
    }
}
