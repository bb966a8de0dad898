package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Setting;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.time.Duration;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/**
 * {@code POST /v1/config/reload}: reads the configuration again and replies with the outcome per setting. Thread-safe.
 */
public final class ConfigReloadResource implements AdminResource {
    private final ConfigControl control;

    /** Creates the resource for a control. */
    public ConfigReloadResource(ConfigControl control) {
        this.control = control;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return "/v1/config/reload";
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public Duration timeout() {
        return ConfigChangeResource.TIMEOUT;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Json.strings(request.body(), Set.of());
        responder.replyWhen(control.reload(request.caller()), report -> AdminReply.json(json -> write(json, report)));
    }

    static void write(JsonGenerator json, ReloadReport report) {
        json.writeBooleanProperty("ok", report.ok());
        json.writeArrayPropertyStart("settings");
        for (Setting setting : report.settings()) {
            json.writeStartObject();
            json.writeStringProperty("key", setting.key());
            json.writeStringProperty("result", setting.result().word());
            json.writeStringProperty("detail", setting.detail());
            json.writeEndObject();
        }
        json.writeEndArray();
        ConfigCheckResource.write(json, report.problems());
        json.writeArrayPropertyStart("notes");
        report.notes().forEach(json::writeString);
        json.writeEndArray();
    }
}
