package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigInspector.Entry;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/config/history}: the history of applied configurations, oldest first. Thread-safe. */
public final class ConfigHistoryResource implements AdminResource {
    private final ConfigInspector inspector;

    /** Creates the resource for an inspector. */
    public ConfigHistoryResource(ConfigInspector inspector) {
        this.inspector = inspector;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/config/history";
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        List<Entry> entries = inspector.history();
        responder.reply(AdminReply.json(json -> {
            json.writeArrayPropertyStart("entries");
            entries.forEach(entry -> write(json, entry));
            json.writeEndArray();
        }));
    }

    private static void write(JsonGenerator json, Entry entry) {
        json.writeStartObject();
        json.writeNumberProperty("number", entry.number());
        json.writeStringProperty("at", entry.at());
        json.writeStringProperty("by", entry.by());
        json.writeStringProperty("file", entry.file());
        json.writeBooleanProperty("running", entry.isRunning());
        words(json, "overlay", entry.overlay());
        words(json, "changed", entry.changed());
        json.writeEndObject();
    }

    private static void words(JsonGenerator json, String name, List<String> words) {
        json.writeArrayPropertyStart(name);
        words.forEach(json::writeString);
        json.writeEndArray();
    }
}
