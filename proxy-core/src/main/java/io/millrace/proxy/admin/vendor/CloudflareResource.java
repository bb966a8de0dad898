package io.millrace.proxy.admin.vendor;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.resource.PathTemplate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Purge requests in the format of Cloudflare's API. That API has hard purges only; here, the field Fastly-Soft-Purge of
 * Fastly's API makes the purges soft. The identifier of the zone is the name of a site ({@code remap[].site}).
 * Thread-safe.
 */
public final class CloudflareResource implements AdminResource {
    public static final String PATH = "/zones/{id}/purge_cache";

    /** The path for clients that add the path of Cloudflare's base URL, {@code /client/v4}. */
    public static final String LONG_PATH = "/client/v4/zones/{id}/purge_cache";

    private static final String EVERYTHING = "purge_everything";

    private static final List<String> MEMBERS = List.of("files", "tags", "hosts", "prefixes", EVERYTHING);

    private final String path;
    private final PathTemplate template;
    private final VendorPurges purges;

    private CloudflareResource(String path, VendorPurges purges) {
        this.path = path;
        this.template = new PathTemplate(path);
        this.purges = purges;
    }

    /** Creates the resources for both paths. */
    public static List<AdminResource> all(VendorPurges purges) {
        return List.of(new CloudflareResource(PATH, purges), new CloudflareResource(LONG_PATH, purges));
    }

    /**
     * The body of a request. Immutable.
     *
     * @param member its only member
     * @param values the elements of its list
     */
    private record RequestedPurge(String member, List<String> values) {}

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return path;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        List<String> segments = template.values(request.target());
        if (segments == null) {
            throw new AdminException(404, "not-found", "there is no resource " + request.path());
        }
        String site = purges.site(segments.get(0), "zone");
        List<Scope> scopes = scopes(requested(request.body()), site, VendorPurges.isSoft(request));
        responder.replyWhen(
                purges.purge(scopes, request.caller()),
                ids -> AdminReply.json(json -> {
                    json.writeBooleanProperty("success", true);
                    Json.strings(json, "errors", List.of());
                    Json.strings(json, "messages", List.of());
                    json.writeObjectPropertyStart("result");
                    // Clients of Cloudflare's API expect one string in "id". All identifiers are in "purges".
                    json.writeStringProperty("id", ids.get(0));
                    Json.strings(json, "purges", ids);
                    json.writeEndObject();
                }));
    }

    private List<Scope> scopes(RequestedPurge requested, String site, boolean soft) throws AdminException {
        if (requested.member().equals(EVERYTHING)) {
            return purges.everything(site, soft);
        }
        List<Scope> scopes = new ArrayList<>();
        for (String value : requested.values()) {
            scopes.add(scope(requested.member(), value, site, soft));
        }
        return scopes;
    }

    private Scope scope(String member, String value, String site, boolean soft) throws AdminException {
        switch (member) {
            case "files" -> {
                purges.checkSite(value, site, false);
                return new Scope(Kind.URL, null, value, soft);
            }
            case "hosts" -> {
                purges.checkSite("http://" + value + "/", site, true);
                return new Scope(Kind.HOST, value, null, soft);
            }
            case "prefixes" -> {
                String url = value.contains("://") ? value : "http://" + value;
                purges.checkSite(url, site, true);
                return new Scope(Kind.PREFIX, null, url, soft);
            }
            case "tags" -> {
                return VendorPurges.tag(value, site, soft);
            }
            default -> throw new IllegalStateException("unknown member: " + member);
        }
    }

    private static RequestedPurge requested(byte[] body) throws AdminException {
        RequestedPurge requested = null;
        try (JsonParser parser = Json.parser(body)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw VendorPurges.bad("the body must be a JSON object");
            }
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                requested = member(parser, requested);
            }
            if (parser.nextToken() != null) {
                throw VendorPurges.bad("the body contains data after the JSON object");
            }
        } catch (JacksonException e) {
            throw VendorPurges.bad("the body is not JSON: " + e.getOriginalMessage());
        }
        if (requested == null) {
            throw VendorPurges.bad("one of the members " + MEMBERS + " is needed");
        }
        return requested;
    }

    private static RequestedPurge member(JsonParser parser, @Nullable RequestedPurge before) throws AdminException {
        String name = String.valueOf(parser.currentName());
        if (!MEMBERS.contains(name)) {
            throw VendorPurges.bad("unknown member '" + name + "', known are " + MEMBERS);
        }
        if (before != null) {
            throw VendorPurges.bad("the members '" + before.member() + "' and '" + name + "' cannot be combined");
        }
        JsonToken token = parser.nextToken();
        if (name.equals(EVERYTHING)) {
            if (token != JsonToken.VALUE_TRUE) {
                throw VendorPurges.bad("the member '" + EVERYTHING + "' must be true");
            }
            return new RequestedPurge(name, List.of());
        }
        if (token != JsonToken.START_ARRAY) {
            throw VendorPurges.bad("the member '" + name + "' must be a list");
        }
        List<String> values = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            values.add(value(parser, name));
        }
        return new RequestedPurge(name, values);
    }

    /**
     * Returns a string, or the member {@code url} of an object in {@code files}. The header fields in such an object
     * are ignored, because all variants are purged.
     */
    private static String value(JsonParser parser, String name) throws AdminException {
        if (parser.currentToken() == JsonToken.VALUE_STRING) {
            return parser.getString();
        }
        if (parser.currentToken() != JsonToken.START_OBJECT || !name.equals("files")) {
            throw VendorPurges.bad("the member '" + name + "' has an element of the wrong type");
        }
        String url = null;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            boolean isUrl = "url".equals(parser.currentName());
            JsonToken token = parser.nextToken();
            if (isUrl && token == JsonToken.VALUE_STRING) {
                url = parser.getString();
            } else {
                parser.skipChildren();
            }
        }
        if (url == null) {
            throw VendorPurges.bad("an element of 'files' has no 'url'");
        }
        return url;
    }
}
