package io.millrace.proxy.admin.origin;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /v1/hosts} and {@code POST /v1/hosts/clear}: origins that are single hosts (not in a group), and cached
 * host names. Thread-safe.
 */
public final class HostsResource implements AdminResource {
    private static final String PATH = "/v1/hosts";

    private final HostControl control;
    private final boolean clears;

    private HostsResource(HostControl control, boolean clears) {
        this.control = control;
        this.clears = clears;
    }

    /** Creates {@code GET /v1/hosts}. */
    public static HostsResource report(HostControl control) {
        return new HostsResource(control, false);
    }

    /** Creates {@code POST /v1/hosts/clear}. */
    public static HostsResource clear(HostControl control) {
        return new HostsResource(control, true);
    }

    @Override
    public String method() {
        return clears ? "POST" : "GET";
    }

    @Override
    public String path() {
        return clears ? PATH + "/clear" : PATH;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        if (clears) {
            String host = Json.strings(request.body(), Set.of("host")).get("host");
            responder.replyWhen(
                    control.clear(hostOf(host)),
                    done -> AdminReply.json(json -> {
                        json.writeNumberProperty("origins", done.origins());
                        json.writeNumberProperty("names", done.names());
                    }));
            return;
        }
        responder.replyWhen(
                control.report(hostOf(request.optionalParameter("host"))),
                report -> AdminReply.json(json -> write(json, report)));
    }

    /**
     * Returns the host in the form that the table of hosts uses: in lower case, an IPv6 address without brackets; null
     * for all.
     */
    private static @Nullable String hostOf(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return null;
        }
        boolean isBracketed = text.startsWith("[") && text.endsWith("]");
        return (isBracketed ? text.substring(1, text.length() - 1) : text).toLowerCase(Locale.ROOT);
    }

    private static void write(JsonGenerator json, HostControl.Report report) {
        json.writeNumberProperty("now", report.now());
        json.writeArrayPropertyStart("origins");
        for (HostControl.Origin origin : report.origins()) {
            json.writeStartObject();
            json.writeStringProperty("origin", origin.origin());
            json.writeStringProperty("host", origin.host());
            json.writeStringProperty("state", origin.down() ? "down" : "up");
            json.writeNumberProperty("since", origin.since());
            json.writeNumberProperty("until", origin.until());
            json.writeStringProperty("reason", origin.reason());
            json.writeNumberProperty("failures_in_a_row", origin.failuresInARow());
            json.writeStringProperty("http_version", origin.httpVersion());
            json.writeNumberProperty("last_success", origin.lastSuccess());
            json.writeNumberProperty("last_failure", origin.lastFailure());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayPropertyStart("names");
        for (HostControl.Name name : report.names()) {
            json.writeStartObject();
            json.writeStringProperty("name", name.name());
            json.writeNumberProperty("expires", name.expires());
            json.writeStringProperty("problem", name.problem());
            json.writeArrayPropertyStart("addresses");
            for (HostControl.Address address : name.addresses()) {
                json.writeStartObject();
                json.writeStringProperty("address", address.address());
                json.writeNumberProperty("until", address.until());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberProperty("left_out", report.leftOut());
    }
}
