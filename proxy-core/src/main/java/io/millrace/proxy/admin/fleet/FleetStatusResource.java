package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.fleet.FleetSource.Node;
import io.millrace.proxy.admin.fleet.FleetSource.Status;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/fleet}: the membership of this node, and the known nodes. Thread-safe. */
public final class FleetStatusResource implements AdminResource {
    /** The path on the launcher's socket. */
    public static final String PATH = "/v1/fleet";

    private final FleetSource source;

    public FleetStatusResource(FleetSource source) {
        this.source = source;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return PATH;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        Status status = source.status();
        responder.reply(AdminReply.json(json -> write(json, status)));
    }

    private static void write(JsonGenerator json, Status status) {
        json.writeStringProperty("fleet", status.fleet());
        json.writeStringProperty("node", status.node());
        json.writeStringProperty("tier", status.tier());
        json.writeStringProperty("state", status.state());
        json.writeStringProperty("problem", status.problem());
        json.writeStringProperty("on_gap", status.onGap());
        json.writeStringProperty("stream_created", status.streamCreated());
        json.writeNumberProperty("stream_last", status.streamLast());
        json.writeNumberProperty("applied", status.applied());
        json.writeNumberProperty("lag", Math.max(0, status.streamLast() - status.applied()));
        json.writeNumberProperty("outbox_bytes", status.outboxBytes());
        json.writeArrayPropertyStart("nodes");
        status.nodes().forEach(node -> write(json, node));
        json.writeEndArray();
    }

    private static void write(JsonGenerator json, Node node) {
        json.writeStartObject();
        json.writeStringProperty("node", node.node());
        json.writeStringProperty("tier", node.tier());
        json.writeStringProperty("version", node.version());
        json.writeStringProperty("state", node.state());
        json.writeNumberProperty("applied", node.applied());
        json.writeName("lag");
        if (node.lag() < 0) {
            json.writeNull();
        } else {
            json.writeNumber(node.lag());
        }
        json.writeNumberProperty("seen_seconds", node.seenSeconds());
        Json.strings(json, "refused", node.refused());
        json.writeNumberProperty("config_revision", node.configRevision());
        json.writeEndObject();
    }
}
