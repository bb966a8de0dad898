package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.Invocation;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Waits until the live nodes of the fleet (nodes that share purges) have applied a purge. Stateless. */
final class FleetWait {
    private static final Duration INTERVAL = Duration.ofMillis(50);
    /** Limit of requests: about 30 s. */
    private static final int REQUESTS_MAX = 600;

    private FleetWait() {}

    /** Returns the last response about the purge: every live node has applied it, or about 30 s have passed. */
    static AdminResponse until(AdminClient client, Invocation invocation, String id) throws AdminClientException {
        String target = "/v1/fleet/purge?id=" + URLEncoder.encode(id, StandardCharsets.UTF_8);
        AdminResponse response = client.get(target);
        for (int i = 1;
                i < REQUESTS_MAX && !isComplete(response) && invocation.clock().sleep(INTERVAL);
                i++) {
            response = client.get(target);
        }
        return response;
    }

    /** Returns true if every live node has applied the purge. */
    static boolean isComplete(AdminResponse response) throws AdminClientException {
        JsonObject report = response.json();
        return response.isSuccess() && report.text("state", "").equals("complete");
    }
}
