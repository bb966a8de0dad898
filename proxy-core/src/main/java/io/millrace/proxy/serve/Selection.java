package io.millrace.proxy.serve;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.Preconditions;
import io.millrace.proxy.caching.validate.RangeSelection;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldNames;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The part of a stored response that a client receives. This is the complete content, one or more ranges, or no
 * content. Determined by the request's preconditions, Range and If-Range (RFC 9110 s13.2.2, s14).
 *
 * <p>Immutable.
 *
 * @param kind the kind of response
 * @param first position of the first byte sent
 * @param end position after the last byte sent
 * @param parts the ranges of {@link Kind#PARTS}, else null
 */
public record Selection(
        Kind kind, long first, long end, @Nullable ByteRanges parts) {
    /** The kind of response. */
    public enum Kind {
        /** The stored status with the complete content. */
        WHOLE,
        /** 206 with one range. */
        PART,
        /** 206 with several ranges as multipart/byteranges. */
        PARTS,
        /** 304. */
        NOT_MODIFIED,
        /** 412: If-Match or If-Unmodified-Since is false. */
        PRECONDITION_FAILED,
        /** 416: no requested range lies within the content. */
        UNSATISFIABLE
    }

    private static final FieldNames SELECTING_FIELDS = FieldNames.of(
            FieldName.RANGE,
            FieldName.IF_NONE_MATCH,
            FieldName.IF_MODIFIED_SINCE,
            FieldName.IF_MATCH,
            FieldName.IF_UNMODIFIED_SINCE);

    private static final Selection NOT_MODIFIED = new Selection(Kind.NOT_MODIFIED, 0, 0, null);
    private static final Selection PRECONDITION_FAILED = new Selection(Kind.PRECONDITION_FAILED, 0, 0, null);
    private static final Selection UNSATISFIABLE = new Selection(Kind.UNSATISFIABLE, 0, 0, null);

    /**
     * Returns the selection for a request.
     *
     * @param length length of the complete content; -1 if it is not known yet, so that ranges are ignored
     */
    public static Selection of(RequestHead request, StoredHead stored, long length) {
        Selection conditional = ofConditions(request, stored);
        if (conditional != null) {
            return conditional;
        }
        if (length >= 0) {
            RangeSelection range = RangeSelection.of(request, stored, length);
            if (range instanceof RangeSelection.Single single) {
                return part(single);
            }
            if (range instanceof RangeSelection.Multi multi) {
                ByteRanges parts = ByteRanges.of(multi.ranges(), stored, length);
                return parts.totalBytes() < length
                        ? new Selection(Kind.PARTS, 0, parts.totalBytes(), parts)
                        : new Selection(Kind.WHOLE, 0, length, null);
            }
            if (range instanceof RangeSelection.Unsatisfiable) {
                return UNSATISFIABLE;
            }
        }
        return new Selection(Kind.WHOLE, 0, length, null);
    }

    /**
     * Returns the selection for a request if only a part of the content is stored. Positions refer to the
     * complete content.
     *
     * @return null if the request needs more than the stored part
     */
    public static @Nullable Selection ofPart(RequestHead request, StoredHead stored, ContentRange part) {
        Selection conditional = ofConditions(request, stored);
        if (conditional != null) {
            return conditional;
        }
        boolean ranged = request.method() == Method.GET
                && request.fields().contains(FieldName.RANGE)
                && Preconditions.allowsRange(request, stored);
        if (!ranged) {
            return null;
        }
        if (part.length() < 0) {
            // Without the total length, only a range with both positions can be checked against the part.
            return RangeSelection.of(request.fields(), Long.MAX_VALUE) instanceof RangeSelection.Single single
                            && part.covers(
                                    single.range().first(), single.range().last() + 1)
                    ? part(single)
                    : null;
        }
        RangeSelection range = RangeSelection.of(request.fields(), part.length());
        if (range instanceof RangeSelection.Single single) {
            Selection selected = part(single);
            return part.covers(selected.first, selected.end) ? selected : null;
        }
        return range instanceof RangeSelection.Unsatisfiable ? UNSATISFIABLE : null;
    }

    private static Selection part(RangeSelection.Single single) {
        return new Selection(Kind.PART, single.range().first(), single.range().last() + 1, null);
    }

    /** Returns true if a request has preconditions or a range. Otherwise the client receives the complete content. */
    public static boolean isRequestedBy(RequestHead request) {
        return SELECTING_FIELDS.isAnyIn(request.fields());
    }

    private static @Nullable Selection ofConditions(RequestHead request, StoredHead stored) {
        return switch (Preconditions.evaluate(request, stored)) {
            case NOT_MODIFIED -> NOT_MODIFIED;
            case FAILED -> PRECONDITION_FAILED;
            case PROCEED -> null;
        };
    }

    /** Returns true if content follows the head, unless the request is HEAD. */
    public boolean hasContent() {
        return kind == Kind.PART || kind == Kind.PARTS || (kind == Kind.WHOLE && end != 0);
    }

    /** Status of the response. */
    public int status(StoredHead stored) {
        return switch (kind) {
            case WHOLE -> stored.status();
            case PART, PARTS -> 206;
            case NOT_MODIFIED -> 304;
            case PRECONDITION_FAILED -> 412;
            case UNSATISFIABLE -> 416;
        };
    }

    /**
     * Fills the head of the response.
     *
     * @param length length of the complete content; -1 if it is not known
     */
    public OutboundHead fill(OutboundHead head, StoredHead stored, long length) {
        boolean knowsLength = stored.contentLength() >= 0;
        return switch (kind) {
            case WHOLE ->
                head.resetWire(stored.status(), stored.wireBytes(), knowsLength).contentLength(length);
            case PART ->
                head.resetWire(206, stored.partialBytes(first, end - 1, length), true)
                        .contentLength(end - first);
            case PARTS -> parts().fill(head, stored);
            case NOT_MODIFIED ->
                head.resetWire(304, stored.notModifiedBytes(), true).withoutContent();
            case PRECONDITION_FAILED ->
                head.reset(412, LocalAnswers.reason(412), LocalAnswers.withoutContent(stored.dateSeconds()))
                        .contentLength(0);
            case UNSATISFIABLE ->
                head.reset(416, LocalAnswers.reason(416), LocalAnswers.withoutContent(stored.dateSeconds()))
                        .contentRange(AsciiString.cached("bytes */" + length))
                        .contentLength(0);
        };
    }

    @Override
    public ByteRanges parts() {
        if (parts == null) {
            throw new IllegalStateException("parts() is only permitted for the kind PARTS: actual=" + kind);
        }
        return parts;
    }
}
