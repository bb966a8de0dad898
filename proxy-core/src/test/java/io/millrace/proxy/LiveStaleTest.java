package io.millrace.proxy;

import java.io.IOException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a stale response, or a client that wants none, comes to, changed while requests come. */
class LiveStaleTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private volatile String fields = "Cache-Control: max-age=10\r\nETag: \"1\"\r\n";
    /** What the origin answers that has nothing new. */
    private volatile String failure = "";

    /** An origin that answers as long as it does not fail. */
    private LiveProxy answers(String with) {
        fields = with;
        return live.script(request -> {
            if (failure.isEmpty()) {
                request.ok(fields, RawInput.latin1("answer"));
            } else {
                request.send("HTTP/1.1 " + failure + " Sorry\r\nContent-Length: 0\r\n\r\n");
            }
        });
    }

    /** What is answered for a response that is a minute old, while the origin fails. */
    private RawClient.Response whileTheOriginFails() throws IOException {
        String path = live.fresh();
        failure = "";
        live.get(path);
        failure = "503";
        live.proxy().advanceSeconds(60);
        return live.get(path);
    }

    private int statusWhileTheOriginFails() throws IOException {
        return whileTheOriginFails().status();
    }

    /** Whether it is served once more, as it is, while a new one is fetched. */
    private boolean servesWhileItIsValidated() throws IOException {
        String path = live.fresh();
        live.get(path);
        live.proxy().advanceSeconds(60);
        return live.get(path).field("cache-status").contains("hit; ttl=-50");
    }

    /** How often the origin is asked when a client asks like this for what is stored and fresh. */
    private int fetchesWith(String field) throws IOException {
        String path = live.fresh();
        live.get(path);
        live.proxy().advanceSeconds(5);
        return live.fetchesOf(1, path, field);
    }

    @LiveKey("cache.max_stale_age")
    void maxStaleAge() throws Exception {
        answers(fields).file("cache: {max_stale_age: <7d|1s>}").turns(200, 503, this::statusWhileTheOriginFails);
    }

    @LiveKey("cache.stale_if_error")
    void staleIfError() throws Exception {
        answers(fields)
                .file("cache: {max_stale_age: 0s, stale_if_error: <0s|1h>}")
                .turns(503, 200, this::statusWhileTheOriginFails);
    }

    @LiveKey("cache.force_stale_if_error")
    void forceStaleIfError() throws Exception {
        answers("Cache-Control: max-age=10, stale-if-error=1\r\n")
                .file("cache: {force_stale_if_error: <0s|1h>}")
                .turns(503, 200, this::statusWhileTheOriginFails);
    }

    @LiveKey("cache.stale_despite_s_maxage")
    void staleDespiteSMaxage() throws Exception {
        answers("Cache-Control: s-maxage=10\r\n")
                .file("cache: {stale_despite_s_maxage: <false|true>}")
                .turns(503, 200, this::statusWhileTheOriginFails);
    }

    @LiveKey("cache.stale_while_revalidate")
    void staleWhileRevalidate() throws Exception {
        answers(fields)
                .file("cache: {stale_while_revalidate: <0s|1h>}")
                .turns(false, true, this::servesWhileItIsValidated);
    }

    @LiveKey("cache.force_stale_while_revalidate")
    void forceStaleWhileRevalidate() throws Exception {
        answers("Cache-Control: max-age=10, stale-while-revalidate=1\r\n")
                .file("cache: {force_stale_while_revalidate: <0s|1h>}")
                .turns(false, true, this::servesWhileItIsValidated);
    }

    @LiveKey("cache.negative_revalidating.enabled")
    void negativeRevalidating() throws Exception {
        answers(fields)
                .file("cache: {negative_revalidating: {enabled: <true|false>}}")
                .turns(200, 503, this::statusWhileTheOriginFails);
    }

    @LiveKey("cache.negative_revalidating.list")
    void negativeRevalidatingList() throws Exception {
        answers(fields)
                .file("cache: {negative_revalidating: {list: [<503|504>]}}")
                .turns(200, 503, this::statusWhileTheOriginFails);
    }

    @LiveKey("cache.negative_revalidating.lifetime")
    void negativeRevalidatingLifetime() throws Exception {
        answers(fields + "Expires: 0\r\n")
                .file("cache: {negative_revalidating: {lifetime: <0s|30s>}}")
                .turns(true, false, () -> whileTheOriginFails().field("expires").equals("0"));
    }

    @LiveKey("cache.ignore_client_no_cache")
    void ignoreClientNoCache() throws Exception {
        answers(fields)
                .file("cache: {ignore_client_no_cache: <false|true>}")
                .turns(1, 0, () -> fetchesWith("Cache-Control: no-cache\r\n"));
    }

    @LiveKey("cache.ignore_client_max_age")
    void ignoreClientMaxAge() throws Exception {
        answers(fields)
                .file("cache: {ignore_client_max_age: <false|true>}")
                .turns(1, 0, () -> fetchesWith("Cache-Control: max-age=1\r\n"));
    }

    @LiveKey("cache.ims_on_client_no_cache")
    void validatesOnClientNoCache() throws Exception {
        live.script(request ->
                        request.ok(fields + "X-Conditional: " + request.has("If-None-Match") + "\r\n", new byte[0]))
                .file("cache: {ims_on_client_no_cache: <true|false>}")
                .turns("true", "false", () -> {
                    String path = live.fresh();
                    live.get(path);
                    return live.get(path, "Cache-Control: no-cache\r\n").field("x-conditional");
                });
    }
}
