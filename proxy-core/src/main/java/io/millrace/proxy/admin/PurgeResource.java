package io.millrace.proxy.admin;

import io.millrace.proxy.admin.PurgeService.PurgeReport;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/** {@code POST /v1/cache/purge}: makes what is stored for one URL unusable. Thread-safe. */
public final class PurgeResource implements AdminResource {
    static final String PATH = "/v1/cache/purge";

    private final PurgeService service;

    /** The resource over a service. */
    public PurgeResource(PurgeService service) {
        this.service = service;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return PATH;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String url = Json.strings(request.body(), Set.of("url")).get("url");
        if (url == null || url.isEmpty()) {
            throw new AdminException(400, "bad-request", "the member 'url' is needed: an absolute http or https URL");
        }
        responder.replyWhen(service.purge(url), report -> AdminReply.json(json -> write(json, report)));
    }

    private static void write(JsonGenerator json, PurgeReport report) {
        json.writeStringProperty("url", report.url());
        json.writeBooleanProperty("purged", report.purged());
        json.writeStringProperty("detail", report.detail());
    }
}
