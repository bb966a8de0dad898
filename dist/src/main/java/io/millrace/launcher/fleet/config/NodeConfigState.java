package io.millrace.launcher.fleet.config;

/**
 * The state of the fleet's configuration on one node, for its reports. Immutable.
 *
 * @param revision number of the revision in force; 0 if only the local file is in force
 * @param newest highest number of a revision that the node knows
 * @param state one of the words below
 * @param reason reason of the state; empty for none
 */
public record NodeConfigState(long revision, long newest, String state, String reason) {
    /** The node does not take part in the shared configuration. */
    public static final String NOT_SHARED = "off";

    /** Only the local file is in force, because the node has not applied a revision yet. */
    public static final String LOCAL = "local";

    /** The newest revision is in force. */
    public static final String APPLIED = "applied";

    /** The node cannot apply the newest revision. */
    public static final String REJECTED = "rejected";

    /** The newest revision waits for canary nodes, or is being applied. */
    public static final String PENDING = "pending";

    /** The state of a node that does not take part. */
    public static final NodeConfigState OFF = new NodeConfigState(0, 0, NOT_SHARED, "");

    private static final int REASON_LENGTH_MAX = 300;

    /** Shortens the reason. */
    public NodeConfigState {
        reason = reason.length() <= REASON_LENGTH_MAX ? reason : reason.substring(0, REASON_LENGTH_MAX) + "…";
    }
}
