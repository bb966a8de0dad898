package io.millrace.proxy.purge.record;

import java.util.Locale;

/** The state of a purge. */
public enum PurgeState {
    /** The objects are being counted. Unless it is a dry run, the purge is in force and durable. */
    COUNTING,
    /** The purge is in force and durable. */
    DONE,
    /** The purge is in force in its process, but could not be made durable. */
    FAILED,
    /** The purge was undone. Responses are fresh again as before, unless they were validated meanwhile. */
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
