package io.millrace.proxy.observe.alarm;

import io.millrace.proxy.observe.event.EventSeverity;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kinds of alarms, with the severity of each. */
public enum AlarmKind {
    /** A storage path is out of use. */
    DISK_OFFLINE(EventSeverity.ERROR),
    /** No host of an origin group receives requests. */
    ORIGIN_GROUP_DOWN(EventSeverity.ERROR),
    /** The origin of a rule without a group is marked down. */
    ORIGIN_DOWN(EventSeverity.ERROR),
    /** A certificate expires soon, or has expired. */
    CERTIFICATE_EXPIRING(EventSeverity.WARNING),
    /** Workers (proxy processes) die repeatedly. */
    CRASH_LOOP(EventSeverity.ERROR),
    /** The last reload was rejected; the previous configuration stays in force. */
    CONFIG_REJECTED(EventSeverity.ERROR),
    /** The target of an access log cannot be written. */
    LOG_TARGET_DOWN(EventSeverity.WARNING),
    /** The connection to the fleet (nodes that share purges) is lost, or its stream is refused. */
    FLEET_DOWN(EventSeverity.WARNING),
    /**
     * This node rejects the newest configuration of the fleet, or the fleet has rolled it back, because a canary node
     * missed a limit.
     */
    FLEET_CONFIG(EventSeverity.ERROR);

    private final EventSeverity severity;

    AlarmKind(EventSeverity severity) {
        this.severity = severity;
    }

    /** Returns the stable name in the admin API, in metrics and for the command of {@code alarms.exec}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the severity of alarms of this kind. */
    public EventSeverity severity() {
        return severity;
    }

    /**
     * Returns true if another event already reports the beginning of the cause, such as {@link
     * io.millrace.proxy.observe.event.EventKind#DISK_OFFLINE}. Then no {@code ALARM_RAISED} event follows. The end of
     * the alarm always has an event, because a new worker does not know that a disk was out of use before.
     */
    public boolean hasEventOfCause() {
        return this == DISK_OFFLINE;
    }

    /** Returns the kind with a name; null if there is none. */
    public static @Nullable AlarmKind of(String word) {
        for (AlarmKind kind : values()) {
            if (kind.word().equals(word)) {
                return kind;
            }
        }
        return null;
    }
}
