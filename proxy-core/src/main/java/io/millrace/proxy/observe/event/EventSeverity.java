package io.millrace.proxy.observe.event;

import java.util.Locale;

/** The severity of an event. */
public enum EventSeverity {
    /** Normal operation; no action needed. */
    INFO,
    /** A component works with less capacity or safety than intended. */
    WARNING,
    /** A component does not work. */
    ERROR;

    /** Returns the stable name in the admin API. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
