package io.millrace.launcher.fleet.config;

import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The state of the fleet's configuration on this node, which reports, metrics and the admin API read. Thread-safe. */
public final class ConfigState {
    private final EventSink events;
    private final LongSupplier clockMillis;
    private final Map<String, AtomicLong> revisions = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> refused = new ConcurrentHashMap<>();
    private volatile NodeConfigState nodeState = NodeConfigState.OFF;
    private volatile @Nullable ConfigHead head;
    private volatile String lastRefusal = "";
    private volatile String problem = "";

    public ConfigState(EventSink events, LongSupplier clockMillis) {
        this.events = events;
        this.clockMillis = clockMillis;
    }

    /** Returns the state of this node. */
    public NodeConfigState nodeState() {
        return nodeState;
    }

    void nodeState(NodeConfigState next) {
        nodeState = next;
    }

    /** Returns the head (the entry that names the revision in force) that was read last; null before the first. */
    @Nullable
    ConfigHead head() {
        return head;
    }

    void head(@Nullable ConfigHead next) {
        head = next;
    }

    /** Returns the reason why the configuration of the fleet cannot be read; empty for none. */
    public String problem() {
        return problem;
    }

    /**
     * Records why the configuration of the fleet cannot be read.
     *
     * @param reason empty for none
     */
    public void problem(String reason) {
        problem = reason;
    }

    /** Forgets the state when the node leaves its fleet, or applies only its local file. */
    public void clear() {
        nodeState = NodeConfigState.OFF;
        head = null;
        lastRefusal = "";
        problem = "";
    }

    /** Counts a revision with its result on this node: applied, rejected or rolled-back. */
    void count(String result) {
        revisions.computeIfAbsent(result, key -> new AtomicLong()).incrementAndGet();
    }

    /** Counts a refused revision, and records an event unless the last refusal had the same text. */
    void refuse(String subject, RefusedRevisionException e) {
        refused.computeIfAbsent(e.reason().word(), key -> new AtomicLong()).incrementAndGet();
        if (!lastRefusal.equals(e.text())) {
            lastRefusal = e.text();
            event(EventKind.FLEET_CONFIG_FAILED, subject, e.text());
        }
    }

    void event(EventKind kind, String subject, String text) {
        events.record(new Event(clockMillis.getAsLong(), kind, subject, text));
    }

    /** Returns the number of revisions on this node by result. */
    public Map<String, Long> revisions() {
        return values(revisions);
    }

    /** Returns the number of refused revisions by reason. */
    public Map<String, Long> refused() {
        return values(refused);
    }

    private static Map<String, Long> values(Map<String, AtomicLong> counters) {
        Map<String, Long> values = new TreeMap<>();
        counters.forEach((name, count) -> values.put(name, count.get()));
        return values;
    }

    /**
     * Returns the alarm that this node rejects the newest revision, or that the last one was rolled back because its
     * canary failed; null for none.
     */
    public @Nullable Alarm alarm(String fleet) {
        NodeConfigState present = nodeState;
        ConfigHead currentHead = head;
        if (present.state().equals(NodeConfigState.REJECTED)) {
            return new Alarm(
                    AlarmKind.FLEET_CONFIG,
                    fleet,
                    "this node rejects revision " + present.newest() + ": " + present.reason(),
                    -1);
        }
        return currentHead == null || currentHead.failed() == 0
                ? null
                : new Alarm(
                        AlarmKind.FLEET_CONFIG,
                        fleet,
                        "revision " + currentHead.failed() + " was rolled back: " + currentHead.reason(),
                        -1);
    }
}
