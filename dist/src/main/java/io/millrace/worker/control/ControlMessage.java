package io.millrace.worker.control;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One message on the control socket. The launcher sends {@link Assignment}, {@link Serve}, {@link Reload}, {@link
 * ReopenLogs}, {@link TicketKeys}, {@link GiveBack}, {@link Drain}, {@link Release}, {@link TakeBack}, {@link TakenOver} and {@link
 * PredecessorClosed}; the worker sends the others. {@link Change} and {@link ChangeMade} go both ways. Immutable.
 */
public sealed interface ControlMessage {

    /**
     * Raised with every change of the messages. A launcher starts workers of its own version only. One that it takes over
     * may be of another: what they say to each other then, that is {@link Hello}, {@link Ready}, {@link Beat}, {@link
     * GiveBack}, {@link ReopenLogs}, {@link Drain} and {@link Draining}, keeps its form for ever.
     */
    int PROTOCOL_VERSION = 5;

    /**
     * First words of a worker. One whose launcher has died goes on with {@link Ready} when it serves, or {@link Draining} when
     * it was told to stop meanwhile.
     *
     * @param protocolVersion {@link #PROTOCOL_VERSION} of the worker
     * @param listeners the sockets it was given before: none for a fresh worker, for one that has bound for itself, or accepts no
     *     more
     */
    record Hello(int protocolVersion, List<ListenerSockets> listeners) implements ControlMessage {}

    /**
     * The sockets and the configuration of a fresh worker. The descriptors themselves wait on the descriptor socket, in this order.
     *
     * @param listeners the sockets it will fetch; empty when the worker binds by itself
     * @param standby whether to get ready but to leave store and sockets alone until {@link Serve}
     * @param warm whether to warm up before {@link Standby}
     */
    record Assignment(List<ListenerSockets> listeners, ConfigSource config, boolean standby, boolean warm)
            implements ControlMessage {}

    /**
     * The worker warms up; {@link Standby} follows.
     *
     * @param limitNanos the longest time that it takes
     */
    record WarmingUp(long limitNanos) implements ControlMessage {}

    /** Answer to an {@link Assignment} with {@code standby}: the worker waits for {@link Serve}. */
    record Standby() implements ControlMessage {}

    /**
     * The predecessor has let go of the store: begin.
     *
     * @param overlapping whether the predecessor accepts until {@link PredecessorClosed}
     */
    record Serve(boolean overlapping) implements ControlMessage {}

    /** Give the store back, but accept and answer on: a successor opens it. */
    record Release() implements ControlMessage {}

    /** Answer to {@link Release}: the lease is free. */
    record Released() implements ControlMessage {}

    /** The successor did not come up: open the store again. */
    record TakeBack() implements ControlMessage {}

    /** The worker has its store again: answer to {@link TakeBack}, or instead of {@link Released}. */
    record TakenBack() implements ControlMessage {}

    /** Answer to {@link Ready} after an overlapping {@link Serve}: the worker has taken over. */
    record TakenOver() implements ControlMessage {}

    /** The predecessor accepts no more. */
    record PredecessorClosed() implements ControlMessage {}

    /**
     * A change of the store for the worker that has it.
     *
     * @param number what {@link ChangeMade} is to name
     * @param content in the store's own form; never changed
     */
    @SuppressWarnings("ArrayRecordComponent") // equals() is written out
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
     * What became of a {@link Change}.
     *
     * @param failure empty when the change is durable
     */
    record ChangeMade(long number, String failure) implements ControlMessage {}

    /**
     * The worker accepts connections.
     *
     * @param transport {@code epoll} or {@code nio}
     * @param tls the TLS provider, with its version
     * @param java version of the worker's JVM
     */
    record Ready(String transport, String tls, String java) implements ControlMessage {}

    /** Every event loop of the worker has answered since the last beat. */
    record Beat() implements ControlMessage {}

    /** The worker cannot serve and is about to exit. */
    record Failed(String reason) implements ControlMessage {}

    /**
     * Take over this configuration without a restart, as far as it can be done.
     *
     * @param request what the answer is to name
     */
    record Reload(long request, ConfigSource config) implements ControlMessage {}

    /**
     * Reply to {@link Reload}: the outcome of each changed setting.
     *
     * @param request that of the {@link Reload}
     */
    record Reloaded(long request, List<SettingChange> settings) implements ControlMessage {}

    /** Open the log files again: somebody has moved them away. */
    record ReopenLogs() implements ControlMessage {}

    /** Send the descriptors to the descriptor socket: a new launcher wants them back. */
    record GiveBack() implements ControlMessage {}

    /** Stop accepting, finish what is in flight within {@code deadlineNanos}, then exit. */
    record Drain(long deadlineNanos) implements ControlMessage {}

    /** The worker accepts no more: answer to {@link Drain}, at once, or when somebody else has told it to stop. */
    record Draining() implements ControlMessage {}

    /**
     * TLS session ticket keys that all workers share: before an {@link Assignment}, and after each rotation.
     *
     * @param base64 the keys one after the other, newest first
     */
    record TicketKeys(String base64) implements ControlMessage {
        /** Never the keys. */
        @Override
        public String toString() {
            return "TicketKeys";
        }
    }
}
