package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigState;
import io.millrace.proxy.observe.FleetMetric;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The metrics of this node's membership in a fleet (nodes that exchange purges over NATS). Thread-safe. */
final class FleetFigures {
    final AtomicLong published = new AtomicLong();
    final AtomicLong received = new AtomicLong();
    final AtomicLong outboxBytes = new AtomicLong();
    /** Number of the last message that this node has applied. */
    final AtomicLong lastApplied = new AtomicLong();
    /** Number of the newest message in the stream. */
    final AtomicLong newest = new AtomicLong();

    private final Map<String, AtomicLong> refused = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> gaps = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> queries = new ConcurrentHashMap<>();

    void countRefused(String reason) {
        refused.computeIfAbsent(reason, key -> new AtomicLong()).incrementAndGet();
    }

    void countGap(String reason) {
        gaps.computeIfAbsent(reason, key -> new AtomicLong()).incrementAndGet();
    }

    void countQuery(String result) {
        queries.computeIfAbsent(result, key -> new AtomicLong()).incrementAndGet();
    }

    /** Returns the number of messages of the stream that this node has not applied. */
    long lag() {
        return Math.max(0, newest.get() - lastApplied.get());
    }

    /**
     * Returns the metrics in the text format of Prometheus. A node counts as away if it has not announced that it
     * leaves, but its reports are missing.
     */
    String prometheusText(boolean connected, int live, int away) {
        StringBuilder text = new StringBuilder(2048);
        appendSingle(text, FleetMetric.CONNECTED, connected ? 1 : 0);
        appendLabelled(text, FleetMetric.NODES, "state", Map.of("live", (long) live, "away", (long) away));
        appendSingle(text, FleetMetric.APPLIED, lastApplied.get());
        appendSingle(text, FleetMetric.LAG, lag());
        appendSingle(text, FleetMetric.OUTBOX_BYTES, outboxBytes.get());
        appendSingle(text, FleetMetric.PUBLISHED, published.get());
        appendSingle(text, FleetMetric.RECEIVED, received.get());
        appendLabelled(text, FleetMetric.REFUSED, "reason", values(refused));
        appendLabelled(text, FleetMetric.GAPS, "reason", values(gaps));
        appendLabelled(text, FleetMetric.QUERIES, "result", values(queries));
        return text.toString();
    }

    /**
     * Returns the metrics of the fleet's configuration on this node.
     *
     * @param inForce revision of the configuration in force; 0 for none
     */
    static String configText(ConfigState config, long inForce) {
        StringBuilder text = new StringBuilder(512);
        appendSingle(
                text,
                FleetMetric.CONFIG_REVISION,
                Math.max(inForce, config.nodeState().revision()));
        appendSingle(text, FleetMetric.CONFIG_NEWEST, config.nodeState().newest());
        appendLabelled(text, FleetMetric.CONFIG_REVISIONS, "result", config.revisions());
        appendLabelled(text, FleetMetric.CONFIG_REFUSED, "reason", config.refused());
        return text.toString();
    }

    /** Returns the metric of the nodes that take requests of other nodes, by tier. */
    static String ringText(Map<String, Long> nodes) {
        StringBuilder text = new StringBuilder(256);
        appendLabelled(text, FleetMetric.RING_NODES, "tier", nodes);
        return text.toString();
    }

    private static Map<String, Long> values(Map<String, AtomicLong> counters) {
        Map<String, Long> values = new TreeMap<>();
        counters.forEach((reason, count) -> values.put(reason, count.get()));
        return values;
    }

    private static void appendHead(StringBuilder text, FleetMetric family) {
        boolean counter = family.metricName().endsWith("_total");
        text.append("# HELP ").append(family.metricName()).append(' ').append(family.description());
        text.append("\n# TYPE ").append(family.metricName()).append(counter ? " counter\n" : " gauge\n");
    }

    private static void appendSingle(StringBuilder text, FleetMetric family, long value) {
        appendHead(text, family);
        text.append(family.metricName())
                .append("{application=\"millrace\"} ")
                .append(value)
                .append(".0\n");
    }

    private static void appendLabelled(StringBuilder text, FleetMetric family, String label, Map<String, Long> values) {
        if (values.isEmpty()) {
            return;
        }
        appendHead(text, family);
        new TreeMap<>(values).forEach((name, value) -> text.append(family.metricName())
                .append("{application=\"millrace\",")
                .append(label)
                .append("=\"")
                .append(name)
                .append("\"} ")
                .append(value)
                .append(".0\n"));
    }
}
