package io.millrace.proxy.purge.fleet;

import org.jspecify.annotations.Nullable;

/**
 * A message of the stream by which the nodes of a fleet share purges. Immutable.
 *
 * @param fleet name of the fleet
 * @param node name of the node that sent the message
 * @param instance random identifier of the sender's state directory; distinguishes two nodes with the same name
 * @param id identifier, unique in the fleet; begins with the name of the node and a colon
 * @param purge the purge, or another action, such as the undo of a purge
 */
public record FleetMessage(String fleet, String node, String instance, String id, FleetPurge purge) {
    /** The separator between node and local identifier. */
    private static final char SEPARATOR = ':';

    /** Returns the shared identifier of a node's purge. */
    public static String sharedId(String node, String localId) {
        return node + SEPARATOR + localId;
    }

    /** Returns the local identifier in a shared identifier; null if another node created it. */
    public static @Nullable String localId(String node, String sharedId) {
        return sharedId.startsWith(node + SEPARATOR) ? sharedId.substring(node.length() + 1) : null;
    }
}
