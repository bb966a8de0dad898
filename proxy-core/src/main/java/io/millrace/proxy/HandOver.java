package io.millrace.proxy;

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
 * release()  -- lease is free -->             build, start: both accept clients
 * drain()    -- no further request -->        predecessorClosed(stage) completes
 * removals since release()  -- change -->     applyChange()
 * </pre>
 *
 * <p>The lease is the lock by which one process owns the storage. Removals are purges and other deletions.
 *
 * <p>Thread-safe. {@link #release} and {@link #reopenStore} block, and must not be called on event loops.
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
     * Drains like {@link ProxyServer#drain}, after the successor accepts clients. Ends the client connections one after
     * another within a second, and idle ones after two, so that the successor gets their requests step by step.
     *
     * @param nanos time limit of the drain
     * @param whenLast runs once, on an event loop, when no connection accepts a further request
     */
    public CompletionStage<Void> drain(long nanos, Runnable whenLast) {
        return proxy.drainGradually(nanos, whenLast);
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
     * Applies a change that the predecessor has sent.
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
     * Delays the replies to purges until the predecessor accepts no further request. Otherwise a client could
     * purge a response here, and then receive it from the predecessor.
     *
     * @param closed completes when the predecessor accepts no further request
     */
    public void predecessorClosed(CompletionStage<?> closed) {
        proxy.store().replyToChangesAfter(closed);
    }
}
