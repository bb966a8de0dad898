package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.status.ServerSource.Loop;
import io.millrace.proxy.admin.status.ServerSource.ServerReport;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /v1/server}: the serving process and its event loops; {@code POST /v1/server/drain}: begins a drain, or
 * ends it with {@code "undo": "true"}. Thread-safe.
 */
public final class ServerResource implements AdminResource {
    private static final String PATH = "/v1/server";

    private final ServerSource source;
    private final boolean drains;

    private ServerResource(ServerSource source, boolean drains) {
        this.source = source;
        this.drains = drains;
    }

    /** Creates {@code GET /v1/server}. */
    public static ServerResource report(ServerSource source) {
        return new ServerResource(source, false);
    }

    /** Creates {@code POST /v1/server/drain}. */
    public static ServerResource drain(ServerSource source) {
        return new ServerResource(source, true);
    }

    @Override
    public String method() {
        return drains ? "POST" : "GET";
    }

    @Override
    public String path() {
        return drains ? PATH + "/drain" : PATH;
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        ServerReport report = drains ? changeDrain(request) : source.report();
        responder.reply(AdminReply.json(json -> write(json, report)));
    }

    private ServerReport changeDrain(AdminRequest request) throws AdminException {
        Map<String, String> members = Json.strings(request.body(), Set.of("undo"));
        String undo = members.getOrDefault("undo", "false");
        if (!undo.equals("true") && !undo.equals("false")) {
            throw new AdminException(400, "bad-request", "the member 'undo' must be \"true\" or \"false\"");
        }
        return source.drain(undo.equals("true"));
    }

    private static void write(JsonGenerator json, ServerReport report) {
        json.writeStringProperty("state", report.state());
        json.writeBooleanProperty("draining", report.isDraining());
        json.writeNumberProperty("pid", report.pid());
        json.writeNumberProperty("uptime_seconds", report.uptimeSeconds());
        json.writeNumberProperty("cpu_seconds", report.cpuSeconds());
        json.writeNumberProperty("resident_bytes", report.residentBytes());
        json.writeNumberProperty("threads", report.threads());
        json.writeNumberProperty("descriptors", report.descriptors());
        json.writeArrayPropertyStart("loops");
        for (Loop loop : report.loops()) {
            json.writeStartObject();
            json.writeStringProperty("thread", loop.thread());
            json.writeNumberProperty("client_connections", loop.clientConnections());
            json.writeNumberProperty("origin_connections", loop.originConnections());
            json.writeNumberProperty("requests_total", loop.requests());
            json.writeNumberProperty("hits_total", loop.hits());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
