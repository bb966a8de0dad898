package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigState;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of this node's membership in a fleet. The thread of {@link FleetMembership} changes it, and the admin API
 * reads it. Thread-safe.
 */
final class FleetState {
    /** Time after connecting at which the reports of all live nodes must have arrived. */
    static final long MEMBERS_KNOWN_MILLIS = 2500;

    /** Time without a connection after which the alarm is raised. */
    static final long ALARM_AFTER_MILLIS = 10_000;

    /** Limit of refused messages in the reports of this node; the oldest are dropped. */
    private static final int REFUSED_MAX = 16;
    /** Minimum time between two events about refused messages with the same reason and sender. */
    private static final long REPEAT_MILLIS = 60_000;

    /** Size of {@link #reported} above which it is cleared. */
    private static final int REPORTED_MAX = 1000;

    final NodeTable nodes = new NodeTable();
    final FleetFigures figures = new FleetFigures();
    final OwnPurges ownPurges = new OwnPurges();
    final ConfigState config;
    private final EventSink events;
    private final LongSupplier clockMillis;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock, like the next field. */
    private final Deque<String> refused = new ArrayDeque<>();

    /** Times of the latest events about refused messages, epoch milliseconds, by reason and sender. */
    private final Map<String, Long> reported = new HashMap<>();

    private volatile @Nullable FleetConfig settings;
    /** Settings that are put in force when a worker serves; null for none. */
    private volatile @Nullable FleetConfig announced;

    private volatile String problem = "";
    /** Permissions that the servers refuse; empty for none. */
    private volatile String refusal = "";

    private volatile String created = "";
    private volatile long connectedSince;
    /** Start of the latest comparison with the stream that found no loss, epoch milliseconds. */
    private volatile long verifiedAt;

    private volatile boolean checkWanted;
    private boolean wasDown;
    /**
     * Time since which this node has lacked a connection or a permission, epoch milliseconds; 0 while it lacks none.
     */
    private volatile long downSince;

    FleetState(EventSink events, LongSupplier clockMillis) {
        this.events = events;
        this.clockMillis = clockMillis;
        config = new ConfigState(events, clockMillis);
    }

    long nowMillis() {
        return clockMillis.getAsLong();
    }

    @Nullable
    FleetConfig settings() {
        return settings;
    }

    /** Sets the settings that {@link #changeSettings} will put in force when a worker serves. */
    void announce(@Nullable FleetConfig next) {
        announced = next;
    }

    /** Returns true while the settings are announced, but not in force. */
    boolean isStarting() {
        return settings == null && announced != null;
    }

    /** Returns the settings in force or, while the node starts, the announced ones; null without a fleet. */
    @Nullable
    FleetConfig configured() {
        FleetConfig present = settings;
        return present == null ? announced : present;
    }

    /** Puts other settings in force, and resets the state of the connection; null leaves the fleet. */
    void changeSettings(@Nullable FleetConfig next) {
        FleetConfig before = settings;
        settings = next;
        announced = null;
        connectedSince = 0;
        downSince = next == null ? 0 : nowMillis();
        problem = "";
        refusal = "";
        config.clear();
        if (before != null && (next == null || !next.name().equals(before.name()))) {
            nodes.clear();
        }
    }

    /**
     * Returns the reason why the node is not connected or, while it is connected, the permissions that the servers
     * refuse; empty for none.
     */
    String problem() {
        return refusal.isEmpty() ? problem : refusal;
    }

    /** Returns true if the node is connected, but may not send its messages or receive those of other nodes. */
    boolean isRefused() {
        return !refusal.isEmpty();
    }

    boolean isConnected() {
        return connectedSince > 0;
    }

    /** Returns true if the node has been without a connection or permission for so long that the alarm is raised. */
    boolean isDownTooLong() {
        long since = downSince;
        return since > 0 && nowMillis() - since >= ALARM_AFTER_MILLIS;
    }

    /** Returns true if the reports of all live nodes must have arrived. */
    boolean areMembersKnown() {
        long since = connectedSince;
        return since > 0 && nowMillis() - since >= MEMBERS_KNOWN_MILLIS;
    }

    /**
     * Returns false if the node is certainly not live: it has sent no report, although the reports of all live nodes
     * must have arrived by now. While the servers refuse permissions to this node, reports of live nodes may be
     * missing.
     */
    boolean mayHaveNode(String node) {
        return nodes.find(node) != null || !areMembersKnown() || isRefused();
    }

    /** Returns true if a comparison with the stream that began after {@code millis} found no loss. */
    boolean isVerifiedAfter(long millis) {
        return verifiedAt > millis;
    }

    /** Records that a comparison with the stream that began at {@code millis} found no loss. */
    void setVerified(long millis) {
        verifiedAt = millis;
        checkWanted = false;
    }

    /** Requests a comparison with the stream before the interval ends. */
    void wantCheck() {
        checkWanted = true;
    }

    boolean isCheckWanted() {
        return checkWanted;
    }

    /** Returns the time of creation of the stream that this node follows; empty for none. */
    String created() {
        return created;
    }

    /** Records that the node is connected. Reports this as an event after a time without a connection. */
    void setConnected(String streamCreated) {
        created = streamCreated;
        if (connectedSince == 0) {
            connectedSince = nowMillis();
            downSince = isRefused() ? downSince : 0;
            problem = "";
            if (wasDown) {
                event(EventKind.FLEET_UP, name(), "connected to the NATS servers");
                wasDown = false;
            }
        }
    }

    /** Records that the node is not connected. Reports the first reason as an event. */
    void setDisconnected(String reason) {
        boolean isFirst = connectedSince > 0 || !wasDown;
        connectedSince = 0;
        refusal = "";
        downSince = downSince == 0 ? nowMillis() : downSince;
        problem = reason;
        if (isFirst) {
            wasDown = true;
            event(EventKind.FLEET_DOWN, name(), reason);
        }
    }

    /** Sets the permissions that the servers refuse to this node; empty for none. Reports changes as events. */
    void setRefusal(String text) {
        String before = refusal;
        refusal = text;
        if (before.isEmpty() && !text.isEmpty()) {
            downSince = downSince == 0 ? nowMillis() : downSince;
            event(EventKind.FLEET_DOWN, name(), text);
        } else if (text.isEmpty() && !before.isEmpty()) {
            downSince = isConnected() ? 0 : downSince;
            event(EventKind.FLEET_UP, name(), "the NATS servers permit the messages of this node");
        }
    }

    private String name() {
        FleetConfig present = settings;
        return present == null ? "fleet" : present.name();
    }

    /** Counts a refused message. Reports it as an event, at most once a minute for each reason and sender. */
    void reportRefusal(String reason, String sender, String text) {
        figures.countRefused(reason);
        String key = reason + " " + sender;
        if (wasReportedRecently(key)) {
            return;
        }
        event(EventKind.FLEET_REFUSED, sender, text);
    }

    /** Returns true if an event for the key was reported less than a minute ago. Otherwise records the present time. */
    private boolean wasReportedRecently(String key) {
        lock.lock();
        try {
            long now = nowMillis();
            if (reported.size() > REPORTED_MAX) {
                reported.clear();
            }
            Long before = reported.get(key);
            boolean repeated = before != null && now - before < REPEAT_MILLIS;
            if (!repeated) {
                reported.put(key, now);
            }
            return repeated;
        } finally {
            lock.unlock();
        }
    }

    /** Remembers the number of a refused message, for this node's reports. */
    void refusedAt(long sequence) {
        lock.lock();
        try {
            refused.addLast(Long.toString(sequence));
            if (refused.size() > REFUSED_MAX) {
                refused.removeFirst();
            }
        } finally {
            lock.unlock();
        }
    }

    List<String> refused() {
        lock.lock();
        try {
            return new ArrayList<>(refused);
        } finally {
            lock.unlock();
        }
    }

    void event(EventKind kind, String subject, String text) {
        events.record(new Event(nowMillis(), kind, subject, text));
    }
}
