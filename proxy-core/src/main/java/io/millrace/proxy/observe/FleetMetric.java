package io.millrace.proxy.observe;

import java.util.List;

/** The metrics of a fleet: its nodes, shared purges, and revisions of its configuration. Immutable. */
public enum FleetMetric implements Metric {
    CONNECTED(
            "millrace_fleet_connected",
            Kind.GAUGE,
            "boolean",
            "1 while this node is connected to its fleet, follows the stream of purges and may publish; if 0, see"
                    + " millctl fleet status."),
    NODES(
            "millrace_fleet_nodes",
            Kind.GAUGE,
            "nodes",
            "Nodes of the fleet by state: live, or away for nodes that were heard from earlier.",
            "state"),
    RING_NODES(
            "millrace_fleet_ring_nodes",
            Kind.GAUGE,
            "nodes",
            "Nodes of the fleet that are hosts of origin groups with hosts_from, by tier; 0 if all of a tier have"
                    + " left.",
            "tier"),
    APPLIED(
            "millrace_fleet_applied_sequence",
            Kind.GAUGE,
            "messages",
            "Number of the last message of the stream that this node has applied."),
    LAG(
            "millrace_fleet_lag",
            Kind.GAUGE,
            "messages",
            "Messages of the stream that this node has not applied; if it stays above 0, see the log."),
    OUTBOX_BYTES(
            "millrace_fleet_outbox_bytes",
            Kind.GAUGE,
            "bytes",
            "Purges on disk that wait for the NATS servers; compare with fleet.outbox_size."),
    PUBLISHED(
            "millrace_fleet_published_total",
            Kind.COUNTER,
            "messages",
            "Purges of this node that the stream contains, and that this node has received from the stream."),
    RECEIVED(
            "millrace_fleet_received_total",
            Kind.COUNTER,
            "messages",
            "Messages of the stream that this node has applied, its own included."),
    REFUSED(
            "millrace_fleet_refused_total",
            Kind.COUNTER,
            "messages",
            "Messages that this node has refused, by reason; the event fleet-refused names the sender.",
            "reason"),
    GAPS(
            "millrace_fleet_gaps_total",
            Kind.COUNTER,
            "gaps",
            "Gaps in which purges may have been missed, by reason; after each, all stored responses became stale or"
                    + " were removed.",
            "reason"),
    QUERIES(
            "millrace_fleet_queries_total",
            Kind.COUNTER,
            "requests",
            "Queries of other nodes (millctl --node) that this node has received, by result: answered or refused.",
            "result"),
    CONFIG_REVISION(
            "millrace_fleet_config_revision",
            Kind.GAUGE,
            "revisions",
            "Revision of the fleet's configuration in force on this node; 0 if only the local file is in force."),
    CONFIG_NEWEST(
            "millrace_fleet_config_newest_revision",
            Kind.GAUGE,
            "revisions",
            "Newest revision that this node knows; if it differs from the one in force, see millctl fleet"
                    + " config status."),
    CONFIG_REVISIONS(
            "millrace_fleet_config_revisions_total",
            Kind.COUNTER,
            "revisions",
            "Revisions of the fleet's configuration on this node by result: applied, rejected or rolled-back.",
            "result"),
    CONFIG_REFUSED(
            "millrace_fleet_config_refused_total",
            Kind.COUNTER,
            "revisions",
            "Revisions that this node has refused before it read their configuration, by reason; the event"
                    + " fleet-config-failed has the details.",
            "reason");

    @SuppressWarnings("ImmutableEnumChecker") // a record of immutable values
    private final Definition definition;

    FleetMetric(String metricName, Kind kind, String unit, String description, String... labels) {
        definition = new Definition(metricName, kind, unit, description, List.of(labels));
    }

    @Override
    public Definition definition() {
        return definition;
    }
}
