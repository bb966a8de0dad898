package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.purge.fleet.FleetPosition;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The worker's resource for the position in the stream of purges: {@code GET} reads it, {@code POST} applies a batch.
 * The worker is the process that serves requests. Only the launcher, its parent process, uses the resource.
 * Thread-safe.
 */
public final class FleetPositionResource implements AdminResource {
    /** The path on the worker's socket. */
    public static final String PATH = "/v1/fleet/position";

    private final String method;
    private final FleetService service;

    private FleetPositionResource(String method, FleetService service) {
        this.method = method;
        this.service = service;
    }

    /** Creates both resources. */
    public static List<AdminResource> all(FleetService service) {
        return List.of(new FleetPositionResource("GET", service), new FleetPositionResource("POST", service));
    }

    @Override
    public String method() {
        return method;
    }

    @Override
    public String path() {
        return PATH;
    }

    /**
     * True until the identifier of this node's state directory has been read from its file. After that, purges do not
     * wait for other blocking requests.
     */
    @Override
    public boolean isBlocking() {
        return service.mayBlock();
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        if (method.equals("GET")) {
            responder.reply(answer(service.position(), List.of()));
        } else {
            responder.replyWhen(
                    service.apply(FleetBatch.read(request.body())),
                    outcome -> answer(outcome.position(), outcome.refused()));
        }
    }

    private static AdminReply answer(@Nullable FleetPosition position, List<String> refused) {
        return AdminReply.json(json -> {
            if (position != null) {
                json.writeStringProperty("created", position.created());
                json.writeNumberProperty("sequence", position.sequence());
                json.writeStringProperty("id", position.id());
            }
            Json.strings(json, "refused", refused);
        });
    }

    /**
     * Reads an answer of this resource.
     *
     * @return the position and the refused messages; null if the node has no position
     * @throws AdminException if the answer has another format
     */
    public static FleetService.@Nullable Outcome read(byte[] body) throws AdminException {
        Map<String, Object> members = Json.members(body);
        String created = Json.member(members, "created", String.class);
        Long sequence = Json.member(members, "sequence", Long.class);
        String id = Json.member(members, "id", String.class);
        if (created == null || sequence == null || id == null) {
            return null;
        }
        return new FleetService.Outcome(new FleetPosition(created, sequence, id), Json.list(members, "refused"));
    }
}
