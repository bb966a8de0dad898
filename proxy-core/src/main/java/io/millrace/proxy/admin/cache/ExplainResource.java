package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.cache.ExplainSource.Explanation;
import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET
 * /v1/explain?url=U[&method=M][&header=Name:%20value][&client=ADDRESS][&port=N][&to_proxy=true][&http2=true]}: explains
 * how the proxy would answer a request. Thread-safe.
 */
public final class ExplainResource implements AdminResource {
    private static final int PORT_MAX = 65_535;

    private final ExplainSource source;

    /** Creates the resource for a source. */
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
        String method = request.optionalParameter("method");
        Question question = new Question(
                request.parameter("url"),
                method == null ? "GET" : method,
                HeaderFields.of(request.parameters("header")),
                request.optionalParameter("client"),
                port(request.optionalParameter("port")),
                isTrue("to_proxy", request.optionalParameter("to_proxy")),
                isTrue("http2", request.optionalParameter("http2")));
        responder.replyWhen(source.explain(question), explained -> AdminReply.json(json -> write(json, explained)));
    }

    private static boolean isTrue(String name, @Nullable String text) throws AdminException {
        if (text == null || text.equals("true") || text.equals("false")) {
            return "true".equals(text);
        }
        throw new AdminException(400, "bad-request", name + ": actual=" + text + ", expected=true or false");
    }

    private static int port(@Nullable String text) throws AdminException {
        if (text == null) {
            return 0;
        }
        try {
            int port = Integer.parseInt(text);
            if (port > 0 && port <= PORT_MAX) {
                return port;
            }
        } catch (NumberFormatException e) {
            // The code below reports the invalid value.
        }
        throw new AdminException(400, "bad-request", "not a port from 1 to " + PORT_MAX + ": " + text);
    }

    private static void write(JsonGenerator json, Explanation explained) {
        json.writeStringProperty("url", explained.url());
        json.writeStringProperty("method", explained.method());
        json.writeStringProperty("client", explained.client());
        json.writeNumberProperty("port", explained.port());
        json.writeStringProperty("outcome", explained.outcome());
        json.writeNumberProperty("status", explained.status());
        json.writeStringProperty("rule", explained.rule());
        json.writeStringProperty("filter", explained.denial());
        json.writeStringProperty("key", explained.key());
        json.writeStringProperty("tier", explained.tier());
        json.writeStringProperty("origin_url", explained.originUrl());
        json.writeStringProperty("origin_group", explained.originGroup());
        json.writeStringProperty("origin_host", explained.originHost());
        json.writeBooleanProperty("collapsed", explained.collapsed());
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
