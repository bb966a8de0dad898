package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.status.ExtensionsSource.ExtensionStatus;
import io.millrace.proxy.admin.status.ExtensionsSource.HookStatus;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/extensions}: the extensions, with their calls and failures. Thread-safe. */
public final class ExtensionsResource implements AdminResource {
    /** The path of the resource. */
    public static final String PATH = "/v1/extensions";

    private final ExtensionsSource source;
    private final LongSupplier millis;

    /**
     * Creates the resource for a source.
     *
     * @param millis the wall clock, in epoch milliseconds
     */
    public ExtensionsResource(ExtensionsSource source, LongSupplier millis) {
        this.source = source;
        this.millis = millis;
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
        List<ExtensionStatus> extensions = source.extensions();
        responder.reply(AdminReply.json(json -> {
            json.writeNumberProperty("now", TimeUnit.MILLISECONDS.toSeconds(millis.getAsLong()));
            json.writeArrayPropertyStart("extensions");
            extensions.forEach(each -> write(json, each));
            json.writeEndArray();
        }));
    }

    private static void write(JsonGenerator json, ExtensionStatus extension) {
        json.writeStartObject();
        json.writeStringProperty("name", extension.name());
        json.writeStringProperty("version", extension.version());
        json.writeStringProperty("note", extension.note());
        json.writeStringProperty("jar", extension.jar());
        json.writeStringProperty("sha256", extension.sha256());
        json.writeStringProperty("class", extension.className());
        json.writeStringProperty("state", extension.state());
        json.writeNumberProperty(
                "calls", extension.hooks().stream().mapToLong(HookStatus::calls).sum());
        json.writeNumberProperty(
                "failures",
                extension.hooks().stream().mapToLong(HookStatus::failures).sum());
        json.writeStringProperty("last_failure", extension.lastFailure());
        json.writeNumberProperty("last_failure_time", extension.lastFailureSeconds());
        json.writeArrayPropertyStart("hooks");
        for (HookStatus hook : extension.hooks()) {
            json.writeStartObject();
            json.writeStringProperty("name", hook.name());
            json.writeNumberProperty("calls", hook.calls());
            json.writeNumberProperty("failures", hook.failures());
            json.writeNumberProperty("nanos", hook.nanos());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
