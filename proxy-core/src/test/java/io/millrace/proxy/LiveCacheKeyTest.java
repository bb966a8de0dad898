package io.millrace.proxy;

import java.io.IOException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of cache keys. */
class LiveCacheKeyTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    /** Returns the number of requests to the origin for two queries of one path. */
    private int fetchesOf(String one, String other) throws IOException {
        String path = live.fresh();
        return live.fetchesOf(1, path + "?" + one) + live.fetchesOf(1, path + "?" + other);
    }

    /** Returns the number of requests to the origin for two clients with different fields. */
    private int fetchesWith(String one, String other) throws IOException {
        String path = live.fresh();
        return live.fetchesOf(1, path, one) + live.fetchesOf(1, path, other);
    }

    @LiveKey("cache.key.ignore_query")
    void ignoreQuery() throws Exception {
        live.file("cache: {key: {ignore_query: <false|true>}}").turns(2, 1, () -> fetchesOf("a=1", "a=2"));
    }

    @LiveKey("cache.key.included_params")
    void includedParams() throws Exception {
        live.file("cache: {key: {included_params: [<b|a>]}}").turns(2, 1, () -> fetchesOf("a=1&b=1", "a=1&b=2"));
    }

    @LiveKey("cache.key.excluded_params")
    void excludedParams() throws Exception {
        live.file("cache: {key: {excluded_params: [<|b>]}}").turns(2, 1, () -> fetchesOf("a=1&b=1", "a=1&b=2"));
    }

    @LiveKey("cache.key.sorted_params")
    void sortedParams() throws Exception {
        live.file("cache: {key: {sorted_params: <false|true>}}").turns(2, 1, () -> fetchesOf("a=1&b=1", "b=1&a=1"));
    }

    @LiveKey("cache.key.send_whole_query")
    void sendWholeQuery() throws Exception {
        live.echoes()
                .file("cache: {key: {ignore_query: true, send_whole_query: <false|true>}}")
                .turns(false, true, () -> live.text(live.fresh() + "?a=1").contains("?a=1 "));
    }

    @LiveKey("cache.key.host")
    void host() throws Exception {
        live.file("cache: {key: {<|host: shared.example>}}").turns(2, 1, () -> {
            int before = live.proxy().origin().requests();
            String path = live.fresh();
            for (String host : new String[] {"one.example", "two.example"}) {
                live.proxy()
                        .client()
                        .send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                        .response();
                live.settle();
            }
            return live.proxy().origin().requests() - before;
        });
    }

    @LiveKey("cache.key.fields")
    void fields() throws Exception {
        live.file("cache: {key: {fields: [<|X-Tells>]}}")
                .turns(1, 2, () -> fetchesWith("X-Tells: 1\r\n", "X-Tells: 2\r\n"));
    }

    @LiveKey("cache.key.cookies")
    void cookies() throws Exception {
        live.file("cache: {key: {cookies: [<|tells>]}}")
                .turns(1, 2, () -> fetchesWith("Cookie: tells=1\r\n", "Cookie: tells=2\r\n"));
    }

    @LiveKey("cache.key.generation")
    void generation() throws Exception {
        live.file("cache: {key: {generation: <-1|7>}}").start();
        live.get("/stored");
        live.turns(0, 1, () -> live.fetchesOf(1, "/stored"));
    }
}
