package io.millrace.proxy.purge.fleet;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Detects messages that a node has missed, from its position and the state of the stream. Pure. */
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
        /** The stream has another message at the position: the servers have lost messages, and stored new ones. */
        REWRITTEN;

        /** Returns the name in metrics and events. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** Returns true if other nodes may have missed messages that they cannot detect. */
        public boolean isLossOfServers() {
            return this == ROLLED_BACK || this == REWRITTEN;
        }
    }

    /**
     * The state of the stream. Immutable.
     *
     * @param created time of creation, as the server writes it
     * @param first number of the first message; last + 1 if the stream is empty
     * @param last number of the last message; 0 for none
     */
    public record StreamState(String created, long first, long last) {}

    /**
     * Compares a position with the stream.
     *
     * @param applied the position; null for none
     * @param idAtApplied identifier of the stream's message at the position; null if it is not known
     * @return the reason why messages may have been missed; null if none is missing
     */
    public static @Nullable Gap find(
            @Nullable FleetPosition applied, StreamState stream, @Nullable String idAtApplied) {
        if (applied == null) {
            return Gap.JOINED;
        }
        if (!applied.created().equals(stream.created())) {
            return Gap.RECREATED;
        }
        if (stream.last() < applied.sequence()) {
            return Gap.ROLLED_BACK;
        }
        if (stream.first() > applied.sequence() + 1) {
            return Gap.TRUNCATED;
        }
        boolean comparable = idAtApplied != null && !applied.id().isEmpty();
        return comparable && !applied.id().equals(idAtApplied) ? Gap.REWRITTEN : null;
    }
}
