package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.resource.NamedFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /v1/config/plan}, {@code set}, {@code reset} and {@code rollback}: the answer contains the outcome of
 * each changed setting, as the answer to a reload does. Thread-safe.
 */
public final class ConfigChangeResource implements AdminResource {
    /** The time limit is long, because a rolling change starts a worker, which may open a large store. */
    static final Duration TIMEOUT = Duration.ofMinutes(5);

    /** The action of one resource. */
    private interface Change {
        CompletionStage<ReloadReport> run(AdminRequest request, Map<String, Object> body) throws AdminException;
    }

    private final String verb;
    private final Change change;

    private ConfigChangeResource(String verb, Change change) {
        this.verb = verb;
        this.change = change;
    }

    /**
     * Creates the resource that plans the reload of a file.
     *
     * @param configuration the configuration file in use, or null. Requests over TCP may name only files below its
     *     directory
     */
    public static AdminResource plan(ConfigChanger changer, @Nullable Path configuration) {
        return new ConfigChangeResource("plan", (request, body) -> {
            Json.onlyMembers(body, List.of("file"));
            String file = Json.member(body, "file", String.class);
            return changer.plan(file == null ? null : NamedFile.of(request, file, configuration));
        });
    }

    /** Creates the resource that sets keys. */
    public static AdminResource set(ConfigChanger changer) {
        return new ConfigChangeResource("set", (request, body) -> {
            Json.onlyMembers(body, List.of("settings", "save"));
            Map<String, String> settings = Json.strings(body, "settings");
            if (settings.isEmpty()) {
                throw new AdminException(400, "bad-request", "the member 'settings' is needed: values by key");
            }
            return changer.set(
                    settings, Boolean.TRUE.equals(Json.member(body, "save", Boolean.class)), request.caller());
        });
    }

    /** Creates the resource that resets keys. */
    public static AdminResource reset(ConfigChanger changer) {
        return new ConfigChangeResource("reset", (request, body) -> {
            Json.onlyMembers(body, List.of("keys", "all"));
            List<String> keys = Json.list(body, "keys");
            boolean all = Boolean.TRUE.equals(Json.member(body, "all", Boolean.class));
            if (keys.isEmpty() != all) {
                throw new AdminException(400, "bad-request", "either 'keys', a list of keys, or 'all' is needed");
            }
            return changer.reset(keys, request.caller());
        });
    }

    /** Creates the resource that applies an earlier configuration. */
    public static AdminResource rollback(ConfigChanger changer) {
        return new ConfigChangeResource("rollback", (request, body) -> {
            Json.onlyMembers(body, List.of("to"));
            Long to = Json.member(body, "to", Long.class);
            if (to != null && (to < 1 || to > Integer.MAX_VALUE)) {
                throw new AdminException(
                        400, "bad-request", "the member 'to' must be the number of an entry of the history, from 1");
            }
            return changer.rollback(to == null ? 0 : to.intValue(), request.caller());
        });
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return "/v1/config/" + verb;
    }

    /** Always true, because a plan reads the file system. */
    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public Duration timeout() {
        return TIMEOUT;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        responder.replyWhen(
                change.run(request, Json.members(request.body())),
                report -> AdminReply.json(json -> ConfigReloadResource.write(json, report)));
    }
}
