package io.millrace.worker.control;

import io.millrace.proxy.observe.event.Event;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message between launcher and worker on the control socket. Immutable.
 *
 * <p>The launcher sends {@link Assignment}, {@link Serve}, {@link Reload}, {@link ReopenLogs}, {@link TicketKeys},
 * {@link ReturnSockets}, {@link Drain}, {@link ReleaseStore}, {@link ReopenStore}, {@link TakeoverDone} and
 * {@link PredecessorClosed}. The worker sends all other messages. Both sides send {@link Change} and
 * {@link ChangeMade}.
 *
 * <p>A worker that is replaced is the predecessor of the new worker, its successor. It releases the store first, so
 * that the successor can open it.
 */
public sealed interface ControlMessage {

    /**
     * Version of the protocol, which increases with every change of the messages. A launcher starts only workers of its
     * own version, but may adopt a worker of another version. The following messages, which an adoption needs, never
     * change their format: {@link Hello}, {@link Ready}, {@link Beat}, {@link ReturnSockets}, {@link ReopenLogs},
     * {@link Drain} and {@link Draining}.
     */
    int PROTOCOL_VERSION = 7;

    /**
     * The first message of a worker. After it, a worker that is being adopted sends {@link Ready} if it serves, or
     * {@link Draining} if it was ordered to stop.
     *
     * @param protocolVersion {@link #PROTOCOL_VERSION} of the worker
     * @param listeners the listening sockets that the worker can return. Empty for a new worker, for a worker that
     *     binds its own sockets, and for a worker that no longer accepts connections
     */
    record Hello(int protocolVersion, List<ListenerSockets> listeners) implements ControlMessage {}

    /**
     * Tells a new worker its listening sockets and its configuration. The worker then fetches the descriptors over the
     * descriptor socket, in the order of {@code listeners}.
     *
     * @param listeners the sockets to fetch; empty when the worker binds its own sockets
     * @param standby whether the worker must wait for {@link Serve} before it opens the store and accepts connections
     * @param warm whether to warm up before {@link Standby}
     */
    record Assignment(List<ListenerSockets> listeners, ConfigSource config, boolean standby, boolean warm)
            implements ControlMessage {}

    /**
     * Reports that the worker warms up; {@link Standby} follows.
     *
     * @param limitNanos time limit of the warm-up
     */
    record WarmingUp(long limitNanos) implements ControlMessage {}

    /**
     * Reports that the worker is prepared and waits for {@link Serve}. Reply to an {@link Assignment} with
     * {@code standby}.
     */
    record Standby() implements ControlMessage {}

    /**
     * Orders the worker to open the store and to serve. The predecessor has released the store.
     *
     * @param overlapping whether the predecessor accepts connections until {@link PredecessorClosed}
     */
    record Serve(boolean overlapping) implements ControlMessage {}

    /**
     * Orders the worker to release the store to its successor. The worker continues to accept connections and to
     * answer.
     */
    record ReleaseStore() implements ControlMessage {}

    /** Reports that the worker has released the store. Reply to {@link ReleaseStore}. */
    record StoreReleased() implements ControlMessage {}

    /** Orders the worker to open the store again, because its successor did not become ready. */
    record ReopenStore() implements ControlMessage {}

    /**
     * Reports that the worker has opened its store again. Reply to {@link ReopenStore}.
     */
    record StoreReopened() implements ControlMessage {}

    /** Confirms that the worker is now the current one. Reply to {@link Ready} after an overlapping {@link Serve}. */
    record TakeoverDone() implements ControlMessage {}

    /** Reports that the predecessor accepts no further request, so that it needs no changes of the store any more. */
    record PredecessorClosed() implements ControlMessage {}

    /**
     * A change of the store, such as a purge. A worker that has released its store sends it to its successor. The
     * successor sends its own changes to its predecessor, until {@link PredecessorClosed}.
     *
     * @param number number of the change, which {@link ChangeMade} repeats; negative if a worker sends the change to
     *     its predecessor
     * @param content the change as encoded by the store; never modified
     */
    @SuppressWarnings("ArrayRecordComponent") // equals() compares the content
    record Change(long number, byte[] content) implements ControlMessage {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Change that && number == that.number && Arrays.equals(content, that.content);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(number) + Arrays.hashCode(content);
        }
    }

    /**
     * The result of a {@link Change}.
     *
     * @param failure empty if the change is durable, or in force at the predecessor; otherwise the reason of the
     *     failure
     */
    record ChangeMade(long number, String failure) implements ControlMessage {}

    /**
     * Reports that the worker accepts connections.
     *
     * @param transport {@code epoll} or {@code nio}
     * @param tls the TLS provider, with its version
     * @param java version of the worker's JVM
     */
    record Ready(String transport, String tls, String java) implements ControlMessage {}

    /** A heartbeat. It reports that every event loop of the worker has responded since the last heartbeat. */
    record Beat() implements ControlMessage {}

    /** Reports that the worker cannot serve and is about to exit. */
    record Failed(String reason) implements ControlMessage {}

    /**
     * Orders the worker to apply the settings that can change at run time.
     *
     * @param request number of the request, which the reply repeats
     */
    record Reload(long request, ConfigSource config) implements ControlMessage {}

    /**
     * The reply to {@link Reload} with the outcome of each changed setting.
     *
     * @param request the number in the {@link Reload}
     */
    record Reloaded(long request, List<SettingChange> settings) implements ControlMessage {}

    /**
     * Reports an event for the event log. Sent only to the launcher that started the worker, because a later launcher
     * may have another version.
     */
    record WorkerEvent(Event event) implements ControlMessage {}

    /** Orders the worker to reopen its log files, which were renamed by log rotation. */
    record ReopenLogs() implements ControlMessage {}

    /** Orders an adopted worker to send its listening sockets over the descriptor socket. */
    record ReturnSockets() implements ControlMessage {}

    /**
     * Orders the worker to drain. It stops accepting connections, finishes its requests within {@code timeoutNanos},
     * and exits.
     */
    record Drain(long timeoutNanos) implements ControlMessage {}

    /**
     * Reports that the worker no longer accepts connections. Sent in reply to {@link Drain}, or after another process
     * has sent SIGTERM to the worker. After {@link ReleaseStore} and {@link Drain}, sent only when the client
     * connections accept no further request either.
     */
    record Draining() implements ControlMessage {}

    /**
     * The TLS session ticket keys that all workers share. Sent before an {@link Assignment}, and after each rotation of
     * the keys.
     *
     * @param base64 the concatenated keys, newest first, in Base64
     */
    record TicketKeys(String base64) implements ControlMessage {
        /** Returns the name only, since the keys are secret. */
        @Override
        public String toString() {
            return "TicketKeys";
        }
    }
}
