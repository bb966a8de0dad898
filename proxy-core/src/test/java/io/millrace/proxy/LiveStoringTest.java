package io.millrace.proxy;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the rules of storing, and of waiting for other fetches. */
class LiveStoringTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    /** Keeps the origin from answering. */
    private volatile CountDownLatch gate = new CountDownLatch(0);

    /** True if the gate stays shut for a while longer. That has no effect before the settings change. */
    private boolean afterALull;

    private boolean isFetchedTwice() throws IOException {
        return live.isFetchedTwice(live.fresh());
    }

    /** Makes the origin answer with these fields once the gate is open. */
    private LiveProxy behindTheGate(String fields, int length) {
        return live.script(request -> {
            gate.await();
            request.ok(fields, ProxyExtension.content(length));
        });
    }

    /** Returns whether a second request waits for the first one's fetch; otherwise it goes to the origin. */
    private boolean isWaitedFor(String path, String... fields) throws Exception {
        gate = new CountDownLatch(1);
        ProxyExtension proxy = live.proxy();
        int before = proxy.origin().requests();
        long waiting = proxy.counted(Counter.LOOKUPS_FILLING);
        RawClient first = proxy.client().get(path);
        ProxyExtension.await("the first", () -> proxy.origin().requests() == before + 1);
        RawClient second = proxy.client().get(path, fields);
        ProxyExtension.await(
                "the second",
                () -> proxy.origin().requests() == before + 2 || proxy.counted(Counter.LOOKUPS_FILLING) > waiting);
        if (afterALull && !live.isChanged()) {
            live.lull();
        } else if (afterALull) {
            ProxyExtension.await("the end of its patience", () -> proxy.origin().requests() == before + 2);
        }
        boolean waits = proxy.origin().requests() == before + 1;
        gate.countDown();
        first.response();
        second.response();
        live.settle();
        return waits;
    }

    @LiveKey("cache.enabled")
    void enabled() throws Exception {
        live.file("cache: {enabled: <true|false>}").turns(false, true, this::isFetchedTwice);
    }

    @LiveKey("cache.unshared_fields")
    void unsharedFields() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nX-User: bob\r\n")
                .file("cache: {unshared_fields: [<X-Other|X-User>]}")
                .turns(true, false, () -> {
                    String path = live.fresh();
                    live.get(path);
                    return live.get(path).head().contains("X-User: bob");
                });
    }

    @LiveKey("cache.reuse_with_authorization")
    void reuseWithAuthorization() throws Exception {
        live.file("cache: {reuse_with_authorization: <always|if_allowed>}").turns(false, true, () -> {
            String path = live.fresh();
            live.get(path);
            int before = live.proxy().origin().requests();
            live.get(path, "Authorization: x\r\n");
            return live.proxy().origin().requests() > before;
        });
    }

    @LiveKey("cache.max_object_size")
    void maxObjectSize() throws Exception {
        behindTheGate("Cache-Control: max-age=60\r\n", 2000)
                .file("cache: {max_object_size: <0|1KiB>}")
                .turns(false, true, this::isFetchedTwice);
    }

    @LiveKey("cache.required_headers")
    void requiredHeaders() throws Exception {
        live.answers("Last-Modified: Mon, 01 Dec 2025 00:00:00 GMT\r\n")
                .file("cache: {required_headers: <none|lifetime>}")
                .turns(false, true, this::isFetchedTwice);
    }

    @LiveKey("cache.ignore_server_no_cache")
    void ignoreServerNoCache() throws Exception {
        live.answers("Cache-Control: no-store, max-age=60\r\n")
                .file("cache: {ignore_server_no_cache: <false|true>}")
                .turns(true, false, this::isFetchedTwice);
    }

    @LiveKey("cache.ignore_authentication")
    void ignoreAuthentication() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nWWW-Authenticate: Basic\r\n")
                .file("cache: {ignore_authentication: <true|false>}")
                .turns(false, true, this::isFetchedTwice);
    }

    @LiveKey("cache.cache_responses_to_cookies")
    void responsesToCookies() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n")
                .file("cache: {cache_responses_to_cookies: <all|none>}")
                .turns(false, true, this::isFetchedTwice);
    }

    @LiveKey("cache.cache_urls_that_look_dynamic")
    void urlsThatLookDynamic() throws Exception {
        live.file("cache: {cache_urls_that_look_dynamic: <true|false>}")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh() + "?a"));
    }

    @LiveKey("cache.leak_guard")
    void leakGuard() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nContent-Type: text/html\r\n")
                .file("cache: {leak_guard: <on|off>}")
                .turns(2, 1, () -> live.fetchesOf(2, live.fresh() + "/x.css", "Cookie: a=b\r\n"));
    }

    @LiveKey("cache.variants_max")
    void variantsMax() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nVary: Foo\r\n")
                .file("cache: {variants_max: <2|1>}")
                .turns(0, 1, () -> {
                    String path = live.fresh();
                    live.get(path, "Foo: 1\r\n");
                    live.get(path, "Foo: 2\r\n");
                    return live.fetchesOf(1, path, "Foo: 1\r\n");
                });
    }

    @LiveKey("cache.tags.fields")
    void tagFields() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nX-Tags: a\r\n")
                .file("cache: {tags: {fields: [<X-Other|X-Tags>]}}")
                .turns(true, false, () -> live.get(live.fresh()).head().contains("X-Tags: a"));
    }

    @LiveKey("cache.tags.keep")
    void tagsKept() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nxkey: a\r\n")
                .file("cache: {tags: {keep: <false|true>}}")
                .turns(false, true, () -> live.get(live.fresh()).head().contains("xkey: a"));
    }

    @LiveKey("cache.post_method")
    void postMethod() throws Exception {
        live.script(request -> request.ok(
                        "Cache-Control: max-age=60\r\nContent-Location: "
                                + request.head().split(" ", 3)[1] + "\r\n",
                        new byte[0]))
                .file("cache: {post_method: <true|false>}")
                .turns(0, 1, () -> {
                    String path = live.fresh();
                    live.proxy()
                            .client()
                            .send("POST " + path + " HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n\r\n")
                            .response();
                    live.settle();
                    return live.fetchesOf(1, path);
                });
    }

    @LiveKey("cache.uncacheable_ttl")
    void uncacheableTtl() throws Exception {
        behindTheGate("Cache-Control: no-store\r\n", 1)
                .file("cache: {uncacheable_ttl: <2m|0s>}")
                .turns(false, true, () -> {
                    String path = live.fresh();
                    live.get(path);
                    return isWaitedFor(path);
                });
    }

    @LiveKey("cache.collapse_wait")
    void collapseWait() throws Exception {
        behindTheGate("Cache-Control: max-age=60\r\n", 1)
                .file("cache: {collapse_wait: <5m|10ms>}\ntimeouts: {client_header: 10ms}")
                .turns(false, true, () -> {
                    long before = live.proxy().counted(Counter.COLLAPSED_TIMEOUT);
                    afterALull = true;
                    isWaitedFor(live.fresh());
                    return live.proxy().counted(Counter.COLLAPSED_TIMEOUT) > before;
                });
    }

    @LiveKey("cache.read_while_writing")
    void readWhileWriting() throws Exception {
        behindTheGate("Cache-Control: max-age=60\r\n", 1)
                .file("cache: {read_while_writing: <always|never>}")
                .turns(true, false, () -> isWaitedFor(live.fresh()));
    }

    /** A part that begins far behind the fetched position is fetched separately. */
    @LiveKey("cache.fill_window")
    void fillWindow() throws Exception {
        behindTheGate("Cache-Control: max-age=60\r\n", 600_000)
                .file("cache: {fill_window: <1MiB|64KiB>}")
                .turns(true, false, () -> isWaitedFor(live.fresh(), "Range: bytes=500000-\r\n"));
    }

    /** Returns whether a fetch continues after its client has disconnected. */
    private boolean isStoredWithoutItsClient() throws Exception {
        gate = new CountDownLatch(1);
        ProxyExtension proxy = live.proxy();
        long stored = proxy.counted(Counter.FILLS_STORED);
        long left = proxy.counted(Counter.FILLS_CLIENT_LEFT);
        long aborted = proxy.counted(Counter.CLIENT_FAILURES_ABORTED);
        RawClient client = proxy.client().get(live.fresh());
        client.head();
        client.in.read(500);
        client.reset();
        ProxyExtension.await("the client's end", () -> proxy.counted(Counter.CLIENT_FAILURES_ABORTED) > aborted);
        if (live.isChanged()) {
            ProxyExtension.await("the end without a rest", () -> proxy.counted(Counter.FILLS_CLIENT_LEFT) > left);
        } else if (afterALull) {
            live.lull();
        }
        gate.countDown();
        ProxyExtension.await(
                "the end of the fetch",
                () -> proxy.counted(Counter.FILLS_STORED) > stored || proxy.counted(Counter.FILLS_CLIENT_LEFT) > left);
        return proxy.counted(Counter.FILLS_STORED) > stored;
    }

    /** Starts an origin that waits in the middle of its response. */
    private LiveProxy inTwoHalves(String settings) {
        return live.script(request -> {
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nCache-Control: max-age=60\r\n\r\n");
                    request.send(ProxyExtension.content(500));
                    gate.await();
                    request.send(ProxyExtension.content(500));
                })
                .file("cache: {" + settings + "}\ntimeouts: {client_header: 10ms}");
    }

    @LiveKey("cache.background_fill_active_timeout")
    void backgroundFillActiveTimeout() throws Exception {
        afterALull = true;
        inTwoHalves("background_fill_active_timeout: <0s|10ms>").turns(true, false, this::isStoredWithoutItsClient);
    }

    @LiveKey("cache.background_fill_completed_threshold")
    void backgroundFillCompletedThreshold() throws Exception {
        inTwoHalves("background_fill_completed_threshold: <0.0|0.9>")
                .turns(true, false, this::isStoredWithoutItsClient);
    }

    @LiveKey("cache.range.lookup")
    void rangeLookup() throws Exception {
        live.file("cache: {range: {lookup: <true|false>}}").turns(0, 1, () -> {
            String path = live.fresh();
            live.get(path);
            return live.fetchesOf(1, path, "Range: bytes=0-3\r\n");
        });
    }

    @LiveKey("cache.range.write")
    void rangeWrite() throws Exception {
        live.script(request -> request.ok("X-For-A-Part: " + request.has("Range:") + "\r\n", new byte[10]))
                .file("cache: {range: {write: <false|true>}}")
                .turns("true", "false", () -> live.get(live.fresh(), "Range: bytes=0-3\r\n")
                        .field("x-for-a-part"));
    }
}
