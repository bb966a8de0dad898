package io.millrace.proxy.admin.log;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.expression.logged.LoggedFields;
import io.millrace.proxy.observe.log.live.RecordJson;
import java.util.Map;

/** {@code GET /v1/log/fields}: the fields of conditions and the members of records, with descriptions. Stateless. */
public final class LogFieldsResource implements AdminResource {
    public static final String PATH = "/v1/log/fields";

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
        responder.reply(AdminReply.json(json -> {
            json.writeArrayPropertyStart("fields");
            for (Field<LoggedFacts> field : LoggedFields.SCHEMA.fields()) {
                json.writeStartObject();
                json.writeStringProperty("name", field.name());
                json.writeStringProperty("type", field.type().text());
                json.writeStringProperty("description", field.description());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayPropertyStart("members");
            for (Map.Entry<String, String> member :
                    RecordJson.describedMembers().entrySet()) {
                json.writeStartObject();
                json.writeStringProperty("name", member.getKey());
                json.writeStringProperty("description", member.getValue());
                json.writeEndObject();
            }
            json.writeEndArray();
        }));
    }
}
