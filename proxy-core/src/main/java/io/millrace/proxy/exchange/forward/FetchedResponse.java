package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.store.StoreKey;
import org.jspecify.annotations.Nullable;

/**
 * The head and properties of an origin's response, for the exchanges that share the fetch.
 *
 * <p>Immutable.
 *
 * @param originStatus the status code that the origin sent; 0 if the response is made from a stored variant
 * @param head the received head; for a 206 with the whole representation, the equivalent head of a 200
 * @param representation the head of the whole representation, from which it is decided whether another exchange may use
 *     the response
 * @param selection the head against which a client's conditions and range are evaluated; null when the response is
 *     passed on unchanged
 * @param part the range of the representation that the content covers; null for the whole representation
 * @param stored whether the response is being stored
 * @param keptUnder store key under which the received part is kept if the origin fails; null when it is not kept
 * @param contentLength bytes of content that follow the head, -1 when unknown
 * @param responseMillis time of receipt of the head, in epoch milliseconds
 * @param detail the Cache-Status detail that says why the response is not stored; null for none
 */
public record FetchedResponse(
        int originStatus,
        ResponseHead head,
        ResponseHead representation,
        @Nullable LazyStoredHead selection,
        @Nullable ContentRange part,
        boolean stored,
        @Nullable StoreKey keptUnder,
        long contentLength,
        long responseMillis,
        @Nullable String detail) {

    /** Returns a response that is passed on unchanged. */
    public static FetchedResponse passed(ResponseHead head, long contentLength, long responseMillis) {
        return new FetchedResponse(
                head.status(), head, head, null, null, false, null, contentLength, responseMillis, null);
    }

    /** Returns the head of {@link #selection}, built at the first call. */
    public @Nullable StoredHead selectable() {
        return selection == null ? null : selection.head();
    }

    /** Length of the whole representation; -1 when unknown. */
    public long length() {
        return part == null ? contentLength : part.length();
    }

    /** Returns true if the response is made from a stored variant in another coding, without the origin. */
    public boolean isFromVariant() {
        return originStatus == 0;
    }

    /** Returns the same response as made from a stored variant. */
    public FetchedResponse fromVariant() {
        return new FetchedResponse(
                0, head, representation, selection, part, stored, keptUnder, contentLength, responseMillis, detail);
    }

    /** Returns the same response, marked as not stored. */
    public FetchedResponse unstored() {
        if (!stored && keptUnder == null) {
            return this;
        }
        return new FetchedResponse(
                originStatus,
                head,
                representation,
                selection,
                part,
                false,
                null,
                contentLength,
                responseMillis,
                detail);
    }

    /** Returns the same response, of which the received part is kept under the key if the origin fails. */
    public FetchedResponse keptUnder(StoreKey key) {
        return new FetchedResponse(
                originStatus,
                head,
                representation,
                selection,
                part,
                stored,
                key,
                contentLength,
                responseMillis,
                detail);
    }
}
