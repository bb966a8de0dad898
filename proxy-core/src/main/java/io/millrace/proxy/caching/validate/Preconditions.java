package io.millrace.proxy.caching.validate;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.field.EntityTag;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.ListCursor;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;

/**
 * Evaluates the preconditions of a client's request against a stored response, in the order of RFC 9110 s13.2.2.
 * Thread-safe: no state.
 */
public final class Preconditions {

    /** The result of the evaluation. */
    public enum Outcome {
        /** All preconditions hold: send the stored response, or the requested range. */
        PROCEED("proceed"),
        /** 304: the client's copy is this representation. */
        NOT_MODIFIED("not-modified"),
        /**
         * 412: If-Match or If-Unmodified-Since is false. A cache may also forward the request to the origin
         * (RFC 9110 s13.1.1).
         */
        FAILED("failed");

        private final String text;

        Outcome(String text) {
            this.text = text;
        }

        /** Stable name for logs. */
        public String text() {
            return text;
        }
    }

    private Preconditions() {}

    /**
     * Evaluates If-Match or If-Unmodified-Since, then If-None-Match or If-Modified-Since. Only for GET and HEAD with a
     * successful stored status; otherwise preconditions are ignored (s13.2.1).
     */
    public static Outcome evaluate(RequestHead request, StoredHead stored) {
        boolean applies = (request.method() == Method.GET || request.method() == Method.HEAD)
                && stored.status() >= 200
                && stored.status() < 300;
        if (!applies) {
            return Outcome.PROCEED;
        }
        FieldSection fields = request.fields();
        if (fields.contains(FieldName.IF_MATCH)) {
            if (!matchesAny(fields, FieldName.IF_MATCH, stored, true)) {
                return Outcome.FAILED;
            }
        } else if (fields.contains(FieldName.IF_UNMODIFIED_SINCE) && isModifiedSince(fields, stored)) {
            return Outcome.FAILED;
        }
        if (fields.contains(FieldName.IF_NONE_MATCH)) {
            return matchesAny(fields, FieldName.IF_NONE_MATCH, stored, false) ? Outcome.NOT_MODIFIED : Outcome.PROCEED;
        }
        return fields.contains(FieldName.IF_MODIFIED_SINCE) && isUnmodified(fields, stored)
                ? Outcome.NOT_MODIFIED
                : Outcome.PROCEED;
    }

    /**
     * Returns true if a Range field may be honoured. True without If-Range, or if If-Range identifies this
     * representation: by the same strong entity tag, or by the same Last-Modified if that is a strong validator
     * (s13.1.5, s8.8.2.2).
     */
    public static boolean allowsRange(RequestHead request, StoredHead stored) {
        FieldSection fields = request.fields();
        int line = fields.find(FieldName.IF_RANGE);
        if (line < 0) {
            return true;
        }
        if (fields.next(FieldName.IF_RANGE, line) >= 0) {
            return false;
        }
        byte[] b = fields.bytes();
        int from = fields.valueStart(line);
        int to = fields.valueEnd(line);
        long date = HttpDates.parse(b, from, to, referenceSeconds(stored));
        if (date == HttpDates.INVALID) {
            return stored.hasEntityTag()
                    && EntityTag.matchesStrongly(
                            b, from, to, stored.wireBytes(), stored.entityTagStart(), stored.entityTagEnd());
        }
        return date == stored.lastModifiedSeconds() && StrongValidator.hasStrongDate(stored);
    }

    private static boolean matchesAny(FieldSection fields, FieldName name, StoredHead stored, boolean strongly) {
        ListCursor tags = ListCursor.overEntityTags(fields, name);
        while (tags.next()) {
            byte[] b = tags.bytes();
            int from = tags.start();
            int to = tags.end();
            if (to - from == 1 && b[from] == '*') {
                return true;
            }
            if (!stored.hasEntityTag()) {
                continue;
            }
            boolean matches = strongly
                    ? EntityTag.matchesStrongly(
                            b, from, to, stored.wireBytes(), stored.entityTagStart(), stored.entityTagEnd())
                    : EntityTag.matchesWeakly(
                            b, from, to, stored.wireBytes(), stored.entityTagStart(), stored.entityTagEnd());
            if (matches) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns true if If-Unmodified-Since fails. An invalid date, or a stored response without Last-Modified, makes the
     * field ignored.
     */
    private static boolean isModifiedSince(FieldSection fields, StoredHead stored) {
        long since = date(fields, FieldName.IF_UNMODIFIED_SINCE, stored);
        return since != HttpDates.INVALID && stored.hasLastModified() && stored.lastModifiedSeconds() > since;
    }

    /**
     * Returns true if If-Modified-Since allows a 304. Without Last-Modified the stored Date is compared (RFC 9111
     * s4.3.2).
     */
    private static boolean isUnmodified(FieldSection fields, StoredHead stored) {
        long since = date(fields, FieldName.IF_MODIFIED_SINCE, stored);
        long modified = stored.hasLastModified() ? stored.lastModifiedSeconds() : stored.dateSeconds();
        return since != HttpDates.INVALID && modified <= since;
    }

    private static long date(FieldSection fields, FieldName name, StoredHead stored) {
        int line = fields.find(name);
        return fields.next(name, line) >= 0
                ? HttpDates.INVALID
                : HttpDates.parse(fields, line, referenceSeconds(stored));
    }

    /** Returns the time of receipt. It determines the century of a two-digit year in a date. */
    private static long referenceSeconds(StoredHead stored) {
        return Math.floorDiv(stored.responseTimeMillis(), 1000L);
    }
}
