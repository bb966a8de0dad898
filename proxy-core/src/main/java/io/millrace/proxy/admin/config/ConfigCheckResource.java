package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigControl.CheckReport;
import io.millrace.proxy.admin.config.ConfigControl.Problem;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.resource.NamedFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** {@code POST /v1/config/check}: validates a configuration file without using it. Thread-safe. */
public final class ConfigCheckResource implements AdminResource {
    private final ConfigControl control;
    private final @Nullable Path configuration;

    /**
     * Creates the resource for a control.
     *
     * @param configuration the configuration file in use; TCP requests may name only files below its directory. Null
     *     for none
     */
    public ConfigCheckResource(ConfigControl control, @Nullable Path configuration) {
        this.control = control;
        this.configuration = configuration;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return "/v1/config/check";
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String name = Json.strings(request.body(), Set.of("file")).get("file");
        CheckReport report = control.check(NamedFile.of(request, name, configuration));
        responder.reply(AdminReply.json(json -> {
            json.writeBooleanProperty("ok", report.ok());
            write(json, report.problems());
        }));
    }

    static void write(JsonGenerator json, List<Problem> problems) {
        json.writeArrayPropertyStart("problems");
        for (Problem problem : problems) {
            json.writeStartObject();
            json.writeStringProperty("file", problem.file());
            json.writeNumberProperty("line", problem.line());
            json.writeNumberProperty("column", problem.column());
            json.writeStringProperty("path", problem.path());
            json.writeStringProperty("message", problem.message());
            json.writeStringProperty("suggestion", problem.suggestion());
            json.writeStringProperty("text", problem.text());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
