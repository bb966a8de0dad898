package io.millrace.proxy;

import io.millrace.store.Successor;
import java.io.IOException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The storage of one proxy on its way to another, while both accept clients.
 *
 * <pre>
 * old proxy                                   new proxy
 * release()  -- lease is free -->             build, start: both accept
 * drain()    -- accepts no more -->           predecessor's stage completes
 * removals since release()  -- change -->     applyChange()
 * </pre>
 *
 * <p>Thread-safe; {@link #release} and {@link #takeBack} block, and are not for event loops.
 */
public final class HandOver {
    private final ProxyServer proxy;

    HandOver(ProxyServer proxy) {
        this.proxy = proxy;
    }

    /**
     * Gives the storage to another proxy. This one answers on, from RAM and from disk; what it fetches is not stored, and
     * removals go to {@code successor}.
     *
     * @throws IOException when what was queued could not be written; the lease is free all the same
     */
    public void release(Successor successor) throws IOException {
        proxy.store().releaseWrites(successor);
    }

    /**
     * Takes the storage back from a successor that has served nothing. A removal of that time is durable when
     * this returns.
     *
     * @throws IOException when another process still has it
     */
    public void takeBack() throws IOException {
        proxy.store().resumeWrites(true);
        proxy.store().sync();
    }

    /**
     * Makes a change that the predecessor has passed on.
     *
     * @param reply told once, on any thread: null when the change is durable
     */
    public void applyChange(byte[] change, Consumer<@Nullable IOException> reply) {
        proxy.store().applyChange(change, proxy.shared().purger()::detach, reply);
    }

    /**
     * Purges are answered when the predecessor accepts no more: a client that purges here is not answered from there.
     *
     * @param closed complete when the predecessor accepts no more
     */
    public void predecessorClosed(CompletionStage<?> closed) {
        proxy.store().replyToChangesAfter(closed);
    }
}
