package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.cache.LookupSource.Field;
import io.millrace.proxy.admin.cache.LookupSource.LookupReport;
import io.millrace.proxy.admin.cache.LookupSource.Stored;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /v1/cache/lookup?url=U[&header=Name:%20value]}: the stored response of a URL, and why it would be served
 * or not. Thread-safe.
 */
public final class LookupResource implements AdminResource {
    static final String PATH = "/v1/cache/lookup";

    private final LookupSource source;

    /** Creates the resource for a source. */
    public LookupResource(LookupSource source) {
        this.source = source;
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
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String url = request.parameter("url");
        List<Field> fields = HeaderFields.of(request.parameters("header"));
        responder.replyWhen(source.lookup(url, fields), report -> AdminReply.json(json -> write(json, report)));
    }

    private static void write(JsonGenerator json, LookupReport report) {
        Stored stored = report.stored();
        json.writeStringProperty("url", report.url());
        json.writeStringProperty("key", report.key());
        json.writeStringProperty("rule", report.rule());
        json.writeBooleanProperty("stored", stored != null);
        if (stored != null) {
            write(json, stored);
        }
        json.writeStringProperty("reason", report.reason());
        // The results for other cache keys of the same URL.
        if (!report.others().isEmpty()) {
            json.writeArrayPropertyStart("others");
            for (LookupReport other : report.others()) {
                json.writeStartObject();
                write(json, other);
                json.writeEndObject();
            }
            json.writeEndArray();
        }
    }

    private static void write(JsonGenerator json, Stored stored) {
        json.writeStringProperty("tier", stored.tier());
        json.writeNumberProperty("status", stored.status());
        json.writeBooleanProperty("fresh", stored.fresh());
        json.writeNumberProperty("age_seconds", stored.ageSeconds());
        json.writeNumberProperty("freshness_lifetime_seconds", stored.freshnessLifetimeSeconds());
        json.writeNumberProperty("ttl_seconds", stored.freshnessLifetimeSeconds() - stored.ageSeconds());
        json.writeNumberProperty("length", stored.length());
        json.writeArrayPropertyStart("vary");
        for (String name : stored.vary()) {
            json.writeString(name);
        }
        json.writeEndArray();
        json.writeStringProperty("etag", stored.etag());
        json.writeStringProperty("last_modified", stored.lastModified());
        Json.strings(json, "tags", stored.tags());
    }
}
