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
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * {@code POST /v1/cache/purge}: purges one URL, a host, a prefix, a cache group, tags, a pattern, or everything.
 * Thread-safe.
 */
public final class PurgeResource implements AdminResource {
    static final String PATH = "/v1/cache/purge";

    private static final List<String> MEMBERS = List.of(
            "url", "prefix", "host", "group", "scope", "tags", "site", "where", "regex", "wildcard", "mode", "count");
    /** JSON members of a request that are options of the purge and not a part of its scope. */
    private static final List<String> OPTIONS = List.of("mode", "count");

    /** The reported state of a purge that is durable and that every event loop applies. */
    private static final String DONE = "done";

    private static final String COUNTING = "counting";

    private static final String NEEDED =
            "one of the members 'url' (an absolute http or https URL), 'prefix' (the same),"
                    + " 'host', 'group' with 'host', 'tags', 'where', 'regex', 'wildcard', and 'scope' with the value 'all'"
                    + " is needed";

    private final PurgeService urls;
    private final InvalidationService scopes;

    /** Creates the resource for two services. */
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
        Scope scope = scope(request.body());
        boolean counts = Boolean.TRUE.equals(Json.member(Json.members(request.body()), "count", Boolean.class));
        if (scope.kind() == Kind.URL && !scope.soft()) {
            String url = String.valueOf(scope.text());
            responder.replyWhen(
                    urls.purge(url, request.caller(), counts), report -> AdminReply.json(json -> write(json, report)));
        } else {
            responder.replyWhen(
                    scopes.invalidate(scope, request.caller(), counts),
                    report -> AdminReply.json(json -> write(json, report)));
        }
    }

    /**
     * Reads the scope of a purge from the body of a request.
     *
     * @throws AdminException if the body contains no scope, or several
     */
    public static Scope scope(byte[] body) throws AdminException {
        Map<String, Object> members = Json.members(body);
        Json.onlyMembers(members, MEMBERS);
        return scope(members, isSoft(Json.member(members, "mode", String.class)));
    }

    private static boolean isSoft(@Nullable String mode) throws AdminException {
        if (mode == null || mode.equals("hard")) {
            return false;
        }
        if (!mode.equals("soft")) {
            throw new AdminException(400, "bad-request", "mode: actual=" + mode + ", expected=hard or soft");
        }
        return true;
    }

    private static Scope scope(Map<String, Object> members, boolean soft) throws AdminException {
        String url = text(members, "url");
        List<String> tags = Json.list(members, "tags");
        String site = text(members, "site");
        long scopeMembers = members.keySet().stream()
                .filter(name -> !OPTIONS.contains(name))
                .count();
        if (url != null && scopeMembers == 1) {
            return new Scope(Kind.URL, null, url, soft);
        }
        if (!tags.isEmpty() && scopeMembers == (site == null ? 1 : 2)) {
            return new Scope(Kind.TAG, null, null, soft, tags, site);
        }
        String pattern =
                PatternForms.expression(text(members, "where"), text(members, "regex"), text(members, "wildcard"));
        if (pattern != null && scopeMembers == 1) {
            return new Scope(Kind.PATTERN, null, pattern, soft);
        }
        if (url != null || members.containsKey("tags") || site != null || pattern != null) {
            throw new AdminException(400, "bad-request", NEEDED);
        }
        String prefix = text(members, "prefix");
        String host = text(members, "host");
        String group = text(members, "group");
        String scopeText = text(members, "scope");
        if ("all".equals(scopeText) && prefix == null && host == null && group == null) {
            return new Scope(Kind.ALL, null, null, soft);
        }
        if (scopeText == null && prefix != null && host == null && group == null) {
            return new Scope(Kind.PREFIX, null, prefix, soft);
        }
        if (scopeText == null && prefix == null && host != null) {
            return group == null ? new Scope(Kind.HOST, host, null, soft) : new Scope(Kind.GROUP, host, group, soft);
        }
        throw new AdminException(400, "bad-request", NEEDED);
    }

    private static @Nullable String text(Map<String, Object> members, String name) throws AdminException {
        String text = Json.member(members, name, String.class);
        if (text != null && text.isEmpty()) {
            throw new AdminException(400, "bad-request", "the member '" + name + "' is empty");
        }
        return text;
    }

    private static void write(JsonGenerator json, PurgeReport report) {
        json.writeStringProperty("scope", "url");
        json.writeStringProperty("target", report.url());
        json.writeStringProperty("url", report.url());
        json.writeBooleanProperty("purged", report.purged());
        json.writeStringProperty("detail", report.detail());
        json.writeStringProperty("id", report.id());
        json.writeStringProperty("state", DONE);
        objects(json, report.objects());
        fleet(json, report.fleet());
    }

    private static void fleet(JsonGenerator json, @Nullable String state) {
        if (state != null) {
            json.writeStringProperty("fleet", state);
        }
    }

    private static void objects(JsonGenerator json, long objects) {
        json.writeName("objects");
        if (objects < 0) {
            json.writeNull();
        } else {
            json.writeNumber(objects);
        }
    }

    private static void write(JsonGenerator json, InvalidationReport report) {
        json.writeStringProperty("scope", report.scope());
        json.writeStringProperty("target", report.target());
        json.writeNumberProperty("stamp", report.stamp());
        json.writeStringProperty("detail", report.detail());
        json.writeStringProperty("id", report.id());
        json.writeStringProperty("state", report.counting() ? COUNTING : DONE);
        objects(json, report.objects());
        fleet(json, report.fleet());
    }
}
