package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.validate.RangeSelection;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * The part that an origin is asked for.
 *
 * <p>Immutable.
 *
 * @param range the Range field's value
 * @param ifRange the If-Range field's value, or null
 */
public record RangeRequest(String range, @Nullable String ifRange) {
    /**
     * Parts are asked for by whole pieces of this many bytes, counted from the first: they are the store's blocks, or several of
     * them, so that what comes can be kept, and a short response comes whole. 1 MiB.
     */
    public static final long PIECE_BYTES = 1L << 20;

    /** A client's Range whose last position is left to the origin has one beyond this when read for an endless content. */
    private static final long ENDLESS = Long.MAX_VALUE;

    /**
     * What to ask for when a client's range is not stored. The client's If-Range stays: its answer is right for this client either
     * way, and may be stored either way.
     *
     * @return null when the whole is to be fetched: the range begins near the first byte and has no end, or is no range
     */
    public static @Nullable RangeRequest forMiss(RequestHead request) {
        if (!(RangeSelection.of(request.fields(), ENDLESS) instanceof RangeSelection.Single single)) {
            return null;
        }
        String ifRange = request.fields().joined(FieldName.IF_RANGE);
        long first = single.range().first();
        long last = single.range().last();
        boolean isOpen = last == ENDLESS - 1;
        if (isOpen && first > 0 && isFromTheEnd(request, first)) {
            return new RangeRequest("bytes=-" + (ENDLESS - first), ifRange);
        }
        long start = first / PIECE_BYTES * PIECE_BYTES;
        if (isOpen) {
            return start == 0 ? null : new RangeRequest("bytes=" + start + "-", ifRange);
        }
        return new RangeRequest("bytes=" + start + "-" + (roundedUp(last) - 1), ifRange);
    }

    /** A range counted from the end moves with it. */
    private static boolean isFromTheEnd(RequestHead request, long first) {
        return RangeSelection.of(request.fields(), ENDLESS - 1) instanceof RangeSelection.Single single
                && single.range().first() != first;
    }

    /**
     * Whether a 206 to what {@link #forMiss} asks for begins at or before what the client wants to begin with, and reaches it. An
     * origin may send less than it was asked for (RFC 9110 s15.3.7), and this asks for more than the client.
     */
    public static boolean isReachedBy(RequestHead request, FieldSection answer) {
        ContentRange range = ContentRange.of(answer);
        if (range == null || !(RangeSelection.of(request.fields(), ENDLESS) instanceof RangeSelection.Single single)) {
            return true;
        }
        long first = single.range().first();
        boolean fromTheEnd = single.range().last() == ENDLESS - 1 && first > 0 && isFromTheEnd(request, first);
        return fromTheEnd || (range.first() <= first && first < range.end());
    }

    /** Whether a client asks for several parts. */
    public static boolean isForSeveral(RequestHead request) {
        return request.fields().contains(FieldName.RANGE)
                && RangeSelection.of(request.fields(), ENDLESS) instanceof RangeSelection.Multi;
    }

    /** Bytes {@code [position, end)} of the representation that {@code ifRange} names. */
    public static RangeRequest of(long position, long end, @Nullable String ifRange) {
        return new RangeRequest("bytes=" + position + "-" + (end - 1), ifRange);
    }

    /** All from {@code position} on. */
    public static RangeRequest from(long position, @Nullable String ifRange) {
        return new RangeRequest("bytes=" + position + "-", ifRange);
    }

    private static long roundedUp(long last) {
        long pieces = last / PIECE_BYTES + 1;
        return pieces > ENDLESS / PIECE_BYTES ? ENDLESS : pieces * PIECE_BYTES;
    }
}
