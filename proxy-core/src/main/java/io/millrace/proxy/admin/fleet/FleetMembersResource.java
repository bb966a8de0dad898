package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.util.function.IntSupplier;

/**
 * {@code POST /v1/fleet/members} of the worker: reads again the file that lists the fleet nodes that take requests.
 * Only the launcher, the worker's parent process, uses the resource. Thread-safe.
 */
public final class FleetMembersResource implements AdminResource {
    /** The path on the worker's socket. */
    public static final String PATH = "/v1/fleet/members";

    private final IntSupplier reader;

    /** @param reader reads the file, puts the nodes in force, and returns their number; may block */
    public FleetMembersResource(IntSupplier reader) {
        this.reader = reader;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return PATH;
    }

    /** Always true, because a file is read. */
    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        int nodes = reader.getAsInt();
        responder.reply(AdminReply.json(json -> json.writeNumberProperty("nodes", nodes)));
    }
}
