package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.observe.host.HostFigures;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/traffic}: figures of the hosts with the most requests. Thread-safe. */
public final class TrafficResource implements AdminResource {
    public static final String PATH = "/v1/traffic";

    private final Supplier<HostFigures.Report> source;

    /** @param source thread-safe */
    public TrafficResource(Supplier<HostFigures.Report> source) {
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
        HostFigures.Report report = source.get();
        if (report.hostsMax() == 0) {
            throw new AdminException(
                    409, "hosts-off", "requests are not counted by host: admin.hosts is 0; set it to 20, for example");
        }
        responder.reply(AdminReply.json(json -> {
            json.writeNumberProperty("limit", report.hostsMax());
            json.writeArrayPropertyStart("hosts");
            for (HostFigures.Row host : report.hosts()) {
                json.writeStartObject();
                json.writeStringProperty("host", host.host());
                writeFigures(json, host);
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeObjectPropertyStart("other");
            writeFigures(json, report.other());
            json.writeEndObject();
        }));
    }

    private static void writeFigures(JsonGenerator json, HostFigures.Row host) {
        json.writeNumberProperty("requests", host.requests());
        json.writeNumberProperty("hits", host.hits());
        json.writeNumberProperty("misses", host.misses());
        json.writeNumberProperty("errors", host.errors());
        json.writeNumberProperty("sent_bytes", host.sentBytes());
    }
}
