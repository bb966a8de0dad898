package io.millrace.proxy.config.value;

import io.millrace.proxy.http.IpAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Addresses and ranges as an operator writes them, {@code [10.0.0.0/8, 192.168.1.5-192.168.1.9, ~10.1.2.3]}, made ready: what is
 * listed, without what {@code ~} takes out; all addresses without that where nothing else is listed. An IPv4 address in IPv6's
 * clothes is IPv4, and no range of IPv6 has it. A lookup is a binary search and allocates nothing. Immutable.
 */
public final class AddressSet {
    /** Every address. */
    public static final AddressSet ALL = parse("all");

    /** No address at all. */
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
     * What the texts say.
     *
     * @throws InvalidValueException when one of them is no address and no range
     */
    public static AddressSet of(List<String> texts) throws InvalidValueException {
        List<AddressSpan> listed = new ArrayList<>();
        List<AddressSpan> takenOut = new ArrayList<>();
        for (String text : texts) {
            boolean negative = text.startsWith("~");
            (negative ? takenOut : listed).addAll(AddressSpan.parse(negative ? text.substring(1) : text));
        }
        if (listed.isEmpty()) {
            listed.addAll(AddressSpan.ALL);
        }
        return new AddressSet(
                List.copyOf(texts), AddressSpans.of(listed, takenOut, true), AddressSpans.of(listed, takenOut, false));
    }

    /**
     * What the texts say, each as it would be written in a file.
     *
     * @throws IllegalArgumentException when one of them is no address and no range; the message is the problem
     */
    public static AddressSet parse(String... texts) {
        try {
            return of(List.of(texts));
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException(e.problem(), e);
        }
    }

    /** Those of some ranges; none of no range. */
    public static AddressSet ofRanges(List<AddressRange> ranges) {
        return ranges.isEmpty()
                ? NONE
                : parse(ranges.stream().map(AddressRange::toString).toArray(String[]::new));
    }

    /** Whether it has the address; none is in no set. */
    public boolean contains(@Nullable IpAddress address) {
        if (address == null) {
            return false;
        }
        return address.isV4() ? v4.contains(0, address.v4()) : v6.contains(address.high(), address.low());
    }

    /** What this one has, the other one has, or both. */
    public AddressSet or(AddressSet other) {
        return of(v4.or(other.v4), v6.or(other.v6));
    }

    /** What this one has and the other one has not. */
    public AddressSet butNot(AddressSet other) {
        return of(v4.butNot(other.v4), v6.butNot(other.v6));
    }

    /** What both have. */
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

    /** Whether it has every address that the other one has. */
    public boolean covers(AddressSet other) {
        return v4.covers(other.v4) && v6.covers(other.v6);
    }

    /** Whether there is no address in it. */
    public boolean isEmpty() {
        return v4.isEmpty() && v6.isEmpty();
    }

    /** As it was written; of what was made of others, each range. */
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

    /** As it was written, with commas between. */
    @Override
    public String toString() {
        return String.join(", ", texts);
    }
}
