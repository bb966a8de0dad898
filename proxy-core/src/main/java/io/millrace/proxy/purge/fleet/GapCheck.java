package io.millrace.proxy.purge.fleet;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Detects messages that a node has missed, from its position and the state of the stream. Uses no I/O and no clock. */
public final class GapCheck {
    private GapCheck() {}

    /** The reasons why a node may have missed messages. */
    public enum Gap {
        /** The node has no position: it is new in the fleet, or has lost its journal. */
        JOINED,
        /** The stream was deleted and created again. */
        RECREATED,
        /** The stream has removed messages that the node has not applied. */
        TRUNCATED,
        /** The stream ends before the position: the servers have lost messages. */
        ROLLED_BACK,
        /** The stream has another message at the position: the servers have lost messages, and stored new messages. */
        REWRITTEN,
        /** The message at the position has expired, so that it cannot be compared. */
        UNVERIFIED;

        /** Returns the name in metrics and events. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /**
         * Returns true if the servers may have lost messages that this node has applied. Nodes that had not applied
         * these messages cannot detect the loss.
         */
        public boolean mayHideLosses() {
            return switch (this) {
                case ROLLED_BACK, REWRITTEN, TRUNCATED, UNVERIFIED -> true;
                case JOINED, RECREATED -> false;
            };
        }
    }

    /**
     * The state of the stream. Immutable.
     *
     * @param created time of creation, as the server writes it
     * @param first number of the first message; last + 1 if the stream is empty
     * @param last number of the last message; 0 for none
     * @param leader server that leads the stream, and the time of its election; empty without a cluster
     * @param lastAgeMillis age of the last message by the clock of the server; 0 for none
     */
    public record StreamState(String created, long first, long last, String leader, long lastAgeMillis) {}

    /**
     * Compares a position with the stream.
     *
     * @param applied the position; null for none
     * @return the reason why messages may have been missed; null if none is missing
     */
    public static @Nullable Gap find(@Nullable FleetPosition applied, StreamState stream) {
        if (applied == null) {
            return Gap.JOINED;
        }
        if (!applied.created().equals(stream.created())) {
            return Gap.RECREATED;
        }
        if (stream.last() < applied.sequence()) {
            return Gap.ROLLED_BACK;
        }
        return stream.first() > applied.sequence() + 1 ? Gap.TRUNCATED : null;
    }

    /**
     * Compares the message at a position with the message that was applied. Needed after each connection: the servers
     * may have lost messages, and stored other messages under their numbers.
     *
     * @param applied a position that {@link #find} has accepted
     * @param idAtApplied identifier of the stream's message at the position; null if there is none
     * @return the reason why messages may have been missed; null if none is missing
     */
    public static @Nullable Gap verify(FleetPosition applied, @Nullable String idAtApplied) {
        if (applied.sequence() == 0 || applied.id().equals(idAtApplied)) {
            return null;
        }
        return idAtApplied == null || applied.id().isEmpty() ? Gap.UNVERIFIED : Gap.REWRITTEN;
    }
}
