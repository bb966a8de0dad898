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
 * An exchange that waits for a fetch. Called on {@link #followerLoop}; across loops a call may arrive after the follower has left and
 * turned to another fetch, therefore each says which one it comes from.
 */
interface FetchFollower {
    /** Why a follower gets nothing of a fetch. */
    enum NotShared {
        /** The response may not answer the follower's request. */
        REFUSED,
        /** The fetch had ended; what it brought may be in the store. */
        ENDED
    }

    EventExecutor followerLoop();

    RequestHead request();

    ContentSink sink();

    /** The origin wants the request's content. The one that began the fetch only. */
    void onContinue();

    /** An interim response. One that joined gets the Link fields of Early Hints only. */
    void onInterim(ResponseHead head);

    /** The origin has switched to a protocol that the request offered; the follower owns the connection. The one that began the fetch only. */
    default void onSwitched(SharedFetch from, ResponseHead head, SwitchedConnection connection) {
        connection.close();
    }

    /** The origin takes more of the request's content. The one that began the fetch only. */
    void onOriginWritable();

    /** The response answers the follower's request; it owns the reader and closes it. */
    void onFetched(SharedFetch from, FetchedResponse response, ResponseTee.Reader reader, boolean collapsed);

    /**
     * The response is a part that goes into the store's blocks: read from there, and fetch what else is missing. The follower owns
     * the object's reference, and tells when it needs the fetch no longer ({@link SharedFetch#leaveBlocks}).
     */
    void onBlocks(SharedFetch from, FetchedResponse response, StoredObject<StoredHead> object, boolean collapsed);

    /**
     * The origin confirmed the stored response; the follower owns the object's reference.
     *
     * @param refreshed the head for this follower: that of the client on whose behalf the origin was asked may have fields that no
     *     other gets
     */
    void onConfirmed(SharedFetch from, StoredObject<StoredHead> object, StoredHead refreshed, boolean collapsed);

    /** The response is not for this follower, or came to its end before the follower joined: look again, or fetch alone. */
    void onNotShared(SharedFetch from, NotShared reason);

    /** The origin gave no response. */
    void onFetchFailure(SharedFetch from, OriginFailure failure);

    /** One of these calls threw. */
    void onFault(Throwable fault);
}
