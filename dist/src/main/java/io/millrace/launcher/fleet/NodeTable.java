package io.millrace.launcher.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** The latest report of each node of the fleet, and queries about these reports. Reads no clock. Thread-safe. */
final class NodeTable {
    /** Time without a report after which a node counts as away. */
    static final long LIVE_MILLIS = 5000;

    /** Time without a report after which a node is forgotten. */
    static final long KNOWN_MILLIS = 24 * 3600 * 1000L;

    /** Limit of nodes; reports of further nodes are ignored. */
    static final int NODES_MAX = 10_000;

    private final Map<String, Heard> nodes = new ConcurrentSkipListMap<>();

    /**
     * A node and the time of its latest report.
     *
     * @param atMillis time of this machine's clock, epoch milliseconds
     */
    record Heard(NodeReport report, long atMillis) {
        boolean isLive(long nowMillis) {
            return !report.leaving() && nowMillis - atMillis < LIVE_MILLIS;
        }
    }

    /**
     * The state of one purge on the nodes.
     *
     * @param applied nodes that have applied the purge
     * @param missing live nodes that have not applied the purge, each with the reason
     * @param away nodes that were heard from earlier, each with the time since then in seconds
     */
    record PurgeProgress(List<String> applied, Map<String, String> missing, Map<String, Long> away) {
        /** Returns true if every live node has applied the purge, and there is a live node. */
        boolean isComplete() {
            return missing.isEmpty() && !applied.isEmpty();
        }
    }

    /** Adds a report. Returns false if the table is full. */
    boolean add(NodeReport report, long nowMillis) {
        nodes.values().removeIf(heard -> nowMillis - heard.atMillis > KNOWN_MILLIS);
        if (nodes.size() >= NODES_MAX && !nodes.containsKey(report.node())) {
            return false;
        }
        nodes.put(report.node(), new Heard(report, nowMillis));
        return true;
    }

    /** Forgets every node. */
    void clear() {
        nodes.clear();
    }

    /** Returns all known nodes by name. */
    List<Heard> all() {
        return new ArrayList<>(nodes.values());
    }

    /** Returns the latest report of a node; null for none. */
    @Nullable
    Heard find(String node) {
        return nodes.get(node);
    }

    /** Returns the first live node by name; null for none. */
    @Nullable
    String firstLive(long nowMillis) {
        for (Heard heard : all()) {
            if (heard.isLive(nowMillis)) {
                return heard.report().node();
            }
        }
        return null;
    }

    /** Returns the highest revision of the fleet's configuration that a live node has reported; 0 for none. */
    long newestRevision(long nowMillis) {
        long newest = 0;
        for (Heard heard : nodes.values()) {
            if (heard.isLive(nowMillis)) {
                newest = Math.max(newest, heard.report().config().newest());
            }
        }
        return newest;
    }

    /** Returns the number of live nodes. */
    int live(long nowMillis) {
        return (int) all().stream().filter(heard -> heard.isLive(nowMillis)).count();
    }

    /**
     * Returns the state of a purge that is not published yet: no other node has applied it.
     *
     * @param self name of this node
     */
    PurgeProgress unpublished(String self, long nowMillis) {
        Map<String, String> missing = new TreeMap<>();
        Map<String, Long> away = new TreeMap<>();
        for (Heard heard : all()) {
            NodeReport report = heard.report();
            if (report.leaving() || report.node().equals(self)) {
                continue;
            }
            if (heard.isLive(nowMillis)) {
                missing.put(report.node(), "cannot have the purge before it is published");
            } else {
                away.put(report.node(), Math.max(0, nowMillis - heard.atMillis()) / 1000);
            }
        }
        return new PurgeProgress(List.of(), missing, away);
    }

    /**
     * Returns which nodes have applied a message.
     *
     * @param created time of creation of the stream with the message
     * @param sequence number of the message
     */
    PurgeProgress spread(String created, long sequence, long nowMillis) {
        List<String> applied = new ArrayList<>();
        Map<String, String> missing = new TreeMap<>();
        Map<String, Long> away = new TreeMap<>();
        for (Heard heard : all()) {
            NodeReport report = heard.report();
            if (!heard.isLive(nowMillis)) {
                if (!report.leaving()) {
                    away.put(report.node(), Math.max(0, nowMillis - heard.atMillis()) / 1000);
                }
            } else if (report.refused().contains(Long.toString(sequence))) {
                missing.put(report.node(), "refused the message");
            } else if (!report.created().equals(created)) {
                missing.put(report.node(), "does not follow the stream yet");
            } else if (report.applied() < sequence) {
                long behind = sequence - report.applied();
                missing.put(report.node(), "is behind by " + behind + (behind == 1 ? " message" : " messages"));
            } else {
                applied.add(report.node());
            }
        }
        return new PurgeProgress(applied, missing, away);
    }
}
