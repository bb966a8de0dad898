package io.millrace.proxy.observe.event;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kinds of events, with the severity of each. */
public enum EventKind {
    /** The launcher (the parent process of the workers) has started. */
    START(EventSeverity.INFO),
    /** The launcher stops. */
    STOP(EventSeverity.INFO),
    /** A changed configuration is in force. */
    RELOAD(EventSeverity.INFO),
    /** A changed configuration was rejected; the previous configuration stays in force. */
    CONFIG_REJECTED(EventSeverity.ERROR),
    /** A new worker (proxy process) starts, to replace the serving worker. */
    ROLL_BEGUN(EventSeverity.INFO),
    /** The new worker serves. */
    ROLL_ENDED(EventSeverity.INFO),
    /** The new worker did not start; the previous worker continues to serve. */
    ROLL_FAILED(EventSeverity.ERROR),
    /** The serving worker exited or was killed. */
    WORKER_DIED(EventSeverity.ERROR),
    /** Stored responses were purged. */
    PURGE(EventSeverity.INFO),
    /** A host of an origin group receives no more requests. */
    ORIGIN_DOWN(EventSeverity.WARNING),
    /** A host of an origin group receives requests again. */
    ORIGIN_UP(EventSeverity.INFO),
    /** A storage path is out of use. */
    DISK_OFFLINE(EventSeverity.ERROR),
    /** A storage path is in use again. */
    DISK_ONLINE(EventSeverity.INFO),
    /** An automatic certificate was issued or renewed. */
    CERTIFICATE_RENEWED(EventSeverity.INFO),
    /** An automatic certificate could not be issued or renewed. */
    CERTIFICATE_FAILED(EventSeverity.ERROR),
    /** A certificate expires soon, or has expired. */
    CERTIFICATE_EXPIRING(EventSeverity.WARNING),
    /** An alarm was raised; the text has its kind. */
    ALARM_RAISED(EventSeverity.WARNING),
    /** The cause of an alarm is gone. */
    ALARM_CLEARED(EventSeverity.INFO),
    /** The connection to the NATS servers of the fleet (nodes that share purges) is lost, or its stream is refused. */
    FLEET_DOWN(EventSeverity.WARNING),
    /** The node is connected to its fleet again. */
    FLEET_UP(EventSeverity.INFO),
    /** Purges of the fleet may be lost, so all stored responses became stale or were removed. */
    FLEET_GAP(EventSeverity.WARNING),
    /** A message of the fleet was refused. */
    FLEET_REFUSED(EventSeverity.ERROR),
    /** A revision of the fleet's configuration is in force on this node, or was pushed. */
    FLEET_CONFIG(EventSeverity.INFO),
    /** A revision of the fleet's configuration was refused, rejected or rolled back. */
    FLEET_CONFIG_FAILED(EventSeverity.ERROR),
    /** Many calls of an extension failed in succession; its hooks are not called for now. */
    EXTENSION_DOWN(EventSeverity.ERROR),
    /** The hooks of an extension are called again. */
    EXTENSION_UP(EventSeverity.INFO),
    /** A hook of an extension occupies an event loop. */
    EXTENSION_BLOCKS(EventSeverity.ERROR);

    private final EventSeverity severity;

    EventKind(EventSeverity severity) {
        this.severity = severity;
    }

    /** Returns the stable name in the admin API, in metrics and in the file of events. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the severity of events of this kind. */
    public EventSeverity severity() {
        return severity;
    }

    /** Returns the kind with a name; null if there is none. */
    public static @Nullable EventKind of(String word) {
        for (EventKind kind : values()) {
            if (kind.word().equals(word)) {
                return kind;
            }
        }
        return null;
    }

    /** Returns the names of all kinds. */
    public static List<String> words() {
        return Arrays.stream(values()).map(EventKind::word).toList();
    }
}
