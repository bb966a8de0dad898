package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.store.CacheStore;
import io.millrace.store.Successor;
import io.millrace.worker.control.SettingChange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The operations of the proxy that the worker process needs. Methods are called on the worker's command thread, except
 * {@link #beat}, which is called on its control loop.
 */
interface ServedProxy extends AutoCloseable {

    /** Creates the proxy of a configuration. */
    interface Factory {
        /**
         * Builds a proxy that does not serve yet.
         *
         * @param configFile path shown in the status; null if the configuration came from the command line
         * @param descriptors listening sockets by configured address, of which the proxy takes ownership; empty if the
         *     proxy binds its own sockets
         * @param adminSocket path of the admin socket, to which the launcher forwards requests
         * @param state directory for small files of the proxy
         */
        ServedProxy build(
                ProxyConfig config,
                @Nullable Path configFile,
                Map<String, List<Integer>> descriptors,
                Path adminSocket,
                Path state)
                throws IOException;
    }

    /** Starts the proxy, which accepts connections when this method returns. */
    void start() throws IOException;

    /** Applies the settings that can change at run time. Returns the outcome of each changed setting. */
    List<SettingChange> reload(ProxyConfig config);

    /** Stops accepting connections. The result completes when no request is in progress, or after {@code nanos}. */
    CompletionStage<Void> drain(long nanos);

    /**
     * Drains after {@link #release}, while the successor accepts connections. Client connections end one after another.
     *
     * @param onNoFurtherRequest runs once, on any thread, when no connection accepts a further request
     */
    CompletionStage<Void> drainForSuccessor(long nanos, Runnable onNoFurtherRequest);

    /** Ends reading from the disks of the store, so that the successor may overwrite all of it. */
    void endReads();

    /**
     * Releases the store to the next worker. The proxy continues to accept connections and to answer, without writing
     * to disk.
     *
     * @param successor receives changes of the store from now on
     */
    void release(Successor successor) throws IOException;

    /** Opens the store again after {@link #release}. Fails while another process has opened it. */
    void reopenStore() throws IOException;

    /**
     * Applies a change of the store that the predecessor or the successor has sent. Calls {@code reply} on any thread.
     */
    void applyChange(byte[] change, Consumer<@Nullable IOException> reply);

    /**
     * Passes changes of the store to the predecessor too, which may still serve purged objects. Set it before {@link
     * #start}.
     *
     * @param answering null if no predecessor answers requests
     */
    void predecessor(CacheStore.@Nullable Predecessor answering);

    /** Sets the receiver of events. Call before {@link #start}. */
    default void events(EventSink sink) {}

    /** Checks all event loops, and runs {@code allLoopsAlive} when each of them has responded. */
    void beat(Runnable allLoopsAlive);

    void reopenLogs();

    /** Sets the TLS session ticket keys that all workers share, newest first. */
    void ticketKeys(byte[] keys);

    /** The transport: {@code epoll} or {@code nio}. */
    String transport();

    /** The TLS provider, with its version. */
    String tls();

    @Override
    void close();
}
