package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigInspector.DiffReport;
import io.millrace.proxy.admin.config.ConfigInspector.Difference;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /v1/config/diff}: the differences between two configurations. Without parameters, it compares the defaults
 * with the configuration in use. The parameters {@code from} and {@code to} select two entries of the history.
 * Thread-safe.
 */
public final class ConfigDiffResource implements AdminResource {
    private final ConfigInspector inspector;

    /** Creates the resource for an inspector. */
    public ConfigDiffResource(ConfigInspector inspector) {
        this.inspector = inspector;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/config/diff";
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        boolean entries = !request.parameters("from").isEmpty()
                || !request.parameters("to").isEmpty();
        DiffReport report = entries ? inspector.diff(entry(request, "from"), entry(request, "to")) : inspector.diff();
        responder.reply(AdminReply.json(json -> {
            write(json, "differences", report.differences());
            write(json, "pending", report.pending());
            json.writeArrayPropertyStart("notes");
            report.notes().forEach(json::writeString);
            json.writeEndArray();
        }));
    }

    private static int entry(AdminRequest request, String name) throws AdminException {
        try {
            return Integer.parseInt(request.parameter(name));
        } catch (NumberFormatException e) {
            throw new AdminException(
                    400,
                    "bad-request",
                    "the query parameter '" + name + "' must be the number of an entry of the history");
        }
    }

    private static void write(JsonGenerator json, String name, List<Difference> differences) {
        json.writeArrayPropertyStart(name);
        for (Difference difference : differences) {
            json.writeStartObject();
            json.writeStringProperty("key", difference.key());
            json.writeStringProperty("before", difference.before());
            json.writeStringProperty("after", difference.after());
            json.writeStringProperty("source", ConfigSettingsResource.word(difference.source()));
            json.writeStringProperty("place", difference.place());
            Json.strings(json, "variables", difference.variables());
            json.writeStringProperty("change", difference.change().word());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
