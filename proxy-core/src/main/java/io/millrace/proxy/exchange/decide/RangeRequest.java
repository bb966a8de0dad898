package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.validate.RangeSelection;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * Values of the Range and If-Range fields of a request to an origin.
 *
 * <p>Immutable.
 *
 * @param range the Range field's value
 * @param ifRange the If-Range field's value, or null
 */
public record RangeRequest(String range, @Nullable String ifRange) {
    /**
     * Ranges are extended to multiples of this many bytes: 1 MiB. A piece consists of one or several whole blocks of
     * the store, so that all received bytes can be stored.
     */
    public static final long PIECE_BYTES = 1L << 20;

    /**
     * Content length assumed while the real length is unknown. A range without a last position then ends at
     * {@code ENDLESS - 1}.
     */
    private static final long ENDLESS = Long.MAX_VALUE;

    /**
     * Returns the range to request when a client's range is not stored. The client's If-Range is kept, because both
     * possible responses, 200 and 206, answer this client and may be stored.
     *
     * @return null to fetch the whole content: the range starts in the first piece and has no end, or the field is not
     *     a single range
     */
    public static @Nullable RangeRequest forMiss(RequestHead request) {
        if (!(RangeSelection.of(request.fields(), ENDLESS) instanceof RangeSelection.Single single)) {
            return null;
        }
        String ifRange = request.fields().joined(FieldName.IF_RANGE);
        long first = single.range().first();
        long last = single.range().last();
        boolean isOpen = last == ENDLESS - 1;
        if (isOpen && first > 0 && isSuffixRange(request, first)) {
            return new RangeRequest("bytes=-" + (ENDLESS - first), ifRange);
        }
        long start = first / PIECE_BYTES * PIECE_BYTES;
        if (isOpen) {
            return start == 0 ? null : new RangeRequest("bytes=" + start + "-", ifRange);
        }
        return new RangeRequest("bytes=" + start + "-" + (roundedUp(last) - 1), ifRange);
    }

    /** Returns true if the range is a suffix range: its first position depends on the assumed content length. */
    private static boolean isSuffixRange(RequestHead request, long first) {
        return RangeSelection.of(request.fields(), ENDLESS - 1) instanceof RangeSelection.Single single
                && single.range().first() != first;
    }

    /**
     * Returns false if a 206 to the request of {@link #forMiss} lacks the first byte of the client's range. The
     * requested range is larger than the client's range, but an origin may send less of it (RFC 9110 s15.3.7). Returns
     * true if this cannot be checked: for a suffix range, for several ranges, or without a valid Content-Range.
     */
    public static boolean coversFirstByte(RequestHead request, FieldSection answer) {
        ContentRange range = ContentRange.of(answer);
        if (range == null || !(RangeSelection.of(request.fields(), ENDLESS) instanceof RangeSelection.Single single)) {
            return true;
        }
        long first = single.range().first();
        boolean fromTheEnd = single.range().last() == ENDLESS - 1 && first > 0 && isSuffixRange(request, first);
        return fromTheEnd || (range.first() <= first && first < range.end());
    }

    /** Returns true if the Range field of a request lists several ranges. */
    public static boolean isMultiRange(RequestHead request) {
        return request.fields().contains(FieldName.RANGE)
                && RangeSelection.of(request.fields(), ENDLESS) instanceof RangeSelection.Multi;
    }

    /** Requests the bytes {@code [position, end)} of the representation that {@code ifRange} identifies. */
    public static RangeRequest of(long position, long end, @Nullable String ifRange) {
        return new RangeRequest("bytes=" + position + "-" + (end - 1), ifRange);
    }

    /** Requests all bytes from {@code position} to the end. */
    public static RangeRequest from(long position, @Nullable String ifRange) {
        return new RangeRequest("bytes=" + position + "-", ifRange);
    }

    /**
     * Returns true if a range request has an If-Range field with a date. A date, unlike an entity tag, does not
     * distinguish the encoded content from the origin's content. So if this proxy encodes the content, the client may
     * have a part of the encoded content, and must not combine it with a part from the origin.
     */
    public static boolean isDated(FieldSection requestFields) {
        int line = requestFields.find(FieldName.IF_RANGE);
        return line >= 0
                && requestFields.contains(FieldName.RANGE)
                && requestFields.value(line).indexOf('"') < 0;
    }

    private static long roundedUp(long last) {
        long pieces = last / PIECE_BYTES + 1;
        return pieces > ENDLESS / PIECE_BYTES ? ENDLESS : pieces * PIECE_BYTES;
    }
}
