package io.millrace.proxy.serve;

import io.millrace.proxy.caching.Preconditions;
import io.millrace.proxy.caching.RangeSelection;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.netty.util.AsciiString;

/**
 * What a client gets of a stored response: all of it, a part, or only the word that its copy is good. Follows from the request's
 * preconditions, Range and If-Range (RFC 9110 s13.2.2, s14).
 *
 * <p>Immutable.
 *
 * @param kind which answer
 * @param first position of the first byte sent
 * @param end position after the last byte sent
 */
public record Selection(Kind kind, long first, long end) {
    /** Which answer. */
    public enum Kind {
        /** The stored status with the whole content. */
        WHOLE,
        /** 206 with one range. */
        PART,
        /** 304. */
        NOT_MODIFIED,
        /** 416: no range asked for lies within the content. */
        UNSATISFIABLE
    }

    private static final Selection NOT_MODIFIED = new Selection(Kind.NOT_MODIFIED, 0, 0);
    private static final Selection UNSATISFIABLE = new Selection(Kind.UNSATISFIABLE, 0, 0);

    /**
     * Selects for a request.
     *
     * @param length length of the whole content, or -1 while unknown: then there is no part
     */
    public static Selection of(RequestHead request, StoredHead stored, long length) {
        if (Preconditions.evaluate(request, stored) == Preconditions.Outcome.NOT_MODIFIED) {
            return NOT_MODIFIED;
        }
        if (length >= 0) {
            RangeSelection range = RangeSelection.of(request, stored, length);
            if (range instanceof RangeSelection.Single single) {
                return new Selection(
                        Kind.PART, single.range().first(), single.range().last() + 1);
            }
            if (range instanceof RangeSelection.Unsatisfiable) {
                return UNSATISFIABLE;
            }
        }
        return new Selection(Kind.WHOLE, 0, length);
    }

    /** Whether content follows the head, unless the request was HEAD. */
    public boolean hasContent() {
        return kind == Kind.PART || (kind == Kind.WHOLE && end != 0);
    }

    /**
     * Fills the head of the answer.
     *
     * @param length as given to {@link #of}
     */
    public OutboundHead fill(OutboundHead head, StoredHead stored, long length) {
        boolean knowsLength = stored.contentLength() >= 0;
        return switch (kind) {
            case WHOLE ->
                head.resetWire(stored.status(), stored.wireBytes(), knowsLength).contentLength(length);
            case PART ->
                head.resetWire(206, stored.partialBytes(first, end - 1, length), true)
                        .contentLength(end - first);
            case NOT_MODIFIED ->
                head.resetWire(304, stored.notModifiedBytes(), true).withoutContent();
            case UNSATISFIABLE ->
                head.reset(416, LocalAnswers.reason(416), LocalAnswers.unsatisfiable(stored.dateSeconds()))
                        .contentRange(AsciiString.cached("bytes */" + length))
                        .contentLength(0);
        };
    }
}
