package io.millrace.proxy.caching.validate;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * A 206 with one part, interpreted as a part of a representation (RFC 9111 s3, s3.3). A 206 is storable if a 200 with
 * the same fields would be storable. Immutable.
 *
 * @param range the position of the part
 * @param representation the head that a 200 with the whole representation would have
 * @param whole the stored head of the whole representation
 * @param part the stored head of the part: status 206 with its Content-Range
 * @param storable whether the part may be stored
 * @param isLengthAsStated whether the content has the length that its Content-Range states. If false, this
 *     Content-Range must not be sent to other clients
 */
public record PartialContent(
        ContentRange range,
        ResponseHead representation,
        StoredHead whole,
        StoredHead part,
        boolean storable,
        boolean isLengthAsStated) {

    /**
     * Interprets the head of a 206.
     *
     * @param contentLength bytes of its content, -1 when unknown
     * @return null when the 206 has several parts or contradicts itself; the caller then forwards it unchanged
     */
    public static @Nullable PartialContent of(
            RequestHead request,
            ResponseHead head,
            long contentLength,
            long requestTimeMillis,
            long responseTimeMillis,
            CacheSettings settings) {
        ContentRange stated = ContentRange.of(head.fields());
        if (stated == null) {
            return null;
        }
        FieldSection.Builder fields = FieldSection.builder().addAll(head.fields());
        fields.remove(FieldName.CONTENT_RANGE);
        fields.remove(FieldName.CONTENT_LENGTH);
        ResponseHead representation = ResponseHead.of(200, "OK", fields.build());
        StoredHead whole = StoredHead.of(request, representation, requestTimeMillis, responseTimeMillis, settings);
        ContentRange range = agreed(request, stated, contentLength, StrongValidator.isPresent(whole));
        if (range == null) {
            return null;
        }
        boolean storable = range.length() != StoredHead.UNKNOWN
                && Storability.of(request, representation, responseTimeMillis, settings) instanceof Storability.Storable
                && settings.storing().allowsLength(range.length());
        fields.add(FieldName.CONTENT_RANGE, range.text());
        StoredHead part = StoredHead.of(
                request,
                ResponseHead.of(206, "Partial Content", fields.build()),
                requestTimeMillis,
                responseTimeMillis,
                settings);
        return new PartialContent(
                range, representation, whole.withContentLength(range.length()), part, storable, range.equals(stated));
    }

    /**
     * Returns the range that agrees with Content-Range and with the content's length; null for a contradiction. Content
     * shorter than its Content-Range is accepted in one case. The request asked for exactly this many bytes at the end,
     * and there is no strong validator, so the part is never combined with other parts. The content then starts at the
     * stated first position and ends the representation.
     */
    private static @Nullable ContentRange agreed(
            RequestHead request, ContentRange stated, long contentLength, boolean combinable) {
        if (contentLength < 0 || contentLength == stated.bytes()) {
            return stated;
        }
        boolean shortEnd = contentLength > 0
                && contentLength < stated.bytes()
                && stated.first() > 0
                && stated.end() == stated.length()
                && RangeSelection.lastBytes(request.fields()) == contentLength;
        if (combinable || !shortEnd) {
            return null;
        }
        long end = stated.first() + contentLength;
        return new ContentRange(stated.first(), end - 1, end);
    }

    /** Returns the position of the part of a stored head with status 206. */
    public static ContentRange rangeOf(StoredHead part) {
        ContentRange range = ContentRange.of(part.fields());
        if (range == null) {
            throw new IllegalStateException("a stored part has no valid Content-Range: " + part);
        }
        return range;
    }

    /**
     * Returns the stored head of the whole representation, combined from a stored part and this one. The fields of this
     * part take precedence (RFC 9111 s3.4). Fields for the requesting client only, such as a new Set-Cookie, are not
     * stored.
     */
    public StoredHead combinedWith(
            RequestHead request,
            StoredHead stored,
            long requestTimeMillis,
            long responseTimeMillis,
            CacheSettings settings) {
        FieldSection.Builder old = FieldSection.builder().addAll(stored.fields());
        old.remove(FieldName.CONTENT_RANGE);
        old.remove(FieldName.CONTENT_LENGTH);
        FieldSection fields = Validation.updatedFields(old.build(), representation.fields());
        ResponseHead head = ResponseHead.of(200, "OK", fields);
        return stored.updated(request, head, requestTimeMillis, responseTimeMillis, settings)
                .withContentLength(range.length())
                .withPin(stored.pinnedUntilSeconds());
    }
}
