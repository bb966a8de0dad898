package io.millrace.worker.control;

import io.millrace.proxy.observe.event.Event;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message on the control socket. The launcher sends {@link Assignment}, {@link Serve}, {@link Reload},
 * {@link ReopenLogs}, {@link TicketKeys}, {@link GiveBack}, {@link Drain}, {@link Release}, {@link TakeBack},
 * {@link TakenOver} and {@link PredecessorClosed}; the worker sends the others. Both send {@link Change} and
 * {@link ChangeMade}. Immutable.
 */
public sealed interface ControlMessage {

    /**
     * Version of the protocol, raised with every change of the messages. A launcher starts workers of its own version
     * only, but may adopt a worker of another version. The messages between those two never change their form:
     * {@link Hello}, {@link Ready}, {@link Beat}, {@link GiveBack}, {@link ReopenLogs}, {@link Drain} and
     * {@link Draining}.
     */
    int PROTOCOL_VERSION = 6;

    /**
     * First message of a worker. A worker whose launcher has died then sends {@link Ready} if it serves, or
     * {@link Draining} if it was ordered to stop meanwhile.
     *
     * @param protocolVersion {@link #PROTOCOL_VERSION} of the worker
     * @param listeners the sockets that the worker holds. Empty for a new worker, for one that binds its own sockets,
     *     and for one that no longer accepts connections
     */
    record Hello(int protocolVersion, List<ListenerSockets> listeners) implements ControlMessage {}

    /**
     * The sockets and the configuration of a new worker. The worker fetches the descriptors from the descriptor socket,
     * in this order.
     *
     * @param listeners the sockets to fetch; empty when the worker binds its own sockets
     * @param standby whether to prepare, but open neither store nor sockets before {@link Serve}
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

    /** Reply to an {@link Assignment} with {@code standby}: the worker waits for {@link Serve}. */
    record Standby() implements ControlMessage {}

    /**
     * Orders the worker to serve; the predecessor has released the store.
     *
     * @param overlapping whether the predecessor accepts connections until {@link PredecessorClosed}
     */
    record Serve(boolean overlapping) implements ControlMessage {}

    /** Orders the worker to release the store for its successor, and to continue to accept and answer. */
    record Release() implements ControlMessage {}

    /** Reply to {@link Release}: the lease of the store is released. */
    record Released() implements ControlMessage {}

    /** Orders the worker to open the store again, because its successor did not become ready. */
    record TakeBack() implements ControlMessage {}

    /**
     * Reports that the worker has opened its store again. Reply to {@link TakeBack}, or sent instead of
     * {@link Released}.
     */
    record TakenBack() implements ControlMessage {}

    /** Reply to {@link Ready} after an overlapping {@link Serve}: the worker is now the current one. */
    record TakenOver() implements ControlMessage {}

    /** Reports that the predecessor no longer accepts connections. */
    record PredecessorClosed() implements ControlMessage {}

    /**
     * A change of the store, for the worker that holds the store.
     *
     * @param number number to repeat in {@link ChangeMade}
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
     * @param failure empty if the change is durable, otherwise the reason of the failure
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

    /** A heartbeat: every event loop of the worker has responded since the last one. */
    record Beat() implements ControlMessage {}

    /** Reports that the worker cannot serve and is about to exit. */
    record Failed(String reason) implements ControlMessage {}

    /**
     * Orders the worker to apply this configuration without a restart, as far as possible.
     *
     * @param request number to repeat in the reply
     */
    record Reload(long request, ConfigSource config) implements ControlMessage {}

    /**
     * Reply to {@link Reload}: the outcome of each changed setting.
     *
     * @param request the number in the {@link Reload}
     */
    record Reloaded(long request, List<SettingChange> settings) implements ControlMessage {}

    /**
     * Reports an event. Sent only to the launcher that started the worker, because another one may have another version.
     */
    record Happened(Event event) implements ControlMessage {}

    /** Orders the worker to reopen its log files, which were renamed by log rotation. */
    record ReopenLogs() implements ControlMessage {}

    /** Orders the worker to send its descriptors to the descriptor socket, for a new launcher. */
    record GiveBack() implements ControlMessage {}

    /** Orders the worker to stop accepting, finish its requests within {@code deadlineNanos}, and exit. */
    record Drain(long deadlineNanos) implements ControlMessage {}

    /**
     * Reports that the worker no longer accepts connections. Sent immediately in reply to {@link Drain}, or when
     * another process has stopped the worker.
     */
    record Draining() implements ControlMessage {}

    /**
     * TLS session ticket keys that all workers share. Sent before an {@link Assignment}, and after each rotation.
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
