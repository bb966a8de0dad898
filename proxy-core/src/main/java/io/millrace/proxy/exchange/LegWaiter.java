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
 * An exchange that waits for a leg. Called on {@link #waiterLoop}; across loops a call may arrive after the waiter has left and
 * turned to another leg, therefore each says which one it comes from.
 */
interface LegWaiter {
    /** Why a waiter gets nothing of a leg. */
    enum NotShared {
        /** The response may not answer the waiter's request. */
        REFUSED,
        /** The leg had ended; what it brought may be in the store. */
        ENDED
    }

    EventExecutor waiterLoop();

    RequestHead request();

    ContentSink sink();

    /** The origin wants the request's content. The one that began the leg only. */
    void onContinue();

    /** An interim response. One that joined gets the Link fields of Early Hints only. */
    void onInterim(ResponseHead head);

    /** The origin has switched to a protocol that the request offered; the waiter owns the connection. The one that began the leg only. */
    default void onSwitched(OriginLeg from, ResponseHead head, SwitchedConnection connection) {
        connection.close();
    }

    /** The origin takes more of the request's content. The one that began the leg only. */
    void onOriginWritable();

    /** The response answers the waiter's request; it owns the reader and closes it. */
    void onFetched(OriginLeg from, FetchedResponse response, ResponseTee.Reader reader, boolean collapsed);

    /**
     * The response is a part that goes into the store's blocks: read from there, and fetch what else is missing. The waiter owns
     * the object's reference, and tells when it needs the leg no longer ({@link OriginLeg#leaveBlocks}).
     */
    void onBlocks(OriginLeg from, FetchedResponse response, StoredObject<StoredHead> object, boolean collapsed);

    /**
     * The origin confirmed the stored response; the waiter owns the object's reference.
     *
     * @param refreshed the head for this waiter: that of the client on whose behalf the origin was asked may have fields that no
     *     other gets
     */
    void onConfirmed(OriginLeg from, StoredObject<StoredHead> object, StoredHead refreshed, boolean collapsed);

    /** The response is not for this waiter, or came to its end before the waiter joined: look again, or fetch alone. */
    void onNotShared(OriginLeg from, NotShared reason);

    /** The origin gave no response. */
    void onLegFailure(OriginLeg from, OriginFailure failure);

    /** One of these calls threw. */
    void onFault(Throwable fault);
}
