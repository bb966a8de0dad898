package io.millrace.proxy.admin.vendor;

import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.resource.PathTemplate;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Purge requests in the format of Fastly's API. The identifier of the service is the name of a site
 * ({@code remap[].site}). Thread-safe.
 */
public final class FastlyResource implements AdminResource {
    public static final String KEY_PATH = "/service/{id}/purge/{key}";
    public static final String KEYS_PATH = "/service/{id}/purge";
    public static final String ALL_PATH = "/service/{id}/purge_all";

    private final String path;
    private final PathTemplate template;
    private final PurgeHandler handler;

    /** Handles the requests to one of the three paths. */
    private interface PurgeHandler {
        void handle(List<String> segments, AdminRequest request, AdminResponder responder) throws AdminException;
    }

    private FastlyResource(String path, PurgeHandler handler) {
        this.path = path;
        this.template = new PathTemplate(path);
        this.handler = handler;
    }

    /** Creates the resources for all three paths. */
    public static List<AdminResource> all(VendorPurges purges) {
        return List.of(
                new FastlyResource(KEY_PATH, (segments, request, responder) -> {
                    List<Scope> scopes = List.of(VendorPurges.tag(
                            segments.get(1), purges.site(segments.get(0), "service"), VendorPurges.isSoft(request)));
                    responder.replyWhen(purges.purge(scopes, request.caller()), ids -> ok(ids.get(0)));
                }),
                new FastlyResource(KEYS_PATH, (segments, request, responder) -> {
                    String site = purges.site(segments.get(0), "service");
                    boolean soft = VendorPurges.isSoft(request);
                    List<String> keys = keys(request);
                    List<Scope> scopes = keys.stream()
                            .map(key -> VendorPurges.tag(key, site, soft))
                            .toList();
                    responder.replyWhen(purges.purge(scopes, request.caller()), ids -> byKey(keys, ids));
                }),
                new FastlyResource(ALL_PATH, (segments, request, responder) -> {
                    // Fastly's own API has no soft purge of everything. Fastly-Soft-Purge is obeyed here too, because a
                    // client that sends it expects that the stored responses are kept.
                    List<Scope> scopes =
                            purges.everything(purges.site(segments.get(0), "service"), VendorPurges.isSoft(request));
                    responder.replyWhen(purges.purge(scopes, request.caller()), ids -> ok(String.join(", ", ids)));
                }));
    }

    /** Returns the keys of the field Surrogate-Key, or of the body, each once. */
    private static List<String> keys(AdminRequest request) throws AdminException {
        Set<String> keys = new LinkedHashSet<>();
        for (String key : request.fields().getOrDefault("surrogate-key", "").split("[ \t]+", -1)) {
            if (!key.isEmpty()) {
                keys.add(key);
            }
        }
        if (keys.isEmpty()) {
            Map<String, Object> members = Json.members(request.body());
            Json.onlyMembers(members, List.of("surrogate_keys"));
            keys.addAll(Json.list(members, "surrogate_keys"));
        }
        if (keys.isEmpty()) {
            throw VendorPurges.bad("the field Surrogate-Key, or the member 'surrogate_keys' of the body, has no key");
        }
        return new ArrayList<>(keys);
    }

    private static AdminReply ok(String id) {
        return AdminReply.json(json -> {
            json.writeStringProperty("status", "ok");
            json.writeStringProperty("id", id);
        });
    }

    private static AdminReply byKey(List<String> keys, List<String> ids) {
        return AdminReply.json(json -> {
            for (int i = 0; i < keys.size(); i++) {
                json.writeStringProperty(keys.get(i), ids.get(i));
            }
        });
    }

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
        handler.handle(segments, request, responder);
    }
}
