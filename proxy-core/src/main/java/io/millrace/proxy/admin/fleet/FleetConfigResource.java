package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.fleet.FleetConfigSource.Push;
import io.millrace.proxy.admin.fleet.FleetConfigSource.PushReport;
import io.millrace.proxy.admin.fleet.FleetConfigSource.Revision;
import io.millrace.proxy.admin.fleet.FleetConfigSource.Status;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/**
 * The resources of the configuration that a fleet shares: {@code GET /v1/fleet/config}, {@code GET
 * /v1/fleet/config/history}, {@code POST /v1/fleet/config/part} and {@code POST /v1/fleet/config/push}. Thread-safe.
 */
public final class FleetConfigResource implements AdminResource {
    /** The path of the state, and the beginning of the other paths. */
    public static final String PATH = "/v1/fleet/config";

    /** The time limit is long, because a check may wait for other changes of the configuration. */
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    /** The action of one resource. */
    private interface Action {
        void run(AdminRequest request, AdminResponder responder) throws AdminException;
    }

    private final String method;
    private final String path;
    private final boolean isBlocking;
    private final Action action;

    private FleetConfigResource(String method, String path, boolean isBlocking, Action action) {
        this.method = method;
        this.path = path;
        this.isBlocking = isBlocking;
        this.action = action;
    }

    /** Returns all resources. */
    public static List<AdminResource> all(FleetConfigSource source) {
        return List.of(
                new FleetConfigResource("GET", PATH, false, (request, responder) -> {
                    Status status = source.status();
                    responder.reply(AdminReply.json(json -> write(json, status)));
                }),
                new FleetConfigResource("GET", PATH + "/history", true, (request, responder) -> {
                    List<Revision> revisions = source.history();
                    responder.reply(AdminReply.json(json -> write(json, revisions)));
                }),
                new FleetConfigResource(
                        "POST", PATH + "/part", true, (request, responder) -> part(source, request, responder)),
                new FleetConfigResource(
                        "POST", PATH + "/push", true, (request, responder) -> push(source, request, responder)));
    }

    private static void part(FleetConfigSource source, AdminRequest request, AdminResponder responder)
            throws AdminException {
        Map<String, Object> body = Json.members(request.body());
        Json.onlyMembers(body, List.of("content", "part", "data"));
        Long part = Json.member(body, "part", Long.class);
        byte[] data;
        try {
            data = Base64.getDecoder().decode(text(body, "data"));
        } catch (IllegalArgumentException e) {
            throw new AdminException(400, "bad-request", "the member 'data' is not Base64");
        }
        if (part == null || part < 0 || part > Integer.MAX_VALUE) {
            throw new AdminException(400, "bad-request", "the member 'part' is the number of a part, from 0");
        }
        long received = source.part(text(body, "content"), part.intValue(), data);
        responder.reply(AdminReply.json(json -> json.writeNumberProperty("received", received)));
    }

    private static void push(FleetConfigSource source, AdminRequest request, AdminResponder responder)
            throws AdminException {
        Map<String, Object> body = Json.members(request.body());
        Json.onlyMembers(body, List.of("statement", "signature", "fallback", "fallback_signature"));
        Push push = new Push(
                text(body, "statement"),
                text(body, "signature"),
                optional(body, "fallback"),
                optional(body, "fallback_signature"));
        responder.replyWhen(source.push(push), report -> AdminReply.json(json -> write(json, report)));
    }

    private static String text(Map<String, Object> body, String name) throws AdminException {
        String text = Json.member(body, name, String.class);
        if (text == null) {
            throw new AdminException(400, "bad-request", "the member '" + name + "' is missing");
        }
        return text;
    }

    private static String optional(Map<String, Object> body, String name) throws AdminException {
        String text = Json.member(body, name, String.class);
        return text == null ? "" : text;
    }

    private static void write(JsonGenerator json, Status status) {
        json.writeStringProperty("fleet", status.fleet());
        json.writeStringProperty("node", status.node());
        json.writeStringProperty("state", status.state());
        json.writeStringProperty("problem", status.problem());
        json.writeNumberProperty("revision", status.revision());
        json.writeNumberProperty("newest", status.newest());
        json.writeNumberProperty("next", status.next());
        json.writeStringProperty("stage", status.stage());
        json.writeStringProperty("content", status.content());
        json.writeNumberProperty("previous", status.previous());
        json.writeStringProperty("previous_content", status.previousContent());
        Json.strings(json, "canary", status.canary());
        Json.strings(json, "guards", status.guards());
        json.writeNumberProperty("canary_seconds", status.seconds());
        json.writeNumberProperty("failed", status.failed());
        json.writeStringProperty("reason", status.reason());
        json.writeArrayPropertyStart("nodes");
        for (FleetConfigSource.Node node : status.nodes()) {
            json.writeStartObject();
            json.writeStringProperty("node", node.node());
            json.writeStringProperty("tier", node.tier());
            json.writeStringProperty("connection", node.connection());
            json.writeNumberProperty("revision", node.revision());
            json.writeNumberProperty("newest", node.newest());
            json.writeStringProperty("state", node.state());
            json.writeStringProperty("reason", node.reason());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void write(JsonGenerator json, List<Revision> revisions) {
        json.writeArrayPropertyStart("revisions");
        for (Revision revision : revisions) {
            json.writeStartObject();
            json.writeNumberProperty("revision", revision.revision());
            json.writeStringProperty("at", revision.at());
            json.writeStringProperty("by", revision.by());
            json.writeNumberProperty("length", revision.length());
            json.writeStringProperty("content", revision.content());
            json.writeNumberProperty("restores", revision.restores());
            Json.strings(json, "canary", revision.canary());
            json.writeStringProperty("failure", revision.failure());
            json.writeBooleanProperty("current", revision.isCurrent());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void write(JsonGenerator json, PushReport report) {
        json.writeBooleanProperty("ok", report.ok());
        json.writeNumberProperty("revision", report.revision());
        json.writeStringProperty("stage", report.stage());
        Json.strings(json, "problems", report.problems());
    }

    @Override
    public String method() {
        return method;
    }

    @Override
    public String path() {
        return path;
    }

    @Override
    public boolean isBlocking() {
        return isBlocking;
    }

    @Override
    public Duration timeout() {
        return method.equals("POST") ? TIMEOUT : DEFAULT_TIMEOUT;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        action.run(request, responder);
    }
}
