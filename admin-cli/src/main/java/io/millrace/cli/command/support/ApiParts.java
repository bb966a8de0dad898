package io.millrace.cli.command.support;

import io.millrace.cli.bundle.BundleContent;
import io.millrace.cli.bundle.Redaction;
import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects the files of a support bundle that come from the admin API. Confined to one thread. Blocks. */
final class ApiParts {
    /** Paths of the admin API, by the name of the file in the bundle. */
    private static final Map<String, String> RESOURCES = resources();

    private static final int NOT_FOUND = 404;

    private final BundleContent content;
    private final Redaction redaction;
    private JsonObject status = JsonObject.empty();
    private JsonObject settings = JsonObject.empty();
    private boolean isUnreachable;

    ApiParts(BundleContent content, Redaction redaction) {
        this.content = content;
        this.redaction = redaction;
    }

    private static Map<String, String> resources() {
        Map<String, String> resources = new LinkedHashMap<>();
        resources.put("api/status.json", "/v1/status");
        resources.put("api/ready.txt", "/readyz");
        resources.put("api/server.json", "/v1/server");
        resources.put("api/threads.json", "/v1/server/threads?depth=64");
        resources.put("api/memory.json", "/v1/memory");
        resources.put("api/storage.json", "/v1/storage");
        resources.put("api/origins.json", "/v1/origins");
        resources.put("api/hosts.json", "/v1/hosts");
        resources.put("api/certificates.json", "/v1/tls/certificates");
        resources.put("api/events.json", "/v1/events");
        resources.put("api/metrics.txt", "/metrics");
        resources.put("config/history.json", "/v1/config/history");
        resources.put("config/settings.txt", "/v1/config");
        return resources;
    }

    /**
     * Requests every resource and adds it to the bundle. After a failure the next resource is requested, unless the
     * admin API cannot be reached.
     */
    void collect(AdminClient client) {
        RESOURCES.forEach((name, resource) -> collect(client, name, resource));
        if (isUnreachable) {
            content.addMissing("the rest of api/ and config/", "not reachable");
        }
    }

    /** Records in the bundle why no admin API could be used. */
    void missing(String reason) {
        content.addMissing("api/ and config/", reason);
    }

    private void collect(AdminClient client, String name, String resource) {
        if (isUnreachable) {
            return;
        }
        try {
            AdminResponse response = client.get(resource);
            if (response.status() == NOT_FOUND) {
                content.addMissing(name, "this version has no " + resource);
            } else if (!response.isSuccess() && !name.endsWith("ready.txt")) {
                content.addMissing(name, reason(response));
            } else if (response.body().length > BundleContent.PART_BYTES_MAX) {
                content.addMissing(
                        name,
                        "too long: actual=" + response.body().length + " bytes, limit=" + BundleContent.PART_BYTES_MAX);
            } else {
                content.add(name, shown(name, response));
            }
        } catch (AdminClientException e) {
            content.addMissing(name, e.message());
            isUnreachable = e.kind() == AdminClientException.Kind.UNREACHABLE;
        }
    }

    private static String reason(AdminResponse response) {
        try {
            return response.json().object("error").text("message", "status " + response.status());
        } catch (AdminClientException e) {
            return "status " + response.status();
        }
    }

    /** Returns the content of a file of the bundle. Keeps the status and the settings for later calls. */
    private String shown(String name, AdminResponse response) throws AdminClientException {
        switch (name) {
            case "api/status.json" -> status = response.json();
            case "config/settings.txt" -> {
                settings = response.json();
                return settingLines();
            }
            case "api/events.json" -> {
                return redaction.log(response.text());
            }
            default -> {}
        }
        return redaction.data(response.text());
    }

    /** Returns one line for each setting. A value from an environment variable may be a secret, so it is removed. */
    private String settingLines() {
        StringBuilder lines = new StringBuilder();
        for (JsonObject setting : settings.objects("settings")) {
            String key = setting.text("key", "?");
            List<String> variables = setting.texts("variables");
            String value = variables.isEmpty() ? setting.text("value", "not set") : Redaction.REDACTED;
            lines.append(redaction.text(key + ": " + value.replace('\n', ' ')))
                    .append("  (")
                    .append(setting.text("source", "?"))
                    .append(setting.has("place") ? " " + setting.text("place", "") : "");
            variables.forEach(name -> lines.append(" ${").append(name).append('}'));
            lines.append(")\n");
        }
        return lines.toString();
    }

    /** Returns the value of a setting; null if the setting was not received or is not set. */
    @Nullable
    String setting(String key) {
        for (JsonObject setting : settings.objects("settings")) {
            if (setting.text("key", "").equals(key)) {
                return setting.text("value");
            }
        }
        return null;
    }

    /** Returns the path of the configuration file in use; null if the status was not received. */
    @Nullable
    String configFile() {
        return status.object("config").text("file");
    }

    /** Returns the process ids of launcher and worker, as far as the status contains them. */
    List<Long> pids() {
        List<Long> pids = new ArrayList<>();
        for (String name : List.of("launcher_pid", "worker_pid")) {
            long pid = status.object("process").number(name, 0);
            if (pid > 0) {
                pids.add(pid);
            }
        }
        return pids;
    }
}
