package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.admin.cache.LookupSource.Field;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.observe.Counter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the CORS protocol of the Fetch standard with real clients. */
class CorsOnTheWireTest {
    private static final String A = "Origin: https://a.example\r\n";
    private static final String B = "Origin: https://b.example\r\n";
    private static final String LIST = "cors: {origins: ['https://a.example', '~https://[a-z]+\\.sub\\.example']}";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final AtomicReference<String> lastRequest = new AtomicReference<>("");

    /** Starts an origin that answers for CORS itself, with other values than those of the proxy. */
    private void start(String text) throws Exception {
        proxy.start(
                request -> {
                    lastRequest.set(request.head());
                    request.ok(
                            "Cache-Control: max-age=60\r\nVary: Accept-Language, origin\r\n"
                                    + "Access-Control-Allow-Origin: https://origin.example\r\n"
                                    + "access-control-allow-credentials: true\r\n"
                                    + "Access-Control-Max-Age: 600\r\n",
                            RawInput.latin1("content"));
                },
                fresh -> {
                    ConfigResult result = ConfigLoader.parse(
                            text.replace("@origin", proxy.origin().url())
                                    + (text.contains("remap:")
                                            ? ""
                                            : "\nremap: [{map: /, to: '"
                                                    + proxy.origin().url() + "'}]"),
                            "m.yaml",
                            Map.of(
                                    "listen", "['127.0.0.1:0']",
                                    "log.access.enabled", "false",
                                    "cache.ram_size", "32MiB",
                                    "worker.event_loops", "1",
                                    "worker.fast_lane",
                                            String.valueOf(
                                                    fresh.build().worker().fastLane())));
                    assertNotNull(result.config(), result::text);
                    return result.config().toBuilder();
                });
    }

    private RawClient.Response preflight(String path, String... fields) throws Exception {
        try (RawClient client = proxy.client()) {
            return client.send("OPTIONS " + path + " HTTP/1.1\r\nHost: test.example\r\n"
                            + "Access-Control-Request-Method: PUT\r\n" + String.join("", fields) + "\r\n")
                    .response();
        }
    }

    /** Returns the lines of the CORS protocol and of Vary, in lower case and sorted. */
    private static List<String> lines(RawClient.Response response) {
        return response.head()
                .lines()
                .map(line -> line.toLowerCase(Locale.ROOT))
                .filter(line -> line.startsWith("access-control-") || line.startsWith("vary:"))
                .sorted()
                .toList();
    }

    @Test
    void oneStoredResponseServesAllOrigins() throws Exception {
        start(LIST);
        List<String> permitted =
                List.of("access-control-allow-origin: https://a.example", "vary: accept-language", "vary: origin");
        List<String> refused = List.of("vary: accept-language", "vary: origin");
        assertEquals(permitted, lines(proxy.getAndSettle("/a", A)));
        assertEquals(permitted, lines(proxy.get("/a", A)));
        assertEquals(refused, lines(proxy.get("/a", B)));
        assertEquals(refused, lines(proxy.get("/a")));
        assertEquals(
                List.of("access-control-allow-origin: https://x.sub.example", "vary: accept-language", "vary: origin"),
                lines(proxy.get("/a", "Origin: https://x.sub.example\r\n")));
        assertEquals(refused, lines(proxy.get("/a", "Origin: https://x.sub.example.evil\r\n")));
        assertEquals(refused, lines(proxy.get("/a", A, A)), "two fields are no origin");
        assertEquals(1, proxy.origin().requests());
        assertFalse(lastRequest.get().contains("Origin: "), lastRequest.get());
    }

    @Test
    void hitsStayInTheFastLane() throws Exception {
        start(LIST);
        proxy.getAndSettle("/a", A);
        long before = proxy.counted(Counter.FAST_LANE_ANSWERED);
        proxy.get("/a", A);
        boolean isFast = proxy.proxy().config().worker().fastLane()
                && io.millrace.proxy.net.Transport.choose("auto").hasPlainSockets();
        assertEquals(isFast ? 1 : 0, proxy.counted(Counter.FAST_LANE_ANSWERED) - before);
    }

    @Test
    void anyOriginNeedsNoVary() throws Exception {
        start("cors: {origins: '*', expose: [X-A, X-B]}");
        List<String> expected = List.of(
                "access-control-allow-origin: *", "access-control-expose-headers: x-a, x-b", "vary: accept-language");
        assertEquals(expected, lines(proxy.getAndSettle("/a")));
        assertEquals(expected, lines(proxy.get("/a", B)));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void preflightIsAnsweredWhileTheOriginIsDown() throws Exception {
        start("cors: {origins: ['https://a.example'], methods: [GET, PUT], headers: [X-A, Content-Type],"
                + " credentials: true, max_age: 10m}\nmethods: [GET, PUT]");
        proxy.origin().close();
        RawClient.Response answer = preflight("/a", A, "Access-Control-Request-Headers: x-a\r\n");
        assertEquals(204, answer.status());
        assertEquals(
                List.of(
                        "access-control-allow-credentials: true",
                        "access-control-allow-headers: x-a, content-type",
                        "access-control-allow-methods: get, put",
                        "access-control-allow-origin: https://a.example",
                        "access-control-max-age: 600",
                        "vary: origin"),
                lines(answer));
        assertNull(answer.field("content-length"));
        assertEquals(1, proxy.counted(Counter.CORS_PREFLIGHTS));
        RawClient.Response refused = preflight("/a", B);
        assertEquals(403, refused.status());
        assertEquals(List.of("vary: origin"), lines(refused));
        assertEquals(1, proxy.counted(Counter.DENIED_CORS));
        assertEquals(0, proxy.origin().requests());
    }

    /** A script can read why its request failed. */
    @Test
    void errorsOfThisProxyAreReadable() throws Exception {
        start(LIST);
        proxy.origin().close();
        RawClient.Response failed = proxy.get("/a", A);
        assertEquals(502, failed.status());
        assertEquals(List.of("access-control-allow-origin: https://a.example", "vary: origin"), lines(failed));
    }

    @Test
    void optionsWithoutAPreflightGoesToTheOrigin() throws Exception {
        start(LIST);
        try (RawClient client = proxy.client()) {
            RawClient.Response answer = client.send("OPTIONS /a HTTP/1.1\r\nHost: test.example\r\n" + A + "\r\n")
                    .response();
            assertEquals(200, answer.status());
            assertEquals("https://a.example", answer.field("access-control-allow-origin"));
        }
        assertEquals(1, proxy.origin().requests());
    }

    /** Origins recognize forged requests that change something by this field. */
    @Test
    void requestsThatAreNotStoredKeepOrigin() throws Exception {
        start(LIST);
        try (RawClient client = proxy.client()) {
            client.send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n" + A + "\r\n")
                    .response();
        }
        assertTrue(lastRequest.get().contains("Origin: https://a.example"), lastRequest.get());
    }

    @Test
    void notModifiedHasTheFieldsToo() throws Exception {
        start(LIST);
        proxy.getAndSettle("/a", A);
        RawClient.Response answer = proxy.get("/a", A, "If-Modified-Since: Thu, 01 Jan 2037 00:00:00 GMT\r\n");
        assertEquals("https://a.example", answer.field("access-control-allow-origin"));
    }

    @Test
    void rulesWithoutItPassTheFieldsOfTheOrigin() throws Exception {
        start("""
                remap:
                  - {map: http://test.example/own/, to: "@origin/", cors: {enabled: false}}
                  - {map: http://test.example/other/, to: "@origin/", cors: {origins: "https://b.example"}}
                  - {map: http://test.example/, to: "@origin/"}
                cors: {origins: "https://a.example"}
                """);
        assertEquals("https://origin.example", proxy.get("/own/", A).field("access-control-allow-origin"));
        assertEquals("https://b.example", proxy.get("/other/", B).field("access-control-allow-origin"));
        assertNull(proxy.get("/other/", A).field("access-control-allow-origin"));
        assertEquals("https://a.example", proxy.get("/", A).field("access-control-allow-origin"));
    }

    private Map<String, String> explained(String method, Field... fields) throws Exception {
        return new RequestExplanation(new ServerView(proxy.proxy()))
                        .explain(new Question("http://test.example/a", method, List.of(fields), null, 0, false))
                        .toCompletableFuture()
                        .get()
                        .steps()
                        .stream()
                        .collect(java.util.stream.Collectors.toMap(Step::name, Step::text));
    }

    @Test
    void explainSaysWhoMayReadTheAnswer() throws Exception {
        start("cors: {origins: 'https://a.example', credentials: true}");
        assertEquals(
                "scripts of https://a.example may read the answer; permitted origins may send credentials",
                explained("GET", new Field("Origin", "https://a.example")).get("cors"));
        assertEquals(
                "the request has no Origin, so the answer permits no script",
                explained("GET").get("cors"));
        assertEquals(
                "204, by answer of cors:preflight",
                explained(
                                "OPTIONS",
                                new Field("Origin", "https://a.example"),
                                new Field("Access-Control-Request-Method", "PUT"))
                        .get("answer"));
        Map<String, String> refused = explained(
                "OPTIONS", new Field("Origin", "https://b.example"), new Field("Access-Control-Request-Method", "PUT"));
        assertEquals("403, cors.origins does not contain the origin of the script", refused.get("answer"));
    }
}
