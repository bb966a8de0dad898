package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigInspector.KeyValue;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.config.key.ConfigKey;
import java.util.Locale;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/config}: keys with their descriptions and values. Thread-safe. */
public final class ConfigSettingsResource implements AdminResource {
    private final ConfigInspector inspector;

    /** Creates the resource for an inspector. */
    public ConfigSettingsResource(ConfigInspector inspector) {
        this.inspector = inspector;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/config";
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        var settings = inspector.settings(request.parameters("key"));
        responder.reply(AdminReply.json(json -> {
            json.writeArrayPropertyStart("settings");
            settings.forEach(setting -> write(json, setting));
            json.writeEndArray();
        }));
    }

    private static void write(JsonGenerator json, KeyValue setting) {
        ConfigKey<?> key = setting.key();
        json.writeStartObject();
        json.writeStringProperty("key", key.path());
        json.writeStringProperty("value", setting.value());
        json.writeStringProperty("source", word(setting.source()));
        json.writeStringProperty("place", setting.place());
        Json.strings(json, "variables", setting.variables());
        json.writeStringProperty("under", setting.under());
        json.writeStringProperty("in_use", setting.inUse());
        json.writeStringProperty("default", key.defaultText());
        json.writeStringProperty("type", key.type().name());
        json.writeStringProperty("takes", key.type().unit());
        json.writeStringProperty("min", key.minText());
        json.writeStringProperty("max", key.maxText());
        json.writeBooleanProperty("or_zero", key.allowsZero());
        json.writeBooleanProperty("required", key.isRequired());
        json.writeStringProperty("change", key.apply().word());
        json.writeBooleanProperty("per_rule", key.isPerRule());
        json.writeStringProperty("sentence", key.description());
        json.writeStringProperty("traffic_server", key.trafficServerName());
        json.writeEndObject();
    }

    static String word(ConfigInspector.Source source) {
        return source.name().toLowerCase(Locale.ROOT);
    }
}
