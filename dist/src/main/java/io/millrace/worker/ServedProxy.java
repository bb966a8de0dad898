package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.store.Successor;
import io.millrace.worker.control.SettingChange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The proxy as the worker sees it. Called on the worker's command thread, {@link #beat} on its control loop. */
interface ServedProxy extends AutoCloseable {

    /** Builds a proxy that does not serve yet. */
    interface Factory {
        /**
         * @param configFile for the status; null when the configuration came from the command line
         * @param descriptors listening sockets by configured address; the proxy takes ownership. Empty: it binds by itself
         * @param adminSocket where it serves the admin API for the launcher
         * @param state directory for its own small files
         */
        ServedProxy build(
                ProxyConfig config,
                @Nullable Path configFile,
                Map<String, List<Integer>> descriptors,
                Path adminSocket,
                Path state)
                throws IOException;
    }

    /** Accepts connections when it returns. */
    void start() throws IOException;

    /** Applies the settings that can change at run time; returns the outcome of each changed setting. */
    List<SettingChange> reload(ProxyConfig config);

    /** Stops accepting before it returns; completes when no request is in flight or after {@code nanos}. */
    CompletionStage<Void> drain(long nanos);

    /**
     * Releases the store's volumes. The proxy continues to accept and answer, without writing to disk.
     *
     * @param successor takes changes of the store from now on
     */
    void release(Successor successor) throws IOException;

    /** Opens the store again after {@link #release}; fails while another process has it. */
    void takeBack() throws IOException;

    /** Makes a change that the predecessor has passed on. Any thread. */
    void applyChange(byte[] change, Consumer<@Nullable IOException> reply);

    /**
     * Delays the replies to purges until {@code closed} completes, because the predecessor still serves. Call before
     * {@link #start}.
     */
    void predecessorClosed(CompletionStage<?> closed);

    /** Runs {@code allLoopsAlive} once every event loop has answered. */
    void beat(Runnable allLoopsAlive);

    void reopenLogs();

    /** Takes TLS session ticket keys that all workers share, newest first. */
    void ticketKeys(byte[] keys);

    /** {@code epoll} or {@code nio}. */
    String transport();

    /** TLS provider with its version. */
    String tls();

    @Override
    void close();
}
