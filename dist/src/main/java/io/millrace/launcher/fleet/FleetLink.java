package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigStore;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.purge.fleet.GapCheck.StreamState;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A connection to the NATS servers of a fleet, which keep the stream of purges. Methods may block for some seconds.
 * Used by one thread, except where noted.
 */
interface FleetLink extends AutoCloseable {
    /**
     * A message of the stream.
     *
     * @param node name of the sender, from the NATS subject
     * @param sequence number in the stream
     * @param id identifier by which the server recognizes duplicates; empty for none
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Received(String node, byte[] body, long sequence, String id) {}

    /** Opens connections. */
    @FunctionalInterface
    interface Opener {
        /**
         * Connects, and creates the stream if it does not exist.
         *
         * @throws FleetException if the servers or the stream cannot be used until an operator changes something
         * @throws IOException if no server can be reached
         */
        FleetLink open(FleetConfig settings) throws FleetException, IOException, InterruptedException;
    }

    /** Returns true while a server is connected. */
    boolean isConnected();

    /** Returns true if the client no longer tries to connect, so that the link must be opened again. */
    boolean isClosed();

    /**
     * Returns the present problem with its remedy; empty for none. Without a connection, the problem is the reason why
     * no server is connected. With a connection, it is the list of permissions that the servers refuse to this node.
     */
    String problem();

    /**
     * Sends a message that the servers do not store, so that they report a missing permission before the first purge.
     * The result appears in {@link #problem()}.
     */
    void checkPermissions();

    /** Returns the number of connections so far, which increases with each new connection of the client. */
    long connections();

    /**
     * Reads the state of the stream, and checks its settings.
     *
     * @throws FleetException if the stream cannot be used
     */
    StreamState state() throws FleetException, IOException;

    /** Returns the identifier of a message in the stream; null if there is no message, or it has no identifier. */
    @Nullable
    String idAt(long sequence) throws IOException;

    /** Begins to receive messages from a sequence number on. Ends the previous subscription. */
    void follow(long from, Consumer<Received> receiver) throws IOException;

    /** Publishes a message. When the message is in the stream, the future completes with its sequence number. */
    CompletableFuture<Long> publish(byte[] body, String id);

    /**
     * Sends a query to a node.
     *
     * @return the answer; fails if no node of this name answers within the time
     */
    CompletableFuture<byte[]> ask(String node, byte[] query, Duration timeout);

    /**
     * Returns the permission to query a node, if the servers have recently refused it; otherwise an empty text. The
     * text also contains the remedy. Thread-safe.
     */
    String queryRefusal(String node);

    /** Sets the function that answers queries of other nodes. Called on any thread. */
    void onAsk(Function<byte[], CompletionStage<byte[]>> receiver);

    /**
     * Opens the store of the fleet's configuration on the servers, and creates it if it does not exist.
     *
     * @throws FleetException if the servers refuse access to the store or its creation
     */
    ConfigStore configStore() throws FleetException, IOException;

    /** Sends a report about this node to all nodes. The report is lost if there is no connection. */
    void report(byte[] report);

    /**
     * Sets the receiver of reports. It gets the name of the sender, from the NATS subject, and the report. It is called
     * on any thread.
     */
    void onReport(BiConsumer<String, byte[]> receiver);

    @Override
    void close();
}
