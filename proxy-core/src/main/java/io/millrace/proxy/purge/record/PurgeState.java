package io.millrace.proxy.purge.record;

import java.util.Locale;

/** The state of a purge. */
public enum PurgeState {
    /** In force and durable; the count is in progress. */
    COUNTING,
    /** In force and durable. */
    DONE,
    /** In force in the process that made it, but not durable. */
    FAILED,
    /** The purge was undone. Responses that were not validated meanwhile have their previous state. */
    UNDONE,
    /** A purge by pattern that was cancelled, or a dry run whose count was cancelled or ended early. */
    CANCELLED;

    /** Returns the stable name for the API and the log. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the state with a name; {@link #DONE} for an unknown name. */
    static PurgeState of(String text) {
        for (PurgeState state : values()) {
            if (state.text().equals(text)) {
                return state;
            }
        }
        return DONE;
    }
}
