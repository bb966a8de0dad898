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

/** Validation of stored responses with the origin, and what its answers do to them (RFC 9111 s4.3). No state. */
public final class Validation {

    /** What a 304, or the response to a HEAD, does to a stored response. Immutable. */
    public sealed interface Outcome {}

    /**
     * It is freshened.
     *
     * @param head to be stored in place of the old one, and for every client but the one that asked
     * @param answer for the client on whose behalf the origin was asked, with the fields that are for no other
     */
    public record Freshened(StoredHead head, StoredHead answer) implements Outcome {}

    /** It is valid and answers this request, and no other, with this head: the origin does not allow to store the head. */
    public record Unstorable(StoredHead head, NoStoreReason reason) implements Outcome {

        /**
         * Whether the stored response must go. It stays as it was, stale, when only this answer cannot be stored
         * because the request had Authorization (RFC 9111 s3.5).
         */
        public boolean isRemoved() {
            return reason != NoStoreReason.AUTHORIZATION;
        }
    }

    /** The answer is about another representation: do not use it, fetch without conditions. */
    public record Mismatched(MismatchReason reason) implements Outcome {}

    /** The answer says nothing about it. */
    public record Unaffected() implements Outcome {}

    /** What differs between a stored response and the answer. */
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

    /** The instance that is given. */
    public static final Unaffected UNAFFECTED = new Unaffected();

    private static final FieldName[] CLIENT_CONDITIONS = {
        FieldName.IF_MATCH,
        FieldName.IF_NONE_MATCH,
        FieldName.IF_MODIFIED_SINCE,
        FieldName.IF_UNMODIFIED_SINCE,
        FieldName.IF_RANGE,
        FieldName.RANGE
    };

    /** Describe the stored bytes themselves, which a 304 does not change (RFC 9111 s3.2). */
    private static final FieldName[] NOT_UPDATED = {
        FieldName.CONTENT_LENGTH,
        FieldName.CONTENT_ENCODING,
        FieldName.CONTENT_RANGE,
        FieldName.of("Content-MD5"),
        FieldName.of("Content-Digest")
    };

    private Validation() {}

    /**
     * Makes a request to the origin conditional on the stored response's validators (RFC 9111 s4.3.1), in place of the
     * client's own conditions and range.
     *
     * @return whether there is a validator; without one the request has become unconditional
     */
    public static boolean replaceConditions(StoredHead stored, FieldSection.Builder requestFields) {
        removeConditions(requestFields);
        String tag = stored.entityTag();
        if (tag != null) {
            requestFields.add(FieldName.IF_NONE_MATCH, tag);
        }
        if (stored.hasLastModified()) {
            // As it came: an origin may compare the text and not the date.
            String lastModified = stored.fields().get(FieldName.LAST_MODIFIED);
            if (lastModified != null) {
                requestFields.add(FieldName.IF_MODIFIED_SINCE, lastModified);
            }
        }
        return stored.hasValidator();
    }

    /** Removes the client's conditions and range, for a request whose whole response shall be stored. */
    public static void removeConditions(FieldSection.Builder requestFields) {
        for (FieldName name : CLIENT_CONDITIONS) {
            requestFields.remove(name);
        }
    }

    /**
     * What the origin's 304 does to the stored response that was validated (RFC 9111 s4.3.4, s3.2): its fields replace
     * the stored ones of the same name, except those that describe the stored bytes and those that are for one client.
     *
     * @param request the client's request, whose values of newly named Vary fields are kept
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
     * What the origin's response to HEAD does to the stored response to GET (RFC 9111 s4.3.5): a 200 with the same
     * validators and length freshens it, one with others makes it useless, any other status says nothing.
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
        StoredHead answer = forAsker(head, update.fields(), settings);
        NoStoreReason reason = Storability.ofResponse(request, response, responseTimeMillis, settings);
        return reason == null || reason == NoStoreReason.NO_LIFETIME || reason == NoStoreReason.GUESS_WITHHELD
                ? new Freshened(head, answer)
                : new Unstorable(answer, reason);
    }

    /** The stored fields after an update: its fields replace those of the same name (RFC 9111 s3.2). */
    static FieldSection updatedFields(FieldSection old, FieldSection update) {
        HopByHop hopByHop = HopByHop.of(update);
        FieldSection.Builder merged = FieldSection.builder();
        for (int line = 0; line < old.size(); line++) {
            FieldName name = FieldName.of(old.bytes(), old.nameStart(line), old.nameEnd(line));
            boolean replaced = name != null && update.contains(name) && !hopByHop.contains(name);
            // The old Date must not make the new answer look old; a new one is made where the update has none.
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
     * The head for the client on whose behalf a response came: what is stored of it, with those of its fields that nobody else
     * gets, Set-Cookie and what {@code private="..."}, {@code no-cache="..."} or an operator name.
     *
     * @param shared the stored head, after the response
     * @param response the response's fields as they came
     * @return {@code shared} itself when there are none
     */
    public static StoredHead forAsker(StoredHead shared, FieldSection response, CacheSettings settings) {
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

    /** Whether a validator of the answer says that it is about the stored representation; with none it says nothing. */
    public static boolean isConfirmed(StoredHead stored, FieldSection answer) {
        int line = answer.find(FieldName.ETAG);
        if (line >= 0 && stored.hasEntityTag()) {
            return hasSameTag(stored, answer, line);
        }
        long modified = HttpDates.parse(answer, FieldName.LAST_MODIFIED, 0);
        return line < 0
                && !stored.hasEntityTag()
                && modified != HttpDates.INVALID
                && stored.hasLastModified()
                && modified == stored.lastModifiedSeconds();
    }

    /**
     * What tells that the answer is about another representation. Two strong tags must match strongly, others weakly:
     * origins that compress send a weak tag with the content and the strong one with the 304. A date counts where there
     * is no tag to compare.
     */
    private static @Nullable MismatchReason mismatch(StoredHead stored, FieldSection answer, long responseTimeMillis) {
        int line = answer.find(FieldName.ETAG);
        if (line >= 0 && stored.hasEntityTag()) {
            return hasSameTag(stored, answer, line) ? null : MismatchReason.ENTITY_TAG;
        }
        if (line >= 0 && !EntityTag.isWeak(answer.bytes(), answer.valueStart(line), answer.valueEnd(line))) {
            return MismatchReason.ENTITY_TAG;
        }
        long modified = HttpDates.parse(answer, FieldName.LAST_MODIFIED, Math.floorDiv(responseTimeMillis, 1000L));
        boolean differs =
                modified != HttpDates.INVALID && stored.hasLastModified() && modified != stored.lastModifiedSeconds();
        return differs && !stored.hasEntityTag() ? MismatchReason.LAST_MODIFIED : null;
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
