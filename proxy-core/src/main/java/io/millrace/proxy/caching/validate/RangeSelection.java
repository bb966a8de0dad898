package io.millrace.proxy.caching.validate;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import java.util.ArrayList;
import java.util.List;

/** The part of a stored response's content that a request selects by Range (RFC 9110 s14). Immutable. */
public sealed interface RangeSelection {

    /** No range, or an ignored Range field: answer 200 with the whole content. */
    record Whole() implements RangeSelection {}

    /** A single range: answer 206. */
    record Single(ByteRange range) implements RangeSelection {}

    /**
     * Several ranges in the order of the request: answer 206 as multipart/byteranges, or 200 with the whole content.
     */
    record Multi(List<ByteRange> ranges) implements RangeSelection {

        /** Copies the list. */
        public Multi {
            ranges = List.copyOf(ranges);
        }
    }

    /** No range lies within the content: answer 416 with {@code Content-Range: bytes *}{@code /length}. */
    record Unsatisfiable() implements RangeSelection {}

    /**
     * A range of the content.
     *
     * @param first position of the first byte
     * @param last position of the last byte, at least {@code first}
     */
    record ByteRange(long first, long last) {

        /** Number of bytes. */
        public long length() {
            return last - first + 1;
        }
    }

    /** The shared instance. */
    Whole WHOLE = new Whole();

    /** The shared instance. */
    Unsatisfiable UNSATISFIABLE = new Unsatisfiable();

    /**
     * Limit of ranges. A request for more gets the whole content: each range costs a part with its own fields (s14.2,
     * s17.15).
     */
    int RANGES_MAX = 16;

    /**
     * Selects for a request, considering method, stored status and If-Range.
     *
     * @param length length of the whole content, known
     */
    static RangeSelection of(RequestHead request, StoredHead stored, long length) {
        boolean applies = request.method() == Method.GET
                && request.fields().contains(FieldName.RANGE)
                && stored.status() == 200
                && Preconditions.allowsRange(request, stored);
        return applies ? of(request.fields(), length) : WHOLE;
    }

    /** Selects by the Range field alone, for content of that length. Malformed fields and other units are ignored. */
    static RangeSelection of(FieldSection fields, long length) {
        int line = fields.find(FieldName.RANGE);
        if (line < 0 || fields.next(FieldName.RANGE, line) >= 0) {
            return WHOLE;
        }
        ListCursor specs = ListCursor.over(fields, FieldName.RANGE);
        List<ByteRange> ranges = new ArrayList<>(2);
        int count = 0;
        while (specs.next()) {
            byte[] b = specs.bytes();
            int from = specs.start();
            if (count == 0) {
                int unit = from + "bytes=".length();
                if (unit > specs.end() || !FieldLexer.equalsIgnoreCase(b, from, unit, "bytes=")) {
                    return WHOLE;
                }
                from = FieldLexer.skipSpace(b, unit, specs.end());
            }
            count++;
            if (count > RANGES_MAX || !read(b, from, specs.end(), length, ranges)) {
                return WHOLE;
            }
        }
        return result(ranges, count);
    }

    /** Returns the length of a single suffix range such as {@code bytes=-500}; -1 for any other Range or none. */
    static long lastBytes(FieldSection fields) {
        // Only for a suffix range does the first position depend on the length of the content.
        boolean isSuffix = of(fields, Long.MAX_VALUE) instanceof Single one
                && of(fields, Long.MAX_VALUE - 1) instanceof Single other
                && one.range().first() != other.range().first();
        return isSuffix && of(fields, Long.MAX_VALUE) instanceof Single one
                ? one.range().length()
                : -1;
    }

    private static RangeSelection result(List<ByteRange> ranges, int count) {
        // More than two overlapping ranges indicate a broken client or an attack (s14.2).
        if (count == 0 || overlaps(ranges) > 2) {
            return WHOLE;
        }
        return switch (ranges.size()) {
            case 0 -> UNSATISFIABLE;
            case 1 -> new Single(ranges.get(0));
            default -> new Multi(ranges);
        };
    }

    /** Adds one range if it lies within the content. Returns false when the whole field must be ignored. */
    private static boolean read(byte[] b, int from, int to, long length, List<ByteRange> ranges) {
        int dash = from;
        while (dash < to && b[dash] != '-') {
            dash++;
        }
        if (dash == to) {
            return false;
        }
        boolean isSuffix = dash == from;
        long first = isSuffix ? 0 : FieldLexer.number(b, from, dash);
        boolean isOpen = dash + 1 == to;
        long second = isOpen ? Long.MAX_VALUE : FieldLexer.number(b, dash + 1, to);
        if (first < 0 || second < 0 || (isSuffix && isOpen) || (!isSuffix && second < first)) {
            return false;
        }
        if (isSuffix && length == 0 && second > 0) {
            // A suffix range of empty content is satisfiable (s14.1.2), but Content-Range cannot express it.
            return false;
        }
        if (isSuffix) {
            if (second > 0) {
                ranges.add(new ByteRange(Math.max(0, length - second), length - 1));
            }
        } else if (first < length) {
            ranges.add(new ByteRange(first, Math.min(second, length - 1)));
        }
        return true;
    }

    private static int overlaps(List<ByteRange> ranges) {
        int overlaps = 0;
        for (int i = 1; i < ranges.size(); i++) {
            for (int j = 0; j < i; j++) {
                boolean apart = ranges.get(i).first() > ranges.get(j).last()
                        || ranges.get(i).last() < ranges.get(j).first();
                overlaps += apart ? 0 : 1;
            }
        }
        return overlaps;
    }
}
