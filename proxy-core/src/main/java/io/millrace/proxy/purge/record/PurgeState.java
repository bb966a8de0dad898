package io.millrace.proxy.purge.record;

import java.util.Locale;

/** The state of a purge. */
public enum PurgeState {
    /** In force and durable; its objects are being counted. */
    COUNTING,
    /** In force and durable. */
    DONE,
    /** In force in the process that made it, but not durable. */
    FAILED,
    /** Undone: responses that were not validated meanwhile are as before. */
    UNDONE,
    /** A dry run that was cancelled before it had counted everything. */
    CANCELLED;

    /** Stable word for the API and the log. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The state with that word; {@link #DONE} for one of a later version. */
    static PurgeState of(String text) {
        for (PurgeState state : values()) {
            if (state.text().equals(text)) {
                return state;
            }
        }
        return DONE;
    }
}
