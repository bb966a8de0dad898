package io.millrace.proxy;

import java.io.IOException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of stale responses, and of clients that request no stored response. */
class LiveStaleTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private volatile String fields = "Cache-Control: max-age=10\r\nETag: \"1\"\r\n";
    /** The fields with which the origin fails. */
    private volatile String failure = "";

    /** Makes the origin answer as long as it does not fail. */
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

    /** Returns the response for a stored response of a minute ago, while the origin fails. */
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

    /** Returns whether the stale response is served once more while a new one is fetched. */
    private boolean servesWhileItIsValidated() throws IOException {
        String path = live.fresh();
        live.get(path);
        live.proxy().advanceSeconds(60);
        return live.get(path).field("cache-status").contains("hit; ttl=-50");
    }

    /**
     * Returns the number of requests to the origin for a client's request with this field, while a fresh response is
     * stored.
     */
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
