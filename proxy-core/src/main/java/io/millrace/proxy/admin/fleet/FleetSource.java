package io.millrace.proxy.admin.fleet;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The membership of this node in a fleet. Thread-safe; never blocks. */
public interface FleetSource {
    /** Returns the state of the membership. */
    Status status();

    /** Returns the nodes that have applied a purge of this node; null without a fleet. */
    @Nullable
    Spread spread(String purgeId);

    /**
     * The state of the membership. Immutable.
     *
     * @param fleet name of the fleet; empty without one
     * @param node name of this node
     * @param tier label of the cache layer of this node, such as {@code edge}
     * @param state off, starting, connected, disconnected, or refused (the servers are connected but deny a permission)
     * @param problem reason why the node is not connected, or the permissions that it lacks; empty for none
     * @param onGap treatment of stored responses after this node has missed purges of other nodes
     * @param streamCreated time of creation of the stream of purge messages that the nodes share
     * @param streamLast number of the last message of the stream
     * @param applied number of the last message that this node has applied
     * @param outboxBytes bytes of purges on disk that wait to be sent
     * @param nodes the known nodes, by name
     */
    record Status(
            String fleet,
            String node,
            String tier,
            String state,
            String problem,
            String onGap,
            String streamCreated,
            long streamLast,
            long applied,
            long outboxBytes,
            List<Node> nodes) {}

    /**
     * A known node. Immutable.
     *
     * @param state live, away (no recent report), or left (the node has left the fleet)
     * @param applied number of the last message that the node has applied
     * @param lag messages that the node has not applied; -1 if it does not follow this node's stream
     * @param seenSeconds time since its latest report
     * @param refused numbers of the latest messages that the node has refused
     * @param configRevision revision of the fleet's configuration in force on the node; 0 for none
     */
    record Node(
            String node,
            String tier,
            String version,
            String state,
            long applied,
            long lag,
            long seenSeconds,
            List<String> refused,
            long configRevision) {}

    /**
     * The nodes that have applied a purge. Immutable.
     *
     * @param isComplete whether every live node has applied it
     * @param sequence number of its message in the stream; 0 if it is not published, or the number is not known any
     *     more
     * @param note reason why the nodes are not known; empty for none
     * @param applied nodes that have applied it
     * @param missing live nodes that have not, with the reason
     * @param away nodes without a connection, with the seconds since their latest report
     */
    record Spread(
            boolean isComplete,
            long sequence,
            String note,
            List<String> applied,
            Map<String, String> missing,
            Map<String, Long> away) {}
}
