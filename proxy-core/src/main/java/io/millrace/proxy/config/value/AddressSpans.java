package io.millrace.proxy.config.value;

import io.netty.util.NetUtil;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The addresses of one family in a set, as sorted spans that do not touch. Immutable. */
final class AddressSpans {
    private static final BigInteger ONE = BigInteger.ONE;

    /** The IPv4-mapped block of IPv6. Lookups convert these addresses to IPv4, so no IPv6 span contains them. */
    private static final Bounds MAPPED =
            new Bounds(BigInteger.valueOf(0xffff_0000_0000L), BigInteger.valueOf(0xffff_ffff_ffffL));

    private record Bounds(BigInteger from, BigInteger to) {}

    /** First and last address of each span, as halves of 64 bits. */
    private final long[] fromHigh;

    private final long[] fromLow;
    private final long[] toHigh;
    private final long[] toLow;

    private AddressSpans(List<Bounds> bounds) {
        int length = bounds.size();
        fromHigh = new long[length];
        fromLow = new long[length];
        toHigh = new long[length];
        toLow = new long[length];
        for (int i = 0; i < length; i++) {
            fromHigh[i] = bounds.get(i).from.shiftRight(64).longValue();
            fromLow[i] = bounds.get(i).from.longValue();
            toHigh[i] = bounds.get(i).to.shiftRight(64).longValue();
            toLow[i] = bounds.get(i).to.longValue();
        }
    }

    /** Returns the addresses of one family that are in {@code listed} and not in {@code excluded}. */
    static AddressSpans of(List<AddressSpan> listed, List<AddressSpan> excluded, boolean v4) {
        List<Bounds> excludedBounds = bounds(excluded, v4);
        if (!v4) {
            excludedBounds.add(MAPPED);
        }
        return new AddressSpans(without(merged(bounds(listed, v4)), merged(excludedBounds)));
    }

    private static List<Bounds> bounds(List<AddressSpan> spans, boolean v4) {
        List<Bounds> bounds = new ArrayList<>();
        for (AddressSpan span : spans) {
            if (span.v4() == v4) {
                bounds.add(new Bounds(number(span.fromHigh(), span.fromLow()), number(span.toHigh(), span.toLow())));
            }
        }
        return bounds;
    }

    private static BigInteger number(long high, long low) {
        return unsigned(high).shiftLeft(64).or(unsigned(low));
    }

    private static BigInteger unsigned(long bits) {
        return new BigInteger(Long.toUnsignedString(bits));
    }

    private static List<Bounds> merged(List<Bounds> bounds) {
        List<Bounds> sorted = new ArrayList<>(bounds);
        sorted.sort(Comparator.comparing(Bounds::from));
        List<Bounds> merged = new ArrayList<>();
        for (Bounds next : sorted) {
            Bounds last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            if (last != null && next.from.compareTo(last.to.add(ONE)) <= 0) {
                merged.set(merged.size() - 1, new Bounds(last.from, last.to.max(next.to)));
            } else {
                merged.add(next);
            }
        }
        return merged;
    }

    private static List<Bounds> without(List<Bounds> all, List<Bounds> excludedBounds) {
        List<Bounds> left = new ArrayList<>();
        int gap = 0;
        for (Bounds each : all) {
            BigInteger from = each.from;
            while (gap < excludedBounds.size() && excludedBounds.get(gap).to.compareTo(from) < 0) {
                gap++;
            }
            for (int i = gap;
                    i < excludedBounds.size() && excludedBounds.get(i).from.compareTo(each.to) <= 0;
                    i++) {
                if (from.compareTo(excludedBounds.get(i).from) < 0) {
                    left.add(new Bounds(from, excludedBounds.get(i).from.subtract(ONE)));
                }
                from = excludedBounds.get(i).to.add(ONE);
            }
            if (from.compareTo(each.to) <= 0) {
                left.add(new Bounds(from, each.to));
            }
        }
        return left;
    }

    /** Returns the union with spans of the same family. */
    AddressSpans or(AddressSpans other) {
        List<Bounds> both = new ArrayList<>(bounds());
        both.addAll(other.bounds());
        return new AddressSpans(merged(both));
    }

    /** Returns the addresses of these spans that are not in {@code other}, which has the same family. */
    AddressSpans butNot(AddressSpans other) {
        return new AddressSpans(without(bounds(), other.bounds()));
    }

    private List<Bounds> bounds() {
        List<Bounds> bounds = new ArrayList<>();
        for (int i = 0; i < fromLow.length; i++) {
            bounds.add(new Bounds(number(fromHigh[i], fromLow[i]), number(toHigh[i], toLow[i])));
        }
        return bounds;
    }

    /**
     * Formats each span as in a configuration file: as an address, as a prefix if possible, or as the first and the
     * last address.
     */
    List<String> texts(boolean v4) {
        List<Bounds> spans = bounds();
        if (!v4) {
            for (int i = 0; i + 1 < spans.size(); i++) {
                boolean around = spans.get(i).to.add(ONE).equals(MAPPED.from)
                        && spans.get(i + 1).from.subtract(ONE).equals(MAPPED.to);
                if (around) {
                    // The gap is the IPv4-mapped block, which no IPv6 range contains. So the two spans are written as
                    // one.
                    spans.set(i, new Bounds(spans.get(i).from, spans.remove(i + 1).to));
                }
            }
        }
        return spans.stream().map(span -> text(span, v4)).toList();
    }

    private static String text(Bounds span, boolean v4) {
        BigInteger size = span.to.subtract(span.from).add(ONE);
        int bits = size.bitLength() - 1;
        boolean prefix = size.bitCount() == 1 && span.from.mod(size).signum() == 0;
        String first = text(span.from, v4);
        return bits == 0 ? first : prefix ? first + "/" + ((v4 ? 32 : 128) - bits) : first + "-" + text(span.to, v4);
    }

    private static String text(BigInteger address, boolean v4) {
        byte[] bytes = new byte[v4 ? 4 : 16];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = address.shiftRight(8 * (bytes.length - 1 - i)).byteValue();
        }
        return NetUtil.bytesToIpAddress(bytes);
    }

    /** Returns true if these spans contain an address, given as two halves of 64 bits. */
    boolean contains(long high, long low) {
        int span = lastFrom(high, low);
        return span >= 0 && !AddressSpan.isAfter(high, low, toHigh[span], toLow[span]);
    }

    /** Returns the index of the last span that does not begin after an address. Returns -1 if there is none. */
    private int lastFrom(long high, long low) {
        int least = 0;
        int most = fromLow.length - 1;
        while (least <= most) {
            int middle = (least + most) >>> 1;
            if (AddressSpan.isAfter(fromHigh[middle], fromLow[middle], high, low)) {
                most = middle - 1;
            } else {
                least = middle + 1;
            }
        }
        return most;
    }

    /** Returns true if each span of {@code other} is contained in one of these spans. */
    boolean covers(AddressSpans other) {
        for (int i = 0; i < other.fromLow.length; i++) {
            int span = lastFrom(other.fromHigh[i], other.fromLow[i]);
            if (span < 0 || AddressSpan.isAfter(other.toHigh[i], other.toLow[i], toHigh[span], toLow[span])) {
                return false;
            }
        }
        return true;
    }

    boolean isEmpty() {
        return fromLow.length == 0;
    }
}
