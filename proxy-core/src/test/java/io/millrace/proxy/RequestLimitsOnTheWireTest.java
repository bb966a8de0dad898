package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests request rate limits with real clients. */
class RequestLimitsOnTheWireTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private static List<ConfigValues> limits(String limits) {
        ConfigResult result = ConfigLoader.parse(
                "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\nrequest_limits: " + limits, "m.yaml", Map.of());
        assertNotNull(result.config(), result::text);
        return result.config().values().elements(RequestLimitKeys.LIMITS);
    }

    private ProxyConfig.Builder limited(ProxyConfig.Builder fresh, String limits) {
        return fresh.listen(
                        "127.0.0.1:0",
                        ConfigValues.builder().set(Http2Keys.LISTEN_CLEAR, true).build())
                .requestLimits(limits(limits));
    }

    private void start(String limits) throws IOException {
        proxy.start(
                request -> request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content")),
                fresh -> limited(fresh, limits));
    }

    private String metrics() {
        return proxy.proxy().metricsText();
    }

    @Test
    void hitsBeyondTheLimitAreRefused() throws Exception {
        start("[{name: api, rate: 1/h, burst: 3, when: 'path =~ \"^/a\"'}]");
        assertEquals(200, proxy.getAndSettle("/a").status());
        try (RawClient client = proxy.client()) {
            for (int i = 0; i < 2; i++) {
                RawClient.Response hit = client.get("/a").response();
                assertEquals(200, hit.status());
                assertTrue(hit.field("cache-status").contains("hit"), hit.head());
                assertNull(hit.field("ratelimit"), hit.head());
            }
            RawClient.Response refused = client.get("/a").response();
            assertEquals(429, refused.status());
            assertEquals("\"api\";q=3;w=10800", refused.field("ratelimit-policy"));
            int wait = Integer.parseInt(refused.field("retry-after"));
            assertTrue(wait > 3500 && wait <= 3600, refused.head());
            assertEquals("\"api\";r=0;t=" + wait, refused.field("ratelimit"));
            assertEquals("no-store", refused.field("cache-control"));
            assertTrue(refused.field("cache-status").endsWith("detail=request-limit:api"), refused.head());
            assertEquals("429 Too Many Requests: more requests than the limit api permits, 1/h\n", refused.text());
            assertEquals(200, client.get("/b").response().status(), "the connection stays open");
        }
        assertEquals(1, proxy.counted(Counter.DENIED_REQUEST_LIMIT));
        assertTrue(
                metrics()
                        .contains(
                                "millrace_request_limit_refused_requests_total{application=\"millrace\",limit=\"api\"} 1"),
                metrics());
        assertTrue(metrics().contains("millrace_request_limit_keys{application=\"millrace\"} 1"), metrics());
    }

    @Test
    void http2AndHttp1ShareALimit() throws Exception {
        start("[{name: api, rate: 1/h, burst: 2}]");
        assertEquals(200, proxy.getAndSettle("/a").status());
        try (Http2Client client = new Http2Client(proxy.proxy().addresses().get(1))) {
            assertEquals(
                    200,
                    client.headers(1, true, Http2Client.request("GET", "/a"))
                            .response(1)
                            .status());
            Http2Client.Response refused =
                    client.headers(3, true, Http2Client.request("GET", "/a")).response(3);
            assertEquals(429, refused.status());
            assertEquals("\"api\";q=2;w=7200", refused.field("ratelimit-policy"));
        }
    }

    @Test
    void aLimitInDryRunOnlyCounts() throws Exception {
        start("[{name: api, rate: 1/h, dry_run: true}]");
        for (int i = 0; i < 3; i++) {
            assertEquals(200, proxy.getAndSettle("/a").status());
        }
        assertEquals(0, proxy.counted(Counter.DENIED_REQUEST_LIMIT));
        assertTrue(
                metrics()
                        .contains(
                                "millrace_request_limit_dry_run_requests_total{application=\"millrace\",limit=\"api\"} 2"),
                metrics());
    }

    @Test
    void aRequestThatPassesTwoLanesIsCountedOnce() throws Exception {
        start("[{name: api, rate: 1/h, burst: 4, key: 'request_header[\"X-Key\"]'}]");
        for (int i = 0; i < 4; i++) {
            assertEquals(200, proxy.getAndSettle("/" + i, "X-Key: k\r\n").status(), "miss " + i);
        }
        assertEquals(429, proxy.get("/0", "X-Key: k\r\n").status());
        assertEquals(200, proxy.get("/0", "X-Key: other\r\n").status());
        assertEquals(200, proxy.get("/0").status(), "without the field nothing is counted");
    }

    @Test
    void unmappedRequestsAndRedirectionsAreCounted() throws Exception {
        proxy.withoutRules()
                .start(
                        request -> request.ok("", new byte[0]),
                        fresh -> limited(
                                fresh.map("http://other.example/", "http://o.example/"), "[{name: a, rate: 1/h}]"));
        assertEquals(404, proxy.get("/a").status());
        assertEquals(429, proxy.get("/a").status());
    }

    @Test
    void aReloadKeepsTheCounts() throws Exception {
        start("[{name: api, rate: 1/h, burst: 2}]");
        assertEquals(200, proxy.getAndSettle("/a").status());
        proxy.reload(
                builder -> builder.requestLimits(limits("[{name: api, rate: 1/h, burst: 2}, {name: b, rate: 9/s}]")));
        assertEquals(200, proxy.get("/a").status());
        assertEquals(429, proxy.get("/a").status());
        proxy.reload(builder -> builder.requestLimits(limits("[{name: api, rate: 1/h, burst: 3}]")));
        assertEquals(200, proxy.get("/a").status(), "a change of the limit resets its counts");
    }
}
