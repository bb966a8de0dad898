package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.status.MemorySource.MemoryReport;
import io.millrace.proxy.admin.status.MemorySource.Part;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/memory}: use of the process's memory. Thread-safe. */
public final class MemoryResource implements AdminResource {
    private final MemorySource source;

    /** Creates the resource for a source. */
    public MemoryResource(MemorySource source) {
        this.source = source;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/memory";
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        MemoryReport report = source.memory();
        responder.reply(AdminReply.json(json -> write(json, report)));
    }

    private static void write(JsonGenerator json, MemoryReport report) {
        json.writeNumberProperty("anonymous_bytes", report.anonymousBytes());
        json.writeNumberProperty("accounted_bytes", report.accountedBytes());
        json.writeNumberProperty("store_bytes", report.storeBytes());
        json.writeNumberProperty("store_bytes_max", report.storeBytesMax());
        write(json, "parts", report.parts());
        write(json, "mapped", report.mapped());
        json.writeNumberProperty("refused_fills", report.refusedFills());
        json.writeNumberProperty("refused_reads", report.refusedReads());
        json.writeNumberProperty("in_flight_bytes", report.inFlight().bytes());
        json.writeNumberProperty("in_flight_bytes_max", report.inFlight().bytesMax());
        json.writeNumberProperty("slow_clients_closed", report.inFlight().slowClientsClosed());
        json.writeNumberProperty("refused_fetches", report.inFlight().refusedFetches());
    }

    private static void write(JsonGenerator json, String name, List<Part> parts) {
        json.writeArrayPropertyStart(name);
        for (Part part : parts) {
            json.writeStartObject();
            json.writeStringProperty("name", part.name());
            json.writeNumberProperty("bytes", part.bytes());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
