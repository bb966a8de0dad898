package io.millrace.proxy.admin.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Many viewers cause one request a second. */
class SharedSnapshotTest {
    private final AtomicLong now = new AtomicLong();
    private final List<AdminResponder> asked = new ArrayList<>();
    private final List<Integer> replies = new ArrayList<>();

    private final SharedSnapshot snapshot = new SharedSnapshot(
            "/shared",
            new AdminResource() {
                @Override
                public String method() {
                    return "GET";
                }

                @Override
                public String path() {
                    return "/metrics";
                }

                @Override
                public void handle(AdminRequest request, AdminResponder responder) {
                    assertEquals("/metrics", request.target());
                    asked.add(responder);
                }
            },
            now::get);

    private void view() {
        snapshot.handle(
                new AdminRequest("GET", "/shared?x", "/shared", new byte[0], true),
                reply -> replies.add(reply.status()));
    }

    private void answer(int status) {
        asked.get(asked.size() - 1).reply(new AdminReply(status, "text/plain", new byte[0]));
    }

    @Test
    void viewersShareOneRequestInASecond() {
        view();
        view();
        now.addAndGet(SharedSnapshot.AGE_MAX.toNanos() * 2);
        view();
        assertEquals(1, asked.size());
        answer(200);
        assertEquals(List.of(200, 200, 200), replies);
        view();
        assertEquals(2, asked.size());
        answer(503);
        now.addAndGet(SharedSnapshot.AGE_MAX.toNanos() - 1);
        view();
        assertEquals(2, asked.size());
        assertEquals(List.of(200, 200, 200, 503, 503), replies);
        now.addAndGet(1);
        view();
        assertEquals(3, asked.size());
    }
}
