package io.millrace.proxy.caching.settings;

import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.util.Arrays;
import java.util.List;

/**
 * Determines which query parameters a cache key contains, and their order. Parameters are separated by ampersands. A
 * parameter's name ends at the first equals sign and is compared percent-decoded. A semicolon is no separator:
 * {@code a=1;b=2} is one parameter {@code a}. All parameters of one name are treated alike. Immutable.
 *
 * @param ignored whether the whole query is omitted
 * @param included names of the only parameters to keep; empty for all; {@code utm_*} matches every name with that
 *     prefix
 * @param excluded names of parameters to omit nevertheless
 * @param sorted whether the parameters are sorted by name; those of one name keep their order. A query with a semicolon
 *     stays unsorted, since some origins use it as a separator
 */
public record QueryRule(boolean ignored, List<String> included, List<String> excluded, boolean sorted) {
    /** The unchanged query. */
    public static final QueryRule WHOLE = new QueryRule(false, List.of(), List.of(), false);

    private static final byte[] NOTHING = {};

    /** Copies the lists. Each character of a name represents one byte; see {@link #nameOf}. */
    public QueryRule {
        included = List.copyOf(included);
        excluded = List.copyOf(excluded);
    }

    /** Converts a configured name for comparison with the bytes of a query: one character for each byte of UTF-8. */
    public static String nameOf(String configured) {
        return UriBytes.charPerByte(configured);
    }

    /** Returns true if every query stays unchanged. */
    public boolean isWhole() {
        return !ignored && included.isEmpty() && excluded.isEmpty() && !sorted;
    }

    /**
     * Returns the URL with the kept parameters, without a question mark if there are none; the same instance if nothing
     * changes.
     */
    public TargetUri apply(TargetUri url) {
        if (isWhole() || !url.hasQuery()) {
            return url;
        }
        if (ignored) {
            return url.withQuery(NOTHING, 0);
        }
        byte[] bytes = url.targetBytes();
        int from = url.pathEnd() + 1;
        int to = url.queryEnd();
        if (isUnchanged(bytes, from, to, sorted && !hasSemicolon(bytes, from, to))) {
            return url;
        }
        Parameters kept = new Parameters(bytes, to - from);
        for (int start = from; start <= to; ) {
            int end = indexOf(bytes, (byte) '&', start, to);
            if (isKept(bytes, start, end)) {
                kept.add(start, end);
            }
            start = end + 1;
        }
        if (sorted) {
            kept.sort();
        }
        return kept.applyTo(url);
    }

    /** Returns true if all parameters are kept and, if required, sorted. */
    private boolean isUnchanged(byte[] bytes, int from, int to, boolean sorts) {
        int before = -1;
        for (int start = from; start <= to; ) {
            int end = indexOf(bytes, (byte) '&', start, to);
            if (!isKept(bytes, start, end)) {
                return false;
            }
            if (sorts
                    && before >= 0
                    && UriBytes.compareDecoded(
                                    bytes, before, nameEnd(bytes, before, start - 1), start, nameEnd(bytes, start, end))
                            > 0) {
                return false;
            }
            before = start;
            start = end + 1;
        }
        return true;
    }

    private boolean isKept(byte[] bytes, int start, int end) {
        if (start == end) {
            return false;
        }
        int nameEnd = nameEnd(bytes, start, end);
        return (included.isEmpty() || isOneOf(included, bytes, start, nameEnd))
                && !isOneOf(excluded, bytes, start, nameEnd);
    }

    private static boolean isOneOf(List<String> names, byte[] bytes, int start, int end) {
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            boolean isPrefix = name.endsWith("*");
            int length = isPrefix ? name.length() - 1 : name.length();
            if (UriBytes.decodesTo(bytes, start, end, name, length, isPrefix)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasSemicolon(byte[] bytes, int start, int end) {
        return indexOf(bytes, (byte) ';', start, end) < end;
    }

    private static int nameEnd(byte[] bytes, int start, int end) {
        return indexOf(bytes, (byte) '=', start, end);
    }

    private static int indexOf(byte[] bytes, byte wanted, int from, int to) {
        int i = from;
        while (i < to && bytes[i] != wanted) {
            i++;
        }
        return i;
    }

    /** The kept parameters of one query. */
    private static final class Parameters {
        private final byte[] bytes;
        private final int lengthMax;
        /** Start (upper 32 bits) and end (lower 32 bits) of each kept parameter. */
        private long[] ranges = new long[8];

        private int count;

        Parameters(byte[] bytes, int lengthMax) {
            this.bytes = bytes;
            this.lengthMax = lengthMax;
        }

        void add(int start, int end) {
            if (count == ranges.length) {
                ranges = Arrays.copyOf(ranges, count * 2);
            }
            ranges[count++] = (long) start << 32 | end;
        }

        /**
         * Sorts by name; parameters of one name keep their order. Does nothing if any parameter contains a semicolon.
         */
        void sort() {
            Long[] boxed = new Long[count];
            for (int i = 0; i < count; i++) {
                if (hasSemicolon(bytes, (int) (ranges[i] >>> 32), (int) ranges[i])) {
                    return;
                }
                boxed[i] = ranges[i];
            }
            Arrays.sort(boxed, (a, b) -> compare(a, b));
            for (int i = 0; i < count; i++) {
                ranges[i] = boxed[i];
            }
        }

        private int compare(long a, long b) {
            int aStart = (int) (a >>> 32);
            int bStart = (int) (b >>> 32);
            return UriBytes.compareDecoded(
                    bytes, aStart, nameEnd(bytes, aStart, (int) a), bStart, nameEnd(bytes, bStart, (int) b));
        }

        TargetUri applyTo(TargetUri url) {
            byte[] query = new byte[lengthMax];
            int length = 0;
            for (int i = 0; i < count; i++) {
                if (i > 0) {
                    query[length++] = '&';
                }
                int start = (int) (ranges[i] >>> 32);
                int size = (int) ranges[i] - start;
                System.arraycopy(bytes, start, query, length, size);
                length += size;
            }
            return url.withQuery(query, length);
        }
    }
}
