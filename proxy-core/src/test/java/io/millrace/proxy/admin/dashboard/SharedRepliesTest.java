package io.millrace.proxy.admin.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.RequestSender;
import io.millrace.proxy.admin.resource.StubResource;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Many viewers cause one request in the life of a reply. */
class SharedRepliesTest {
    private static final long LIFE = SharedReplies.LIFE.toNanos();

    private final AtomicLong now = new AtomicLong();
    private final List<AdminRequest> asked = new ArrayList<>();
    private final List<AdminResponder> asking = new ArrayList<>();
    private final List<AdminReply> replies = new ArrayList<>();
    private final SharedReplies shared = new SharedReplies(Runnable::run, now::get);

    /** A resource that is answered by the test. */
    private AdminResource source(String method, String path) {
        return new StubResource(method, path, (request, responder) -> {
            asked.add(request);
            asking.add(responder);
            if (request.target().endsWith("?bad")) {
                throw new AdminException(400, "bad-request", "bad", 7);
            }
        });
    }

    private final AdminResource status = shared.sharing(source("GET", "/v1/status"));

    private static AdminRequest request(String target, AdminCaller caller, @Nullable String proof, String tag) {
        Map<String, String> fields =
                proof == null ? Map.of() : Map.of(Dashboard.PROOF_FIELD, proof, "if-none-match", tag);
        return new AdminRequest(
                "GET",
                target,
                "/v1/status",
                new byte[0],
                true,
                caller,
                Map.of(),
                new RequestSender(null, false, fields::get));
    }

    private void view(String target, AdminCaller caller, String tag) throws AdminException {
        status.handle(request(target, caller, "proof", tag), replies::add);
    }

    private void view() throws AdminException {
        view("/v1/status", AdminCaller.UNKNOWN, "");
    }

    private void answer(int status, String content) {
        asking.get(asking.size() - 1)
                .reply(new AdminReply(status, "text/plain", content.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void viewersShareOneReply() throws AdminException {
        view();
        view();
        now.addAndGet(LIFE * 2);
        view();
        assertEquals(1, asked.size());
        assertEquals(List.of(), replies);
        answer(200, "a");
        assertEquals(3, replies.size());
        view();
        assertEquals(2, asked.size());
        answer(503, "b");
        now.addAndGet(LIFE - 1);
        view();
        assertEquals(2, asked.size());
        assertEquals(
                List.of(200, 200, 200, 503, 503),
                replies.stream().map(AdminReply::status).toList());
        now.incrementAndGet();
        view();
        assertEquals(3, asked.size());
    }

    @Test
    void theReplyHasItsAgeAndIsNotRepeated() throws AdminException {
        view();
        answer(200, "a");
        now.addAndGet(LIFE / 2);
        view();
        assertEquals("1000", replies.get(1).fields().get("Millrace-Age-Millis"));
        assertEquals("a", new String(replies.get(1).body(), StandardCharsets.UTF_8));
        String tag = replies.get(1).fields().get("ETag");
        view("/v1/status", AdminCaller.UNKNOWN, tag);
        assertEquals(304, replies.get(2).status());
        assertEquals(0, replies.get(2).body().length);
        now.addAndGet(LIFE);
        view("/v1/status", AdminCaller.UNKNOWN, tag);
        answer(200, "b");
        assertEquals(200, replies.get(3).status());
        assertTrue(shared.prometheusText().contains("result=\"rendered\"} 2.0\n"), shared.prometheusText());
        assertTrue(shared.prometheusText().contains("result=\"shared\"} 2.0\n"), shared.prometheusText());
        assertTrue(shared.prometheusText().contains("result=\"unchanged\"} 1.0\n"), shared.prometheusText());
    }

    @Test
    void rolesAndParametersHaveTheirOwnReplies() throws AdminException {
        AdminCaller viewer = new AdminCaller(-1, "a", "192.0.2.1", null, true);
        view();
        view("/v1/status", viewer, "");
        view("/v1/status?x", AdminCaller.UNKNOWN, "");
        view("/v1/status", new AdminCaller(-1, "b", "192.0.2.2", null, true), "");
        assertEquals(3, asked.size());
        assertEquals(new AdminCaller(-1, null, null, null, true), asked.get(1).caller());
    }

    @Test
    void scriptsGetTheirOwnReplies() throws AdminException {
        view();
        for (int i = 0; i < 3; i++) {
            status.handle(request("/v1/status", AdminCaller.UNKNOWN, null, ""), replies::add);
        }
        assertEquals(4, asked.size());
        answer(200, "a");
        assertEquals(Map.of(), replies.get(0).fields());
    }

    @Test
    void aChangeEndsTheReplies() throws AdminException {
        AdminResource change = shared.sharing(source("POST", "/v1/origins/down"));
        view();
        answer(200, "a");
        change.handle(request("/v1/origins/down", AdminCaller.UNKNOWN, null, ""), reply -> {});
        answer(200, "changed");
        view();
        assertEquals(3, asked.size());
        AdminResource purge = source("POST", "/v1/cache/purge");
        assertSame(purge, shared.sharing(purge));
        AdminResource other = source("GET", "/v1/config");
        assertSame(other, shared.sharing(other));
    }

    @Test
    void errorsAreSharedToo() throws AdminException {
        List<Long> waits = new ArrayList<>();
        AdminResponder responder = new AdminResponder() {
            @Override
            public void reply(AdminReply reply) {
                replies.add(reply);
            }

            @Override
            public void fail(AdminException error) {
                waits.add(error.retryAfterSeconds());
            }
        };
        status.handle(request("/v1/status?bad", AdminCaller.UNKNOWN, "proof", ""), responder);
        status.handle(request("/v1/status?bad", AdminCaller.UNKNOWN, "proof", ""), responder);
        assertEquals(List.of(7L, 7L), waits);
        assertEquals(1, asked.size());
    }

    @Test
    void theOldestReplyGivesWay() throws AdminException {
        for (int i = 0; i <= SharedReplies.REPLIES_MAX; i++) {
            view("/v1/status?" + i, AdminCaller.UNKNOWN, "");
            answer(200, "a");
        }
        view("/v1/status?1", AdminCaller.UNKNOWN, "");
        assertEquals(SharedReplies.REPLIES_MAX + 1, asked.size());
        view("/v1/status?0", AdminCaller.UNKNOWN, "");
        assertEquals(SharedReplies.REPLIES_MAX + 2, asked.size());
        answer(200, "a".repeat((int) SharedReplies.BYTES_MAX + 1));
        view("/v1/status?new", AdminCaller.UNKNOWN, "");
        view("/v1/status?0", AdminCaller.UNKNOWN, "");
        assertEquals(SharedReplies.REPLIES_MAX + 4, asked.size());
    }
}
