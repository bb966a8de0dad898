package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.NodeConfigState;
import io.millrace.launcher.fleet.config.RevisionStatement;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.purge.fleet.RefusedMessageException;
import io.millrace.proxy.purge.fleet.RefusedMessageException.Reason;
import java.util.List;
import java.util.Map;

/**
 * The report that each node of a fleet sends to all other nodes, at least once a second. Immutable.
 *
 * @param fleet name of the fleet
 * @param node name of the node
 * @param instance identifier of the node's state directory
 * @param tier label of the node's cache layer, such as {@code edge}
 * @param address URL at which the node takes requests of other nodes; empty while it takes none
 * @param version version of Millrace
 * @param created time of creation of the stream that the node follows; empty before it follows one
 * @param applied number of the last message that the node has applied
 * @param refused numbers of the latest messages that the node has refused
 * @param config state of the fleet's configuration on the node
 * @param leaving whether the node ends its membership
 */
record NodeReport(
        String fleet,
        String node,
        String instance,
        String tier,
        String address,
        String version,
        String created,
        long applied,
        List<String> refused,
        NodeConfigState config,
        boolean leaving) {
    /** Version of the report format. */
    static final int FORMAT_VERSION = 1;

    /** Limit of a report, in bytes. */
    static final int BYTES_MAX = 8 << 10;

    byte[] bytes() {
        return AdminReply.json(json -> {
                    json.writeNumberProperty("v", FORMAT_VERSION);
                    json.writeStringProperty("fleet", fleet);
                    json.writeStringProperty("node", node);
                    json.writeStringProperty("instance", instance);
                    json.writeStringProperty("tier", tier);
                    json.writeStringProperty("address", address);
                    json.writeStringProperty("version", version);
                    json.writeStringProperty("created", created);
                    json.writeNumberProperty("applied", applied);
                    Json.strings(json, "refused", refused);
                    json.writeNumberProperty("config_revision", config.revision());
                    json.writeNumberProperty("config_newest", config.newest());
                    json.writeStringProperty("config_state", config.state());
                    json.writeStringProperty("config_reason", config.reason());
                    json.writeBooleanProperty("leaving", leaving);
                })
                .body();
    }

    /**
     * Reads a report.
     *
     * @param sender node named in the NATS subject on which the report arrived
     * @param fleet name of this fleet
     * @throws RefusedMessageException if the report must not be believed
     */
    static NodeReport read(byte[] body, String sender, String fleet) throws RefusedMessageException {
        if (body.length > BYTES_MAX) {
            throw new RefusedMessageException(
                    Reason.TOO_LONG, "length of the report: actual=" + body.length + ", limit=" + BYTES_MAX);
        }
        NodeReport report;
        try {
            Map<String, Object> members = Json.members(body);
            if (!Long.valueOf(FORMAT_VERSION).equals(members.get("v"))) {
                throw new RefusedMessageException(
                        Reason.VERSION,
                        "version of the report: actual=" + members.get("v") + ", supported=" + FORMAT_VERSION);
            }
            Long applied = Json.member(members, "applied", Long.class);
            report = new NodeReport(
                    text(members, "fleet"),
                    text(members, "node"),
                    text(members, "instance"),
                    text(members, "tier"),
                    address(members),
                    text(members, "version"),
                    String.valueOf(members.getOrDefault("created", "")),
                    applied == null ? 0 : applied,
                    Json.list(members, "refused"),
                    config(members),
                    Boolean.TRUE.equals(members.get("leaving")));
        } catch (AdminException e) {
            throw new RefusedMessageException(Reason.MALFORMED, e.message());
        }
        if (!report.fleet.equals(fleet)) {
            throw new RefusedMessageException(
                    Reason.OTHER_FLEET, "the report is of fleet '" + report.fleet + "', this is '" + fleet + "'");
        }
        if (!report.node.equals(sender) || !FleetConfig.isName(report.node)) {
            throw new RefusedMessageException(
                    Reason.FORGED_NODE,
                    "the report names node '" + report.node + "', but was sent by '" + sender + "'");
        }
        return report;
    }

    /**
     * Returns the state of the configuration. An earlier version of Millrace does not report it. A state with a number
     * out of range is ignored: the next push uses a revision number above all reported numbers, so a wrong number could
     * block pushes.
     */
    private static NodeConfigState config(Map<String, Object> members) throws AdminException {
        Long revision = Json.member(members, "config_revision", Long.class);
        Long newest = Json.member(members, "config_newest", Long.class);
        String state = Json.member(members, "config_state", String.class);
        String reason = Json.member(members, "config_reason", String.class);
        boolean isPossible = RevisionStatement.isNumber(revision == null ? 0 : revision)
                && RevisionStatement.isNumber(newest == null ? 0 : newest);
        return revision == null || newest == null || state == null || state.length() > 16 || !isPossible
                ? NodeConfigState.OFF
                : new NodeConfigState(revision, newest, state, reason == null ? "" : reason);
    }

    /** Returns the address; empty if an earlier version of Millrace does not report it. */
    private static String address(Map<String, Object> members) throws AdminException {
        String address = Json.member(members, "address", String.class);
        if (address == null || address.isEmpty()) {
            return "";
        }
        try {
            return RuleUrl.parseOrigin(address).authority();
        } catch (InvalidValueException e) {
            throw new AdminException(
                    400, "bad-request", "the member 'address' is not the URL of a host: " + e.problem());
        }
    }

    private static String text(Map<String, Object> members, String name) throws AdminException {
        String text = Json.member(members, name, String.class);
        if (text == null || text.length() > 128) {
            throw new AdminException(400, "bad-request", "the member '" + name + "' is missing or too long");
        }
        return text;
    }
}
