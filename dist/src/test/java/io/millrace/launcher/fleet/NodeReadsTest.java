package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.config.fleet.FleetConfig;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Tests queries between the admin APIs of two nodes. */
class NodeReadsTest {
    private final FakeFleet fleet = new FakeFleet();
    private final NodeReads first = member("cdn", "n1");
    private final NodeReads second = member("cdn", "n2");
    private final List<String> asked = new ArrayList<>();
    private CompletionStage<AdminReply> answer =
            CompletableFuture.completedFuture(AdminReply.text("text/plain", "yes\nno\n"));

    private NodeReads member(String name, String node) {
        FleetConfig settings = new FleetConfig(
                name,
                List.of("nats://h"),
                node,
                "edge",
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                FleetConfig.OnGap.VALIDATE,
                1,
                1L << 20,
                null);
        FakeFleet.Link link = fleet.new Link(node);
        NodeReads reads = new NodeReads(new FleetFigures(), known -> !known.equals("nope"));
        reads.setLocal((target, timeout) -> {
            asked.add(node + " " + target);
            return answer;
        });
        reads.begin(settings, link);
        return reads;
    }

    private static AdminReply get(CompletionStage<AdminReply> reply) throws Exception {
        return reply.toCompletableFuture().get();
    }

    private static AdminException failure(CompletionStage<AdminReply> reply) {
        return (AdminException) assertThrows(ExecutionException.class, () -> reply.toCompletableFuture()
                        .get())
                .getCause();
    }

    @Test
    void anotherNodeAnswers() throws Exception {
        AdminReply reply = get(first.read("n2", "/v1/origins?a=b"));
        assertEquals(List.of("n2 /v1/origins?a=b"), asked);
        assertEquals(200, reply.status());
        assertEquals("text/plain", reply.contentType());
        assertEquals("yes\nno\n", new String(reply.body(), StandardCharsets.UTF_8));
        answer = CompletableFuture.completedFuture(AdminReply.error(409, "history-off", "no"));
        AdminReply error = get(second.read("n1", "/v1/history"));
        assertEquals(409, error.status());
        assertEquals("history-off", error.errorCode());
    }

    @Test
    void aNodeAnswersItselfWithoutAConnection() throws Exception {
        first.end();
        get(first.read("n1", "/v1/status"));
        assertEquals(List.of("n1 /v1/status"), asked);
        assertEquals(
                "fleet-not-connected", failure(first.read("n2", "/v1/status")).code());
    }

    @Test
    void missingNodesAndWrongQueriesAreReported() throws Exception {
        assertEquals("node-silent", failure(first.read("n3", "/v1/status")).code());
        assertEquals("unknown-node", failure(first.read("nope", "/v1/status")).code());
        fleet.links.get(0).queryRefusal = "the permission to publish to millrace.cdn.ask.n3";
        AdminException refused = failure(first.read("n3", "/v1/status"));
        assertEquals("fleet-not-permitted", refused.code());
        assertTrue(refused.message().contains("millrace.cdn.ask.n3"), refused::message);
        // The other node checks the query too.
        assertEquals(403, get(first.read("n2", "/v1/cache/object?key=k")).status());
        assertEquals(403, get(first.read("n2", "/v1/fleet/read?node=n1")).status());
        assertEquals(400, get(first.read("n2", "/livez")).status());
        assertEquals(400, get(first.read("n2", "/v1/%74ls/check")).status());
        member("dev", "n4");
        assertEquals("other-fleet", get(first.read("n4", "/v1/status")).errorCode());
        assertEquals(List.of(), asked);
    }

    @Test
    void longAnswersAndManyQueriesAreRefused() throws Exception {
        answer = CompletableFuture.completedFuture(
                AdminReply.text("text/plain", "x".repeat(NodeReads.ANSWER_BYTES_MAX + 1)));
        AdminReply tooLong = get(first.read("n2", "/metrics"));
        assertEquals(413, tooLong.status());
        assertTrue(new String(tooLong.body(), StandardCharsets.UTF_8).contains("limit=" + NodeReads.ANSWER_BYTES_MAX));
        CompletableFuture<AdminReply> open = new CompletableFuture<>();
        answer = open;
        List<CompletionStage<AdminReply>> waiting = new ArrayList<>();
        for (int i = 0; i < NodeReads.IN_PROGRESS_MAX; i++) {
            waiting.add(first.read("n2", "/metrics"));
        }
        assertEquals("busy", get(first.read("n2", "/metrics")).errorCode());
        open.complete(AdminReply.text("text/plain", "x"));
        assertEquals(200, get(waiting.get(0)).status());
        assertEquals(200, get(first.read("n2", "/metrics")).status());
    }
}
