package io.millrace.proxy.admin;

import io.millrace.proxy.admin.ExplainSource.Explanation;
import io.millrace.proxy.admin.ExplainSource.Question;
import io.millrace.proxy.admin.ExplainSource.Step;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /v1/explain?url=U[&method=M][&header=Name:%20value][&client=ADDRESS][&port=N][&to_proxy=true]}: what would become of a
 * request, and why. Thread-safe.
 */
public final class ExplainResource implements AdminResource {
    private static final int PORT_MAX = 65_535;

    private final ExplainSource source;

    /** The resource over a source. */
    public ExplainResource(ExplainSource source) {
        this.source = source;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/explain";
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String client = optional(request, "client");
        Question question = new Question(
                request.parameter("url"),
                optional(request, "method").isEmpty() ? "GET" : optional(request, "method"),
                HeaderFields.of(request.parameters("header")),
                client.isEmpty() ? null : client,
                port(optional(request, "port")),
                optional(request, "to_proxy").equals("true"));
        responder.replyWhen(source.explain(question), explained -> AdminReply.json(json -> write(json, explained)));
    }

    private static String optional(AdminRequest request, String name) throws AdminException {
        List<String> values = request.parameters(name);
        if (values.size() > 1) {
            throw new AdminException(400, "bad-request", "the query parameter '" + name + "' stands there twice");
        }
        return values.isEmpty() ? "" : values.get(0);
    }

    private static int port(String text) throws AdminException {
        if (text.isEmpty()) {
            return 0;
        }
        try {
            int port = Integer.parseInt(text);
            if (port > 0 && port <= PORT_MAX) {
                return port;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new AdminException(400, "bad-request", "not a port, 1 to " + PORT_MAX + ": " + text);
    }

    private static void write(JsonGenerator json, Explanation explained) {
        json.writeStringProperty("url", explained.url());
        json.writeStringProperty("method", explained.method());
        json.writeStringProperty("client", explained.client());
        json.writeNumberProperty("port", explained.port());
        json.writeStringProperty("outcome", explained.outcome());
        json.writeNumberProperty("status", explained.status());
        json.writeStringProperty("rule", explained.rule());
        json.writeStringProperty("filter", explained.filter());
        json.writeStringProperty("key", explained.key());
        json.writeStringProperty("tier", explained.tier());
        json.writeStringProperty("origin_url", explained.originUrl());
        json.writeStringProperty("origin_group", explained.originGroup());
        json.writeStringProperty("origin_host", explained.originHost());
        json.writeArrayPropertyStart("steps");
        for (Step step : explained.steps()) {
            json.writeStartObject();
            json.writeStringProperty("step", step.name());
            json.writeStringProperty("text", step.text());
            json.writeStringProperty("by", step.by());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
