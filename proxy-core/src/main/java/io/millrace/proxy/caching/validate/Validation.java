package io.millrace.proxy.caching.validate;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.WireHeads;
import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.field.EntityTag;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.forward.HopByHop;
import org.jspecify.annotations.Nullable;

/** Validates stored responses with the origin and applies the results (RFC 9111 s4.3). Thread-safe: no state. */
public final class Validation {

    /** The effect of a 304, or of the response to a HEAD, on a stored response. Immutable. */
    public sealed interface Outcome {}

    /**
     * The stored response is freshened.
     *
     * @param head the head to store in place of the old one, and for all other clients
     * @param answer the head for the client whose request was sent, including the fields for that client only
     */
    public record Freshened(StoredHead head, StoredHead answer) implements Outcome {}

    /**
     * The stored response is valid, but the origin does not permit storing the updated head. So it answers this request
     * only.
     */
    public record Unstorable(StoredHead head, NoStoreReason reason) implements Outcome {

        /**
         * Returns true if the stored response must be removed. If the only obstacle is the request's Authorization (RFC
         * 9111 s3.5), the response stays stored, but stale.
         */
        public boolean isRemoved() {
            return reason != NoStoreReason.AUTHORIZATION;
        }
    }

    /** The response concerns another representation: do not use it, and fetch without conditions. */
    public record Mismatched(MismatchReason reason) implements Outcome {}

    /** The response has no effect on the stored one. */
    public record Unaffected() implements Outcome {}

    /** The difference between a stored response and the update. */
    public enum MismatchReason {
        /** The entity tag (RFC 9111 s4.3.4). */
        ENTITY_TAG("etag"),
        /** Last-Modified (s4.3.4). */
        LAST_MODIFIED("last-modified"),
        /** Content-Length of a response to HEAD (s4.3.5). */
        CONTENT_LENGTH("content-length");

        private final String text;

        MismatchReason(String text) {
            this.text = text;
        }

        /** Stable name for logs. */
        public String text() {
            return text;
        }
    }

    /** The shared instance. */
    public static final Unaffected UNAFFECTED = new Unaffected();

    private static final FieldName[] CLIENT_CONDITIONS = {
        FieldName.IF_MATCH,
        FieldName.IF_NONE_MATCH,
        FieldName.IF_MODIFIED_SINCE,
        FieldName.IF_UNMODIFIED_SINCE,
        FieldName.IF_RANGE,
        FieldName.RANGE
    };

    /** Fields that describe the stored bytes, which a 304 does not change (RFC 9111 s3.2). */
    private static final FieldName[] NOT_UPDATED = {
        FieldName.CONTENT_LENGTH,
        FieldName.CONTENT_ENCODING,
        FieldName.CONTENT_RANGE,
        FieldName.of("Content-MD5"),
        FieldName.of("Content-Digest")
    };

    private Validation() {}

    /**
     * Makes a request to the origin conditional on the stored response's validators (RFC 9111 s4.3.1). Replaces the
     * client's own conditions and range.
     *
     * @return whether there is a validator; without one the request is unconditional
     */
    public static boolean replaceConditions(StoredHead stored, FieldSection.Builder requestFields) {
        removeConditions(requestFields);
        String tag = stored.entityTag();
        if (tag != null) {
            requestFields.add(FieldName.IF_NONE_MATCH, tag);
        }
        if (stored.hasLastModified()) {
            // The stored text is sent unchanged, since an origin may compare the text instead of the date.
            String lastModified = stored.fields().get(FieldName.LAST_MODIFIED);
            if (lastModified != null) {
                requestFields.add(FieldName.IF_MODIFIED_SINCE, lastModified);
            }
        }
        return stored.hasValidator();
    }

    /** Removes the client's conditions and range, for a request whose whole response is to be stored. */
    public static void removeConditions(FieldSection.Builder requestFields) {
        for (FieldName name : CLIENT_CONDITIONS) {
            requestFields.remove(name);
        }
    }

    /**
     * Applies the origin's 304 to the validated stored response (RFC 9111 s4.3.4, s3.2). Its fields replace the stored
     * ones of the same name, except those that describe the stored bytes and those for one client only.
     *
     * @param request the client's request; its values of newly listed Vary fields are stored
     */
    public static Outcome freshen(
            RequestHead request,
            StoredHead stored,
            ResponseHead notModified,
            long requestTimeMillis,
            long responseTimeMillis,
            CacheSettings settings) {
        MismatchReason mismatch = mismatch(stored, notModified.fields(), responseTimeMillis);
        return mismatch != null
                ? new Mismatched(mismatch)
                : merge(request, stored, notModified, requestTimeMillis, responseTimeMillis, settings);
    }

    /**
     * Applies the origin's response to HEAD to the stored response to GET (RFC 9111 s4.3.5). A 200 with the same
     * validators and length freshens the stored response. A 200 with other validators or another length outdates it.
     * Any other status has no effect.
     */
    public static Outcome ofHead(
            RequestHead request,
            StoredHead stored,
            ResponseHead response,
            long requestTimeMillis,
            long responseTimeMillis,
            CacheSettings settings) {
        if (response.status() != 200 || stored.status() != 200) {
            return UNAFFECTED;
        }
        MismatchReason mismatch = mismatch(stored, response.fields(), responseTimeMillis);
        if (mismatch == null && !hasSameLength(stored, response.fields())) {
            mismatch = MismatchReason.CONTENT_LENGTH;
        }
        return mismatch != null
                ? new Mismatched(mismatch)
                : merge(request, stored, response, requestTimeMillis, responseTimeMillis, settings);
    }

    private static Outcome merge(
            RequestHead request,
            StoredHead stored,
            ResponseHead update,
            long requestTimeMillis,
            long responseTimeMillis,
            CacheSettings settings) {
        FieldSection merged = updatedFields(stored.fields(), update.fields());
        ResponseHead response = ResponseHead.of(stored.status(), stored.reason(), merged);
        StoredHead head = stored.updated(request, response, requestTimeMillis, responseTimeMillis, settings)
                .withContentLength(stored.contentLength())
                .withPin(stored.pinnedUntilSeconds());
        StoredHead answer = forRequestingClient(head, update.fields(), settings);
        NoStoreReason reason = Storability.ofResponse(request, response, responseTimeMillis, settings);
        // These reasons only forbid the storing of new content, but a 304 confirms content that is already stored. For
        // example, the leak guard objects if this request has credentials, although the first request had none.
        return reason == null
                        || reason == NoStoreReason.NO_LIFETIME
                        || reason == NoStoreReason.HEURISTIC_REFUSED
                        || reason == NoStoreReason.LEAK_GUARD
                ? new Freshened(head, answer)
                : new Unstorable(answer, reason);
    }

    /**
     * Returns the stored fields after an update. A field of the update replaces the stored fields with its name (RFC
     * 9111 s3.2).
     */
    public static FieldSection updatedFields(FieldSection old, FieldSection update) {
        HopByHop hopByHop = HopByHop.of(update);
        FieldSection.Builder merged = FieldSection.builder();
        for (int line = 0; line < old.size(); line++) {
            FieldName name = FieldName.of(old.bytes(), old.nameStart(line), old.nameEnd(line));
            boolean replaced = name != null && update.contains(name) && !hopByHop.contains(name);
            // The old Date would make the updated response look old. A new Date is generated if the update has none.
            boolean dropped = old.isNamed(line, FieldName.DATE);
            if (!dropped && (!replaced || WireHeads.isOneOf(old, line, NOT_UPDATED))) {
                merged.addLine(old, line);
            }
        }
        for (int line = 0; line < update.size(); line++) {
            if (!hopByHop.contains(update, line) && !WireHeads.isOneOf(update, line, NOT_UPDATED)) {
                merged.addLine(update, line);
            }
        }
        return merged.build();
    }

    /**
     * Returns the head for the client whose request was sent. It is the stored head plus the fields for this client
     * only: Set-Cookie, and fields listed in {@code private="..."}, in {@code no-cache="..."} or in the configuration.
     *
     * @param shared the stored head, updated by the response
     * @param response the received fields of the response
     * @return {@code shared} itself when there are no such fields
     */
    public static StoredHead forRequestingClient(StoredHead shared, FieldSection response, CacheSettings settings) {
        FieldSection stored = shared.fields();
        CacheControl control =
                CacheControl.ofResponse(stored, settings.storing().targets());
        HopByHop hopByHop = HopByHop.of(response);
        FieldSection.Builder all = null;
        for (int line = 0; line < response.size(); line++) {
            boolean unshared = response.isNamed(line, FieldName.SET_COOKIE)
                    || control.names(response, line)
                    || CacheControl.isAmong(settings.storing().unsharedFields(), response, line);
            if (unshared && isMissing(stored, response, line, hopByHop)) {
                all = all == null ? FieldSection.builder().addAll(stored) : all;
                all.addLine(response, line);
            }
        }
        return all == null ? shared : shared.withFields(all.build());
    }

    private static boolean isMissing(FieldSection stored, FieldSection response, int line, HopByHop hopByHop) {
        FieldName name = FieldName.of(response.bytes(), response.nameStart(line), response.nameEnd(line));
        return name != null
                && !stored.contains(name)
                && !hopByHop.contains(response, line)
                && !WireHeads.isOneOf(response, line, NOT_UPDATED)
                && !WireHeads.isNeverStored(response, line);
    }

    /**
     * Returns true if a validator of the response proves that it concerns the stored representation. False without a
     * validator.
     *
     * @param responseTimeMillis time of the response, which selects the century of a date with a year of two digits
     */
    public static boolean isConfirmed(StoredHead stored, FieldSection answer, long responseTimeMillis) {
        int line = answer.find(FieldName.ETAG);
        if (line >= 0 && stored.hasEntityTag()) {
            return hasSameTag(stored, answer, line);
        }
        long modified = lastModified(answer, responseTimeMillis);
        return line < 0
                && !stored.hasEntityTag()
                && modified != HttpDates.INVALID
                && stored.hasLastModified()
                && modified == stored.lastModifiedSeconds();
    }

    /**
     * Returns the difference that proves another representation; null for none. Two strong tags must match strongly.
     * Other pairs must match weakly, because origins that compress send a weak tag with the content and the strong tag
     * with the 304. A strong tag in the answer proves another representation if the stored response has no tag. Dates
     * are compared only if the stored response has no tag.
     */
    private static @Nullable MismatchReason mismatch(StoredHead stored, FieldSection answer, long responseTimeMillis) {
        int line = answer.find(FieldName.ETAG);
        if (line >= 0 && stored.hasEntityTag()) {
            return hasSameTag(stored, answer, line) ? null : MismatchReason.ENTITY_TAG;
        }
        if (line >= 0 && !EntityTag.isWeak(answer.bytes(), answer.valueStart(line), answer.valueEnd(line))) {
            return MismatchReason.ENTITY_TAG;
        }
        long modified = lastModified(answer, responseTimeMillis);
        boolean differs =
                modified != HttpDates.INVALID && stored.hasLastModified() && modified != stored.lastModifiedSeconds();
        return differs && !stored.hasEntityTag() ? MismatchReason.LAST_MODIFIED : null;
    }

    private static long lastModified(FieldSection answer, long responseTimeMillis) {
        return HttpDates.parse(answer, FieldName.LAST_MODIFIED, Math.floorDiv(responseTimeMillis, 1000L));
    }

    private static boolean hasSameTag(StoredHead stored, FieldSection answer, int line) {
        byte[] b = answer.bytes();
        int from = answer.valueStart(line);
        int to = answer.valueEnd(line);
        boolean weakly = EntityTag.isWeak(b, from, to)
                || EntityTag.isWeak(stored.wireBytes(), stored.entityTagStart(), stored.entityTagEnd());
        return weakly
                ? EntityTag.matchesWeakly(
                        b, from, to, stored.wireBytes(), stored.entityTagStart(), stored.entityTagEnd())
                : EntityTag.matchesStrongly(
                        b, from, to, stored.wireBytes(), stored.entityTagStart(), stored.entityTagEnd());
    }

    private static boolean hasSameLength(StoredHead stored, FieldSection answer) {
        int line = answer.find(FieldName.CONTENT_LENGTH);
        return line < 0
                || stored.contentLength() == StoredHead.UNKNOWN
                || FieldLexer.number(answer.bytes(), answer.valueStart(line), answer.valueEnd(line))
                        == stored.contentLength();
    }
}
