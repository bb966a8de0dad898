package io.millrace.proxy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the authorisation server that decides about requests. */
class LiveAuthorizeTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private final AtomicInteger questions = new AtomicInteger();
    private final CountDownLatch late = new CountDownLatch(1);
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private String url;

    /**
     * The server allows requests with a path of "yes", with "gate" once the gate is open, fails with "fail", does not
     * answer the first with "late", else refuses.
     */
    @BeforeEach
    void startServer() throws IOException {
        RawOrigin server = live.origin(question -> {
            questions.incrementAndGet();
            if (question.has("GET /yes ") || question.has("X-Allow: 1")) {
                question.ok("X-One: 1\r\nX-Two: 2\r\n", new byte[0]);
            } else if (question.has("GET /gate ")) {
                gate.await();
                question.ok("", new byte[0]);
            } else if (question.has("GET /fail ")) {
                question.send("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
            } else if (question.has("GET /late ") && questions.get() == 1) {
                question.awaitClose();
            } else if (question.has("GET /late ")) {
                late.await();
                question.ok("", new byte[0]);
            } else {
                String answer = question.has("POST /post ") ? "200 Yes" : "403 No";
                question.send("HTTP/1.1 " + answer + "\r\nContent-Length: 0\r\n\r\n");
            }
        });
        url = server.url();
    }

    private LiveProxy authorize(String path, String more) {
        return live.file("authorize: {url: '" + url + '/' + path + "'" + more + "}");
    }

    private int asked(String... fields) throws Exception {
        int before = questions.get();
        String path = live.fresh();
        for (int i = 0; i < 2; i++) {
            live.get(path, fields);
        }
        return questions.get() - before;
    }

    @LiveKey("authorize.url")
    void server() throws Exception {
        authorize("<yes|no>", "").turns(200, 403, () -> live.status(live.fresh()));
    }

    @LiveKey("authorize.enabled")
    void enabled() throws Exception {
        authorize("no", ", enabled: <true|false>").turns(403, 200, () -> live.status(live.fresh()));
    }

    @LiveKey("authorize.method")
    void method() throws Exception {
        authorize("post", ", method: <post|get>").turns(200, 403, () -> live.status(live.fresh()));
    }

    @LiveKey("authorize.send_fields")
    void sendFields() throws Exception {
        authorize("no", ", send_fields: [<X-Allow|X-Other>]")
                .turns(200, 403, () -> live.status(live.fresh(), "X-Allow: 1\r\n"));
    }

    @LiveKey("authorize.receive_fields")
    void receiveFields() throws Exception {
        live.echoes();
        authorize("yes", ", receive_fields: [<X-One|X-Two>]").turns("1", null, () -> live.sent("x-one"));
    }

    @LiveKey("authorize.cache_key")
    void cacheKey() throws Exception {
        authorize("yes", ", ttl: 1h, cache_key: [<method|path>]").turns(1, 2, () -> {
            int before = questions.get();
            live.get(live.fresh());
            live.get(live.fresh());
            return questions.get() - before;
        });
    }

    @LiveKey("authorize.ttl")
    void ttl() throws Exception {
        authorize("yes", ", ttl: <1h|0s>").turns(1, 2, this::asked);
    }

    @LiveKey("authorize.negative_ttl")
    void negativeTtl() throws Exception {
        authorize("no", ", negative_ttl: <1h|0s>").turns(1, 2, this::asked);
    }

    @LiveKey("authorize.timeout")
    void timeout() throws Exception {
        authorize("late", ", timeout: <10ms|5m>").turns(503, 200, () -> {
            try (RawClient client = new RawClient(live.proxy().address())) {
                client.send("GET " + live.fresh() + " HTTP/1.1\r\nHost: test.example\r\n\r\n");
                if (live.isChanged()) {
                    late.countDown();
                }
                return client.response().status();
            }
        });
    }

    @LiveKey("authorize.on_error")
    void onError() throws Exception {
        authorize("fail", ", on_error: <closed|open>").turns(503, 200, () -> live.status(live.fresh()));
    }

    /** The first request occupies the only connection to the server. */
    @LiveKey("authorize.on_limit")
    void onLimit() throws Exception {
        live.file("authorize: {url: '" + url + "/gate', on_limit: <closed|open>}\n"
                        + "origin: {connections_max: 1, queue_max: 0}")
                .turns(503, 200, () -> {
                    gate = new CountDownLatch(1);
                    int before = questions.get();
                    try (RawClient first = new RawClient(live.proxy().address())) {
                        first.send("GET " + live.fresh() + " HTTP/1.1\r\nHost: test.example\r\n\r\n");
                        ProxyExtension.await("a question", () -> questions.get() > before);
                        // Not by the method that waits for the end of all fetches: the gate holds one.
                        int status = live.proxy().get(live.fresh()).status();
                        gate.countDown();
                        first.response();
                        live.settle();
                        return status;
                    }
                });
    }

    @LiveKey("authorize.forward")
    void forward() throws Exception {
        authorize("yes", ", forward: <false|true>")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh(), "Authorization: Bearer a\r\n"));
    }

    @LiveKey("authorize.when")
    void condition() throws Exception {
        authorize("no", ", when: 'path =~ \"^/<v|a>\"'").turns(403, 200, () -> live.status("/v/1"));
    }
}
