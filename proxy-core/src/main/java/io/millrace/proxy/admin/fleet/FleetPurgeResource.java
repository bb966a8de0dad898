package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.fleet.FleetSource.Spread;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/fleet/purge?id=ID}: the nodes that have applied a purge of this node. Thread-safe. */
public final class FleetPurgeResource implements AdminResource {
    /** The path on the launcher's socket. */
    public static final String PATH = "/v1/fleet/purge";

    private final FleetSource source;

    public FleetPurgeResource(FleetSource source) {
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
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String id = request.parameter("id");
        Spread spread = source.spread(id);
        if (spread == null) {
            throw new AdminException(409, "no-fleet", "this node is in no fleet; set fleet.name");
        }
        responder.reply(AdminReply.json(json -> write(json, id, spread)));
    }

    private static void write(JsonGenerator json, String id, Spread spread) {
        json.writeStringProperty("id", id);
        json.writeStringProperty("state", spread.isComplete() ? "complete" : "pending");
        json.writeNumberProperty("sequence", spread.sequence());
        json.writeStringProperty("note", spread.note());
        Json.strings(json, "applied", spread.applied());
        json.writeArrayPropertyStart("missing");
        spread.missing().forEach((node, reason) -> {
            json.writeStartObject();
            json.writeStringProperty("node", node);
            json.writeStringProperty("reason", reason);
            json.writeEndObject();
        });
        json.writeEndArray();
        json.writeArrayPropertyStart("away");
        spread.away().forEach((node, seconds) -> {
            json.writeStartObject();
            json.writeStringProperty("node", node);
            json.writeNumberProperty("seen_seconds", seconds);
            json.writeEndObject();
        });
        json.writeEndArray();
    }
}
