package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.store.StoreKey;
import org.jspecify.annotations.Nullable;

/**
 * The head of an origin's response as the exchanges that share it see it.
 *
 * <p>Immutable.
 *
 * @param originStatus the status code that came
 * @param head as it came; where a 206 turned out to be the whole, that of a 200
 * @param representation the head as that of the whole representation: what the rules of sharing look at
 * @param selection what a client's conditions and range are answered from; null when it is passed on as it came
 * @param part which part of the representation the content is, null when it is the whole
 * @param stored whether it is being stored
 * @param keptUnder where what has come is kept when the origin breaks off, null when it is not
 * @param contentLength bytes of content to come, -1 when unknown
 * @param responseMillis when the head came, epoch milliseconds
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
        long responseMillis) {

    /** One that is passed on as it came. */
    public static FetchedResponse passed(ResponseHead head, long contentLength, long responseMillis) {
        return new FetchedResponse(head.status(), head, head, null, null, false, null, contentLength, responseMillis);
    }

    /** The head of {@link #selection}, which may be built for this call. */
    public @Nullable StoredHead selectable() {
        return selection == null ? null : selection.head();
    }

    /** Length of the whole representation, -1 when unknown. */
    public long length() {
        return part == null ? contentLength : part.length();
    }

    public FetchedResponse unstored() {
        return new FetchedResponse(
                originStatus, head, representation, selection, part, false, null, contentLength, responseMillis);
    }

    public FetchedResponse keptUnder(StoreKey key) {
        return new FetchedResponse(
                originStatus, head, representation, selection, part, stored, key, contentLength, responseMillis);
    }
}
