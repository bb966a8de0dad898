package io.millrace.proxy;

import io.millrace.store.CacheStore;
import io.millrace.store.Successor;
import java.io.IOException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes the storage of a proxy on to another proxy, while both accept clients.
 *
 * <pre>
 * old proxy                                   new proxy
 * release()  -- lease is free -->             build, predecessor(old proxy), start: both accept clients
 * removals since release()  -- change -->     applyChange()
 * applyChange()             <-- change --     removals
 * drain()    -- no further request -->        predecessor(null)
 * </pre>
 *
 * <p>The lease is the lock by which one process owns the storage. Removals are purges and other deletions.
 *
 * <p>Thread-safe. {@link #release}, {@link #endReads} and {@link #reopenStore} block, and must not be called on event
 * loops.
 */
public final class HandOver {
    private final ProxyServer proxy;

    HandOver(ProxyServer proxy) {
        this.proxy = proxy;
    }

    /**
     * Releases the storage for another proxy. This proxy continues to answer from RAM and disk, but does not
     * store fetched responses. It sends removals to {@code successor}.
     *
     * @throws IOException if queued writes failed; the lease is released nevertheless
     */
    public void release(Successor successor) throws IOException {
        proxy.store().releaseWrites(successor);
    }

    /**
     * Drains like {@link ProxyServer#drain}, after {@link #release} and after the successor accepts clients. Ends the
     * client connections one after another within a second, and idle ones after two, so that the successor gets their
     * requests step by step. The storage remains readable until {@link #endReads}.
     *
     * @param nanos time limit of the drain; below 3 s all connections end at once
     * @param onNoFurtherRequest runs once when no connection accepts a further request, except a connection
     *     that has not sent its first one. Not run if the time limit ends the drain before
     */
    public CompletionStage<Void> drain(long nanos, Runnable onNoFurtherRequest) {
        return proxy.drainGradually(nanos, onNoFurtherRequest);
    }

    /** Ends reading from the storage, so that the successor may overwrite all of it. Requests in progress continue. */
    public void endReads() {
        proxy.endReads();
    }

    /**
     * Takes the storage back from a successor that has not served any request. When this method returns, removals
     * in the meantime are durable.
     *
     * @throws IOException if another process still holds the storage
     */
    public void reopenStore() throws IOException {
        proxy.store().resumeWrites(true);
        proxy.store().sync();
    }

    /**
     * Applies a change that the predecessor or the successor has sent.
     *
     * @param reply called once, on any thread: with null when the change is durable, otherwise with the failure
     */
    public void applyChange(byte[] change, Consumer<@Nullable IOException> reply) {
        proxy.store().applyChange(change, proxy.shared().purger()::detach, reply);
    }

    /**
     * Closes the proxy in a process that ends. Like {@link ProxyServer#close}, but does not free the RAM tier entry by
     * entry: that takes seconds of CPU time, which a successor needs. Blocks.
     */
    public void closeBeforeExit() {
        proxy.closeBeforeExit();
    }

    /**
     * Passes removals to the predecessor too, before they are answered. Otherwise a client could purge a response here,
     * and then receive it from the predecessor, on a connection that it had before.
     *
     * @param answering the predecessor, whose {@link #applyChange} receives the changes; null when it accepts no
     *     further request
     */
    public void predecessor(CacheStore.@Nullable Predecessor answering) {
        proxy.store().predecessor(answering);
    }
}
