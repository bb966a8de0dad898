package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.cache.ListSource.HostCount;
import io.millrace.proxy.admin.cache.ListSource.ListQuery;
import io.millrace.proxy.admin.cache.ListSource.ListReport;
import io.millrace.proxy.admin.cache.ListSource.Listed;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/cache/list}: a page of the objects on disk, or their number by host. Thread-safe. */
public final class ListResource implements AdminResource {
    static final String PATH = "/v1/cache/list";

    /** Limit of objects on a page. */
    static final int LIMIT_MAX = 1000;

    private static final int LIMIT_DEFAULT = 100;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final ListSource source;

    /** Creates the resource for a source. */
    public ListResource(ListSource source) {
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

    /** The time limit is long, because a search through millions of objects takes time. */
    @Override
    public Duration timeout() {
        return TIMEOUT;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String count = request.optionalParameter("count");
        if (count != null && !count.equals("host")) {
            throw new AdminException(400, "bad-request", "count: actual=" + count + ", expected=host");
        }
        ListQuery query = new ListQuery(
                request.optionalParameter("prefix"),
                request.optionalParameter("regex"),
                request.optionalParameter("host"),
                request.optionalParameter("site"),
                request.optionalParameter("where"),
                limit(request.optionalParameter("limit")),
                request.optionalParameter("after"),
                count != null);
        responder.replyWhen(source.list(query), report -> AdminReply.json(json -> write(json, report)));
    }

    private static int limit(@Nullable String text) throws AdminException {
        if (text == null) {
            return LIMIT_DEFAULT;
        }
        try {
            int limit = Integer.parseInt(text);
            if (limit >= 1 && limit <= LIMIT_MAX) {
                return limit;
            }
        } catch (NumberFormatException e) {
            throw badLimit(text);
        }
        throw badLimit(text);
    }

    private static AdminException badLimit(String text) {
        return new AdminException(
                400, "bad-request", "limit: actual=" + text + ", expected a number from 1 to " + LIMIT_MAX);
    }

    private static void write(JsonGenerator json, ListReport report) {
        json.writeArrayPropertyStart("objects");
        for (Listed object : report.objects()) {
            json.writeStartObject();
            write(json, object);
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayPropertyStart("hosts");
        for (HostCount host : report.hosts()) {
            json.writeStartObject();
            json.writeStringProperty("host", host.host());
            json.writeNumberProperty("objects", host.objects());
            json.writeNumberProperty("bytes", host.bytes());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeStringProperty("next", report.next());
        json.writeBooleanProperty("complete", report.complete());
        json.writeStringProperty("reason", report.reason());
    }

    private static void write(JsonGenerator json, Listed object) {
        json.writeStringProperty("url", object.url());
        json.writeStringProperty("variant", object.variant());
        json.writeNumberProperty("status", object.status());
        json.writeStringProperty("type", object.type());
        json.writeNumberProperty("length", object.length());
        json.writeBooleanProperty("whole", object.whole());
        json.writeNumberProperty("stored_at", object.storedAt());
        json.writeNumberProperty("kept_until", object.keptUntil());
        json.writeArrayPropertyStart("tags");
        for (String tag : object.tags()) {
            json.writeString(tag);
        }
        json.writeEndArray();
        json.writeStringProperty("volume", object.volume());
        json.writeNumberProperty("segment", object.segment());
        json.writeNumberProperty("offset", object.offset());
        json.writeStringProperty("key", object.key());
    }
}
