package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.status.ServerSource.ThreadReport;
import io.millrace.proxy.admin.status.ServerSource.ThreadView;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /v1/server/threads[?depth=N]}: the threads of the serving process with their stacks. The member
 * {@code left} is the number of threads that are not listed. Thread-safe.
 */
public final class ThreadsResource implements AdminResource {
    private static final int DEPTH_MAX = 64;
    private static final int DEPTH_DEFAULT = 8;

    private final ServerSource source;

    /** Creates the resource for a source. */
    public ThreadsResource(ServerSource source) {
        this.source = source;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/server/threads";
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        ThreadReport report = source.threads(depth(request.optionalParameter("depth")));
        responder.reply(AdminReply.json(json -> write(json, report)));
    }

    private static int depth(@Nullable String text) throws AdminException {
        if (text == null) {
            return DEPTH_DEFAULT;
        }
        try {
            int depth = Integer.parseInt(text);
            if (depth >= 0 && depth <= DEPTH_MAX) {
                return depth;
            }
        } catch (NumberFormatException e) {
            // The code below reports the invalid value.
        }
        throw new AdminException(400, "bad-request", "depth: '" + text + "' is not a number from 0 to " + DEPTH_MAX);
    }

    private static void write(JsonGenerator json, ThreadReport report) {
        json.writeArrayPropertyStart("threads");
        for (ThreadView thread : report.threads()) {
            json.writeStartObject();
            json.writeStringProperty("name", thread.name());
            json.writeStringProperty("state", thread.state());
            json.writeNumberProperty("cpu_millis", thread.cpuMillis());
            json.writeArrayPropertyStart("stack");
            thread.stack().forEach(json::writeString);
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberProperty("left", report.notListed());
    }
}
