package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.config.yaml.ConfigSchema;
import java.nio.charset.StandardCharsets;

/** {@code GET /v1/config/schema}: the JSON Schema of the configuration file. Thread-safe. */
public final class ConfigSchemaResource implements AdminResource {
    /** Creates the resource; the schema is the same for every configuration. */
    public ConfigSchemaResource() {}

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/config/schema";
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        responder.reply(new AdminReply(200, AdminReply.JSON, ConfigSchema.json().getBytes(StandardCharsets.UTF_8)));
    }
}
