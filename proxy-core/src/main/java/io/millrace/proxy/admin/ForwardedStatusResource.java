package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.status.ProcessSource;
import io.millrace.proxy.admin.status.ProcessStatus;
import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.admin.status.StatusResource;
import io.millrace.proxy.admin.status.StatusSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * {@code GET /v1/status} of the launcher: the worker's status with the launcher's members {@code process} and {@code
 * config}. If no worker answers, the launcher writes all members. Thread-safe.
 */
final class ForwardedStatusResource implements AdminResource {
    /** Members from the launcher, which owns the processes and reads the configuration. */
    private static final Set<String> OWN_MEMBERS = Set.of("process", "config");

    /** The time limit is short, because a person waits for the status even if the worker hangs. */
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    private final AdminClient client;
    private final Supplier<@Nullable Path> socket;
    private final ProcessSource processes;
    private final StatusSource launcher;

    ForwardedStatusResource(
            AdminClient client, Supplier<@Nullable Path> socket, ProcessSource processes, StatusSource launcher) {
        this.client = client;
        this.socket = socket;
        this.processes = processes;
        this.launcher = launcher;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return StatusResource.PATH;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        client.send(socket.get(), "GET", StatusResource.PATH, new byte[0], TIMEOUT)
                .whenComplete((reply, failure) -> responder.reply(
                        failure == null && reply.status() == 200 ? merge(reply) : statusWithoutWorker()));
    }

    private AdminReply statusWithoutWorker() {
        ProcessStatus process = processes.processes();
        ProxyStatus status = launcher.status();
        return AdminReply.json(json -> {
            process.write(json);
            status.write(json);
        });
    }

    private AdminReply merge(AdminReply worker) {
        ProcessStatus process = processes.processes();
        ProxyStatus status = launcher.status();
        try {
            return AdminReply.json(json -> {
                process.write(json);
                status.writeConfig(json);
                copyMembers(worker.body(), json);
            });
        } catch (JacksonException e) {
            return AdminReply.error(502, "worker-failed", "the worker's status is not JSON");
        }
    }

    private static void copyMembers(byte[] object, JsonGenerator json) {
        try (JsonParser parser = Json.parser(object)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return;
            }
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                if (OWN_MEMBERS.contains(parser.currentName())) {
                    parser.nextToken();
                    parser.skipChildren();
                } else {
                    json.copyCurrentStructure(parser);
                }
            }
        }
    }
}
