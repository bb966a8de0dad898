package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.cache.InvalidationService.InvalidationReport;
import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.cache.PurgeService.PurgeReport;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * {@code POST /v1/cache/purge}: makes what is stored for one URL unusable, or for a host, what begins as a URL does, a cache group,
 * or everything. Thread-safe.
 */
public final class PurgeResource implements AdminResource {
    static final String PATH = "/v1/cache/purge";

    private static final Set<String> MEMBERS = Set.of("url", "prefix", "host", "group", "scope", "mode");
    private static final String NEEDED =
            "one of the members 'url' (an absolute http or https URL), 'prefix' (the same),"
                    + " 'host', 'group' with 'host', and 'scope' with the value 'all' is needed";

    private final PurgeService urls;
    private final InvalidationService scopes;

    /** The resource over services. */
    public PurgeResource(PurgeService urls, InvalidationService scopes) {
        this.urls = urls;
        this.scopes = scopes;
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
        Map<String, String> members = Json.strings(request.body(), MEMBERS);
        boolean soft = isSoft(members.get("mode"));
        String url = members.get("url");
        if (url == null) {
            Scope scope = scope(members, soft);
            responder.replyWhen(scopes.invalidate(scope), report -> AdminReply.json(json -> write(json, report)));
            return;
        }
        if (url.isEmpty() || members.size() > (members.containsKey("mode") ? 2 : 1)) {
            throw new AdminException(400, "bad-request", NEEDED);
        }
        if (soft) {
            throw new AdminException(
                    400, "bad-request", "a single URL goes for good: 'mode' soft is for host, prefix, group and all");
        }
        responder.replyWhen(urls.purge(url), report -> AdminReply.json(json -> write(json, report)));
    }

    private static boolean isSoft(@Nullable String mode) throws AdminException {
        if (mode == null || mode.equals("hard")) {
            return false;
        }
        if (!mode.equals("soft")) {
            throw new AdminException(400, "bad-request", "the member 'mode' is neither hard nor soft: " + mode);
        }
        return true;
    }

    private static Scope scope(Map<String, String> members, boolean soft) throws AdminException {
        String prefix = text(members, "prefix");
        String host = text(members, "host");
        String group = text(members, "group");
        String all = text(members, "scope");
        if ("all".equals(all) && prefix == null && host == null && group == null) {
            return new Scope(Kind.ALL, null, null, soft);
        }
        if (all == null && prefix != null && host == null && group == null) {
            return new Scope(Kind.PREFIX, null, prefix, soft);
        }
        if (all == null && prefix == null && host != null) {
            return group == null ? new Scope(Kind.HOST, host, null, soft) : new Scope(Kind.GROUP, host, group, soft);
        }
        throw new AdminException(400, "bad-request", NEEDED);
    }

    private static @Nullable String text(Map<String, String> members, String name) throws AdminException {
        String text = members.get(name);
        if (text != null && text.isEmpty()) {
            throw new AdminException(400, "bad-request", "the member '" + name + "' is empty");
        }
        return text;
    }

    private static void write(JsonGenerator json, PurgeReport report) {
        json.writeStringProperty("url", report.url());
        json.writeBooleanProperty("purged", report.purged());
        json.writeStringProperty("detail", report.detail());
    }

    private static void write(JsonGenerator json, InvalidationReport report) {
        json.writeStringProperty("scope", report.scope());
        json.writeStringProperty("target", report.target());
        json.writeNumberProperty("stamp", report.stamp());
        json.writeStringProperty("detail", report.detail());
    }
}
