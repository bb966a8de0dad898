package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.store.StoredObject;
import io.netty.util.concurrent.EventExecutor;

/**
 * An exchange that waits for a {@link SharedFetch}. The leader is the follower that began the fetch and whose request
 * was sent; the others have joined it. The parameter {@code collapsed} is true for joined followers. The methods are
 * called on {@link #followerLoop}. A call from another loop may arrive after the follower has moved to another fetch,
 * so the fetch is a parameter.
 */
interface FetchFollower {
    /** The reason why a follower gets no response from a fetch. */
    enum NotShared {
        /** The response must not be used for the follower's request. */
        REFUSED,
        /** The fetch had ended; its response may be in the store. */
        ENDED
    }

    EventExecutor followerLoop();

    RequestHead request();

    /** Returns true if the follower's request was sampled when its trace began. Callable from any thread. */
    default boolean isSampled() {
        return false;
    }

    ContentSink sink();

    /** The origin requests the content with 100 (Continue). Called for the leader only. */
    void onContinue();

    /** An interim response arrived. A joined follower gets only the Link fields of Early Hints (103). */
    void onInterim(ResponseHead head);

    /**
     * The origin has switched to a protocol that the request offered. The follower owns the connection. Called for the
     * leader only.
     */
    default void onSwitched(SharedFetch from, ResponseHead head, SwitchedConnection connection) {
        connection.close();
    }

    /** The origin accepts more request content. Called for the leader only. */
    void onOriginWritable();

    /** The response answers the follower's request. The follower owns the reader and closes it. */
    void onFetched(SharedFetch from, FetchedResponse response, ResponseTee.Reader reader, boolean collapsed);

    /**
     * The response is partial; the fetch writes it to blocks (parts of fixed size) of a stored object. The follower
     * reads these blocks from the store, and fetches other missing blocks itself. The follower owns the object's
     * reference, and calls {@link SharedFetch#leaveBlocks} when it no longer needs the fetch.
     */
    void onBlocks(SharedFetch from, FetchedResponse response, StoredObject<StoredHead> object, boolean collapsed);

    /**
     * The origin has confirmed the stored response. The follower owns the object's reference.
     *
     * @param refreshed the head for this follower; only the client whose request was sent may get all fields of the 304
     */
    void onConfirmed(SharedFetch from, StoredObject<StoredHead> object, StoredHead refreshed, boolean collapsed);

    /**
     * The response must not be used for this follower, or the fetch ended before the follower joined. The follower
     * looks in the store again, or fetches alone.
     */
    void onNotShared(SharedFetch from, NotShared reason);

    /** The fetch failed before a response head. */
    void onFetchFailure(SharedFetch from, OriginFailure failure);

    /** A method of this interface threw an exception. */
    void onFault(Throwable fault);
}
