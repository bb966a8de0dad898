package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.cache.StorageControl.Volume;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/storage}: the storage paths and their state. Thread-safe. */
public final class StorageResource implements AdminResource {
    static final String PATH = "/v1/storage";

    private final StorageControl control;

    /** Creates the resource for a store's volumes. */
    public StorageResource(StorageControl control) {
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
        List<Volume> volumes = control.volumes();
        responder.reply(AdminReply.json(json -> write(json, volumes)));
    }

    static void write(JsonGenerator json, List<Volume> volumes) {
        json.writeArrayPropertyStart("volumes");
        for (Volume volume : volumes) {
            json.writeStartObject();
            json.writeStringProperty("path", volume.path());
            json.writeStringProperty("volume", volume.volume());
            json.writeNumberProperty("placement", volume.placement());
            json.writeStringProperty("state", volume.state());
            json.writeNumberProperty("bytes", volume.bytes());
            json.writeNumberProperty("bytes_max", volume.bytesMax());
            json.writeNumberProperty("entries", volume.entries());
            json.writeNumberProperty("pinned_segments", volume.pinnedSegments());
            json.writeNumberProperty("queued_bytes", volume.queuedBytes());
            json.writeNumberProperty("written_bytes", volume.writtenBytes());
            json.writeNumberProperty("carried_bytes", volume.carriedBytes());
            json.writeNumberProperty("reclaimed_segments", volume.reclaimedSegments());
            json.writeNumberProperty("refused", volume.refused());
            json.writeNumberProperty("pinned_bytes", volume.pinnedBytes());
            json.writeNumberProperty("pins_broken", volume.pinsBroken());
            json.writeNumberProperty("index_evictions", volume.indexEvictions());
            json.writeNumberProperty("errors", volume.errors());
            json.writeStringProperty("last_error", volume.lastError());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
