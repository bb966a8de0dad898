package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.event.EventSink;
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
 * The proxy, as seen by the worker. Methods are called on the worker's command thread, {@link #beat} on its control
 * loop.
 */
interface ServedProxy extends AutoCloseable {

    /** Builds a proxy that is not serving yet. */
    interface Factory {
        /**
         * @param configFile path shown in the status; null if the configuration came from the command line
         * @param descriptors listening sockets by configured address; the proxy takes ownership. Empty: the proxy binds
         *     its own sockets
         * @param adminSocket path of the admin API's socket for the launcher
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

    /** Starts the proxy; it accepts connections when this returns. */
    void start() throws IOException;

    /** Applies the settings that can change at run time; returns the outcome of each changed setting. */
    List<SettingChange> reload(ProxyConfig config);

    /** Stops accepting before it returns; completes when no request is in flight or after {@code nanos}. */
    CompletionStage<Void> drain(long nanos);

    /**
     * Releases the store's volumes. The proxy continues to accept and answer, without writing to disk.
     *
     * @param successor receives changes of the store from now on
     */
    void release(Successor successor) throws IOException;

    /** Opens the store again after {@link #release}; fails while another process holds it. */
    void takeBack() throws IOException;

    /** Applies a change that the predecessor has sent. Any thread. */
    void applyChange(byte[] change, Consumer<@Nullable IOException> reply);

    /**
     * Delays the replies to purges until {@code closed} completes, because the predecessor still serves. Call before
     * {@link #start}.
     */
    void predecessorClosed(CompletionStage<?> closed);

    /** Sets the receiver of events. Call before {@link #start}. */
    default void events(EventSink sink) {}

    /** Runs {@code allLoopsAlive} when every event loop has responded. */
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
