package io.millrace.proxy.admin.origin;

import io.millrace.proxy.admin.origin.OriginControl.EmptyGroup;
import io.millrace.proxy.admin.origin.OriginControl.Host;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/origins}: the hosts of all groups of origins and their state, and the empty groups. Thread-safe. */
public final class OriginsResource implements AdminResource {
    static final String PATH = "/v1/origins";

    private final OriginControl control;

    /** Creates the resource for a proxy's groups. */
    public OriginsResource(OriginControl control) {
        this.control = control;
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
        List<Host> hosts = control.hosts();
        List<EmptyGroup> empty = control.emptyGroups();
        responder.reply(AdminReply.json(json -> write(json, control.nowSeconds(), hosts, empty)));
    }

    static void write(JsonGenerator json, long nowSeconds, List<Host> hosts, List<EmptyGroup> empty) {
        json.writeNumberProperty("now", nowSeconds);
        json.writeArrayPropertyStart("hosts");
        for (Host host : hosts) {
            json.writeStartObject();
            json.writeStringProperty("group", host.group());
            json.writeStringProperty("policy", host.policy());
            json.writeStringProperty("host", host.host());
            json.writeNumberProperty("weight", host.weight());
            json.writeBooleanProperty("backup", host.backup());
            json.writeBooleanProperty("self", host.self());
            json.writeStringProperty("state", host.state());
            json.writeNumberProperty("since", host.since());
            json.writeNumberProperty("until", host.until());
            json.writeStringProperty("reason", host.reason());
            json.writeNumberProperty("failures_in_a_row", host.failuresInARow());
            json.writeNumberProperty("under_way", host.underWay());
            json.writeNumberProperty("requests", host.requests());
            json.writeNumberProperty("failures", host.failures());
            json.writeNumberProperty("earlier_requests", host.earlierRequests());
            json.writeNumberProperty("earlier_failures", host.earlierFailures());
            json.writeStringProperty("http_version", host.httpVersion());
            json.writeNumberProperty("last_success", host.lastSuccess());
            json.writeNumberProperty("last_failure", host.lastFailure());
            json.writeNumberProperty("latency_us", host.latencyMicros());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayPropertyStart("empty");
        for (EmptyGroup group : empty) {
            json.writeStartObject();
            json.writeStringProperty("group", group.group());
            json.writeStringProperty("policy", group.policy());
            json.writeStringProperty("tier", group.tier());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
