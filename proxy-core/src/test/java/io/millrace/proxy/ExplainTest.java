package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource.Explanation;
import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.admin.cache.LookupSource.Field;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.FilterConfig.Action;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.observe.Counter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the dry run: its result must match the real request that follows. */
class ExplainTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(String fields, UnaryOperator<ProxyConfig.Builder> more) throws Exception {
        proxy.start(request -> request.ok(fields, RawInput.latin1("content")), more);
    }

    private void start(String fields) throws Exception {
        start(fields, config -> config);
    }

    private Explanation explain(String method, String client, String path, Field... fields) throws Exception {
        return new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new Question("http://test.example" + path, method, List.of(fields), client, 0, false))
                .toCompletableFuture()
                .get();
    }

    private Explanation explain(String path, Field... fields) throws Exception {
        return explain("GET", null, path, fields);
    }

    private static Map<String, String> texts(Explanation explained) {
        return explained.steps().stream().collect(Collectors.toMap(Step::name, Step::text));
    }

    private static String by(Explanation explained, String name) {
        return explained.steps().stream()
                .filter(step -> step.name().equals(name))
                .findFirst()
                .orElseThrow()
                .by();
    }

    @Test
    void aMissIsFetched() throws Exception {
        start("Cache-Control: max-age=60\r\n");
        Explanation explained = explain("/a?b=c");
        assertEquals("fetch", explained.outcome());
        assertEquals(0, explained.status());
        assertNull(explained.tier());
        assertEquals(proxy.origin().url() + "/a?b=c", explained.originUrl());
        Map<String, String> texts = texts(explained);
        assertEquals("nothing is stored", texts.get("lookup"));
        assertEquals("fetched from the origin (uri-miss)", texts.get("answer"));
        assertTrue(by(explained, "rule").startsWith("remap[0]"), by(explained, "rule"));
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void aResponseThatCouldNotBeStoredIsNamedWithTimeAndReason() throws Exception {
        start("Cache-Control: private\r\n");
        Instant received = Instant.ofEpochMilli(ProxyExtension.START_MILLIS);
        proxy.getAndSettle("/a");
        proxy.advanceSeconds(30);
        Map<String, String> texts = texts(explain("/a"));
        assertEquals(
                "not cached: the origin's response of " + received + " has Cache-Control: private",
                texts.get("lookup"));
        assertEquals(
                "not stored if the origin answers as before; another answer needs a lifetime or a validator",
                texts.get("storing"));
    }

    @Test
    void rulesThatMatchAreNamed() throws Exception {
        start(
                "",
                config -> config.rules(ConfigLoader.parse(
                                "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\nrules:\n"
                                        + "  - {when: 'path == \"/a\"', ttl: 1h}\n"
                                        + "  - {when: 'path == \"/b\"', answer: {status: 403}}\n"
                                        + "  - {when: 'status == 404', set_response_header: {X-A: b}}\n",
                                "m.yaml",
                                Map.of())
                        .config()
                        .values()
                        .elements(RuleKeys.RULES)));
        Explanation explained = explain("/a");
        assertEquals(
                "rules[0]: ttl; rules[2], if the response matches: set_response_header",
                texts(explained).get("rules"));
        assertEquals("rules[0] at m.yaml:4:5, rules[2] at m.yaml:6:5", by(explained, "rules"));
        assertEquals("matched by rules[0]", texts(explained).get("cache-rules"));
        assertEquals("rules[0] at m.yaml:4:5", by(explained, "cache-rules"));
        Explanation answered = explain("/b");
        assertEquals("answer", answered.outcome());
        assertEquals(403, answered.status());
        assertEquals("403, by answer of rules[1]", texts(answered).get("answer"));
    }

    @Test
    void requestLimitsAreShownWithoutCounting() throws Exception {
        start(
                "Cache-Control: max-age=60\r\n",
                config -> config.requestLimits(ConfigLoader.parse(
                                "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\nrequest_limits:\n"
                                        + "  - {name: api, rate: 1/h, burst: 2, when: 'path == \"/a\"'}\n"
                                        + "  - {name: user, rate: 1/s, key: 'cookie[\"u\"]'}\n",
                                "m.yaml",
                                Map.of())
                        .config()
                        .values()
                        .elements(RequestLimitKeys.LIMITS)));
        for (int i = 0; i < 3; i++) {
            assertEquals(
                    "api (1/h): 2 of 2 requests left; user (1/s): does not count this request",
                    texts(explain("/a")).get("request-limits"));
        }
        proxy.getAndSettle("/a");
        proxy.getAndSettle("/a");
        Explanation refused = explain("/a");
        assertEquals("deny", refused.outcome());
        assertEquals(429, refused.status());
        assertEquals("api at m.yaml:4:5, user at m.yaml:5:5", by(refused, "request-limits"));
        assertEquals(
                "api (1/h): reached; user (1/s): does not count this request",
                texts(refused).get("request-limits"));
        assertEquals(
                "429, more requests than the limit api permits, 1/h",
                texts(refused).get("answer"));
    }

    @Test
    void sourceAddressAndTimeOfTheRequestAreNamed() throws Exception {
        start("Cache-Control: max-age=60\r\n", config -> config.set("origin.source_address", "127.0.0.2")
                .set("timeouts.transaction", "20s"));
        assertEquals(
                proxy.origin().url() + "/a, from 127.0.0.2, within 20s",
                texts(explain("/a")).get("origin"));
    }

    @Test
    void lifetimeThatIsNotGuessedBecauseOfCookiesHasItsReason() throws Exception {
        start("Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\nSet-Cookie: a=b\r\n");
        Explanation before = explain("/a", new Field("Cookie", "a=b"));
        assertEquals(
                "no heuristic lifetime for text, JSON and XML, as the request has Cookie",
                texts(before).get("guess"));
        assertEquals("cache.guessed_lifetime_with_cookies", by(before, "guess"));
        proxy.getAndSettle("/a");
        Explanation after = explain("/a");
        assertEquals("validate", after.outcome());
        assertEquals(
                "0 s by no heuristic, because of Cookie, Authorization or Set-Cookie",
                texts(after).get("lifetime"));
        assertEquals("cache.guessed_lifetime_with_cookies", by(after, "lifetime"));
    }

    @Test
    void storedResponseThatDoesNotAnswerAuthorizationHasItsReason() throws Exception {
        start("Cache-Control: max-age=60\r\n", config -> config.set("cache.reuse_with_authorization", "if_allowed"));
        proxy.getAndSettle("/a");
        Explanation explained = explain("/a", new Field("Authorization", "x"));
        assertEquals("fetch", explained.outcome());
        assertEquals("not for this request: authorization", texts(explained).get("reuse"));
        assertEquals("cache.reuse_with_authorization", by(explained, "reuse"));
        assertEquals("hit", explain("/a").outcome());
    }

    /** RFC 9111 s4.2: lifetime minus age, each with the field that determines it. */
    @Test
    void aFreshResponseIsExplainedWithItsArithmetic() throws Exception {
        start("Cache-Control: public, s-maxage=60, max-age=5\r\nAge: 7\r\n");
        proxy.get("/a");
        proxy.advanceSeconds(10);
        Explanation explained = explain("/a");
        assertEquals("hit", explained.outcome());
        assertEquals(200, explained.status());
        assertEquals("ram", explained.tier());
        assertNull(explained.originUrl());
        Map<String, String> texts = texts(explained);
        assertEquals("60 s by s-maxage", texts.get("lifetime"));
        assertEquals("Cache-Control: public, s-maxage=60, max-age=5", by(explained, "lifetime"));
        assertEquals("17 s: 7 s on arrival, 10 s since then", texts.get("age"));
        assertEquals("the answer's Age, or its Date", by(explained, "age"));
        assertEquals("60 - 17 = 43 s: fresh for 43 s more", texts.get("freshness"));
        assertEquals("answered from the cache, without an origin request", texts.get("answer"));
        assertEquals(1, proxy.origin().requests());
        assertEquals("17", proxy.get("/a").field("age"));
    }

    /** RFC 9110 s13.2.2, s14. */
    @ParameterizedTest
    @CsvSource({
        "If-None-Match, '\"v1\"', 304",
        "If-None-Match, '\"v2\"', 200",
        "Range, bytes=0-1, 206",
        "Range, bytes=100-, 416"
    })
    void aHitHasTheStatusThatConditionsAndRangesMakeOfIt(String name, String value, int status) throws Exception {
        start("Cache-Control: max-age=60\r\nETag: \"v1\"\r\n");
        proxy.get("/a");
        Explanation explained = explain("/a", new Field(name, value));
        assertEquals("hit", explained.outcome());
        assertEquals(status, explained.status());
        assertEquals(
                "answered from the cache" + (status == 200 ? "" : " with " + status) + ", without an origin request",
                texts(explained).get("answer"));
        assertEquals(status, proxy.get("/a", name + ": " + value + "\r\n").status());
    }

    @Test
    void aStaleResponseIsValidatedByItsTag() throws Exception {
        start("Cache-Control: max-age=5, stale-if-error=60\r\nETag: \"v1\"\r\n");
        proxy.get("/a");
        proxy.advanceSeconds(9);
        Explanation explained = explain("/a");
        assertEquals("validate", explained.outcome());
        Map<String, String> texts = texts(explained);
        assertEquals("5 - 9 = -4 s: stale for 4 s", texts.get("freshness"));
        assertEquals(
                "to be validated: stale; if the origin fails, stale-if-error permits it for 60 s", texts.get("reuse"));
        assertEquals("the stored response is validated with the origin (If-None-Match: \"v1\")", texts.get("answer"));
        assertEquals(1, proxy.origin().requests());
    }

    /** RFC 5861 s3. */
    @Test
    void aStaleResponseMayAnswerDuringItsValidation() throws Exception {
        start("Cache-Control: max-age=5, stale-while-revalidate=30\r\n");
        proxy.get("/a");
        proxy.advanceSeconds(9);
        Explanation explained = explain("/a");
        assertEquals("stale", explained.outcome());
        assertEquals(
                "stale for 4 s, below 30 s of stale-while-revalidate: used, and validated in the background",
                texts(explained).get("reuse"));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void theRequestsOwnWordIsNamed() throws Exception {
        start("Cache-Control: max-age=60\r\n", config -> config.set("cache.ignore_client_no_cache", "false"));
        proxy.get("/a");
        Explanation explained = explain("/a", new Field("Cache-Control", "max-age=0"));
        assertEquals("request's Cache-Control: max-age=0", by(explained, "reuse"));
        Explanation never = explain("/b", new Field("Cache-Control", "no-store"));
        assertEquals("the answer is not stored: request-no-store", texts(never).get("storing"));
        assertEquals(
                "unavailable",
                explain("/c", new Field("Cache-Control", "only-if-cached")).outcome());
    }

    @Test
    void theVariantIsChosenByTheFieldsGiven() throws Exception {
        start("Cache-Control: max-age=60\r\nVary: X-Device\r\n");
        proxy.get("/a", "X-Device: phone\r\n");
        assertEquals("fetch", explain("/a", new Field("X-Device", "desk")).outcome());
        Explanation phone = explain("/a", new Field("X-Device", "phone"));
        assertEquals("hit", phone.outcome());
        assertEquals("Vary: X-Device", by(phone, "lookup"));
    }

    /** The body is too long for RAM, so nothing loads it there after the start. */
    @Test
    void anObjectOnDiskIsReadForTheExplanation() throws Exception {
        byte[] content = new byte[4 << 20];
        proxy.start(
                request -> request.ok("Cache-Control: max-age=60\r\n", content),
                config -> config.storage(directory.resolve("volume"), 64L << 20));
        proxy.get("/a");
        proxy.restart();
        for (int i = 0; i < 3; i++) {
            Explanation explained = explain("/a");
            assertEquals("hit", explained.outcome());
            assertEquals("disk", explained.tier());
        }
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void theFilterThatRefusesIsNamed() throws Exception {
        ConfigValues office = ConfigValues.builder()
                .set(FilterKeys.ACTION, Action.ALLOW)
                .set(FilterKeys.SRC_IP, AddressSet.parse("10.0.0.0/8"))
                .build();
        proxy.withoutRules();
        start(
                "Cache-Control: max-age=60\r\n",
                config -> config.map(
                        "/",
                        proxy.origin().url(),
                        ConfigValues.builder()
                                .set(FilterKeys.RULE_FILTERS, List.of(office))
                                .build()));
        Explanation refused = explain("/a");
        assertEquals("deny", refused.outcome());
        assertEquals(403, refused.status());
        assertEquals("no-filter:remap[0].filters", refused.denial());
        assertEquals("no filter of remap[0].filters allows the request", by(refused, "filters"));
        Explanation passed = explain("GET", "10.1.2.3", "/a");
        assertEquals("fetch", passed.outcome());
        assertEquals("the filters allow GET from 10.1.2.3", texts(passed).get("filters"));
        assertEquals(403, proxy.get("/a").status());
        assertEquals(1, proxy.counted(Counter.DENIED_FILTER), "what is explained counts as no denial");
    }

    @ParameterizedTest(name = "{0} from {1}: {2}")
    @CsvSource({
        "https://test.example/a, , 421",
        "https://test.example/a, 192.0.2.1, 421",
        "https://test.example/a, 10.0.0.1, 0",
        "http://test.example/a, , 0"
    })
    void httpsUrlOverAListenerWithoutTlsIsExplained(String url, String client, int status) throws Exception {
        start("Cache-Control: max-age=60\r\n", config -> config.set("access.trusted_proxies", "10.0.0.1"));
        List<Field> fields = List.of(new Field("X-Forwarded-Proto", "https"));
        Explanation explained = new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new Question(url, "GET", fields, client, 0, true))
                .toCompletableFuture()
                .get();
        assertEquals(status, explained.status());
        assertEquals(status == 0 ? "fetch" : "deny", explained.outcome());
        assertEquals(0, proxy.counted(Counter.DENIED_SCHEME));
    }

    @Test
    void originFormNeedsAListenerOfTheUrlsScheme() throws Exception {
        start("Cache-Control: max-age=60\r\n");
        int port = proxy.address().getPort();
        Question question = new Question("https://test.example/a", "GET", List.of(), null, port, false);
        ExecutionException refused =
                assertThrows(ExecutionException.class, () -> new RequestExplanation(new ServerView(proxy.proxy()))
                        .explain(question)
                        .toCompletableFuture()
                        .get());
        String message =
                assertInstanceOf(AdminException.class, refused.getCause()).getMessage();
        assertTrue(message.contains("port " + port + " does not speak TLS"), message);
    }

    @Test
    void redirectionsMethodsAndUnmappedRequestsAreExplained() throws Exception {
        proxy.withoutRules();
        start("Cache-Control: max-age=60\r\n", config -> config.rule(
                        RemapVerb.REDIRECT, "http://test.example/old/", "https://new.example/", ConfigValues.empty())
                .map("http://test.example/a/", proxy.origin().url()));
        Explanation moved = explain("/old/x");
        assertEquals("redirect", moved.outcome());
        assertEquals(301, moved.status());
        assertEquals(
                "301 to https://new.example/x (redirect:remap[0])", texts(moved).get("answer"));
        Explanation trace = explain("TRACE", null, "/a/");
        assertEquals(405, trace.status());
        assertEquals("remap[1].methods", by(trace, "access"));
        Explanation none = explain("/nothing");
        assertEquals(404, none.status());
        assertEquals("404, no remap rule maps this URL", texts(none).get("answer"));
        assertTrue(texts(none).get("rule").endsWith("; add its host and path to remap"), texts(none)::toString);
        assertEquals(0, proxy.counted(Counter.DENIED_NOT_MAPPED));
    }

    @Test
    void aPostGoesToTheOriginAsItIs() throws Exception {
        start("Cache-Control: max-age=60\r\n");
        Explanation explained = explain("POST", null, "/a", new Field("Content-Length", "3"));
        assertEquals("pass", explained.outcome());
        assertEquals(
                "is sent to the origin unchanged (method)", texts(explained).get("answer"));
        assertNull(explained.key());
    }

    /** The fetch in progress that a request would wait for is reported, and the request then waits for it. */
    @Test
    void aCurrentFetchIsAwaited() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    go.await();
                    request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("content"));
                },
                config -> config.set("cache.collapse_wait", "7s"));
        RawClient leader = proxy.client().get("/a");
        ProxyExtension.await("a request at the origin", () -> proxy.origin().requests() == 1);
        Explanation explained = explain("/a");
        assertTrue(explained.collapsed());
        assertEquals("fetch", explained.outcome());
        Map<String, String> texts = texts(explained);
        assertEquals(
                "another request fetches the response already: this request waits for it, at most 7 s",
                texts.get("collapse"));
        assertEquals("cache.collapse_wait", by(explained, "collapse"));
        assertEquals(proxy.origin().url() + "/a is being fetched already", texts.get("origin"));
        assertEquals("waits for the fetch of another request (uri-miss)", texts.get("answer"));
        assertFalse(explain("/b").collapsed(), "another URL");
        assertFalse(explain("HEAD", null, "/a").collapsed(), "a HEAD is sent as it is");
        assertFalse(explain("/a", new Field("Range", "bytes=0-0,2-2")).collapsed(), "ranges that are sent as they are");
        assertEquals(0, proxy.counted(Counter.LOOKUPS_FILLING), "what is explained counts as no waiting");
        RawClient waiter = proxy.client().get("/a");
        proxy.awaitFollowers(1);
        go.countDown();
        assertEquals("content", leader.response().text());
        assertEquals("content", waiter.response().text());
        assertEquals(1, proxy.origin().requests());
        assertFalse(explain("/a").collapsed());
    }

    @ParameterizedTest
    @CsvSource({"cache.collapse_wait, 0s", "cache.read_while_writing, never"})
    void aCurrentFetchIsNotAwaitedWhenConfiguredSo(String key, String value) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    go.await();
                    request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("content"));
                },
                config -> config.set(key, value));
        RawClient leader = proxy.client().get("/a");
        ProxyExtension.await("a request at the origin", () -> proxy.origin().requests() == 1);
        assertFalse(explain("/a").collapsed());
        go.countDown();
        assertEquals("content", leader.response().text());
    }

    @Test
    void aCurrentValidationIsAwaitedOrPreventsAnother() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        startWithAValidationThatWaits(go);
        proxy.get("/a");
        proxy.advanceSeconds(9);
        RawClient first = proxy.client().get("/a");
        assertEquals("content", first.response().text());
        ProxyExtension.await("a validation at the origin", () -> proxy.origin().requests() == 2);
        Explanation aside = explain("/a");
        assertEquals("stale", aside.outcome());
        assertEquals(200, aside.status());
        assertTrue(aside.collapsed());
        assertEquals(
                "another request fetches the response already: no validation is begun",
                texts(aside).get("collapse"));
        proxy.advanceSeconds(60);
        Explanation waiting = explain("/a");
        assertEquals("validate", waiting.outcome());
        assertTrue(waiting.collapsed());
        assertEquals(
                "waits for the fetch of another request (stale)", texts(waiting).get("answer"));
        go.countDown();
    }

    private void startWithAValidationThatWaits(CountDownLatch go) throws Exception {
        proxy.start(request -> {
            if (request.has("If-None-Match")) {
                go.await();
            }
            request.ok(
                    "Cache-Control: max-age=5, stale-while-revalidate=30\r\nETag: \"v1\"\r\n",
                    RawInput.latin1("content"));
        });
    }

    /** RFC 9110 s15.5.15, RFC 6585 s5: at the limit, and one byte above it; the real response agrees. */
    @ParameterizedTest
    @CsvSource({"256, false, 200", "257, true, 414"})
    void aRequestLineIsMeasured(int bytes, boolean refused, int status) throws Exception {
        start("Cache-Control: max-age=60\r\n", config -> config.set("limits.request_line", "256B"));
        String path = "/" + "a".repeat(bytes - "GET / HTTP/1.1\r\n".length());
        Explanation explained = explain(path);
        assertEquals(refused ? "deny" : "fetch", explained.outcome());
        assertEquals(status, proxy.get(path).status());
        if (refused) {
            assertEquals(status, explained.status());
            assertEquals(
                    "the request line has 257 bytes, the limit is 256",
                    texts(explained).get("limits"));
            assertEquals("limits.request_line", by(explained, "limits"));
            assertEquals(
                    "414, request line longer than limits.request_line",
                    texts(explained).get("answer"));
            assertNull(explained.rule());
        }
        assertEquals(refused ? 0 : 1, proxy.origin().requests());
    }

    @ParameterizedTest
    @CsvSource({"1024, false, 200", "1025, true, 431"})
    void aFieldSectionIsMeasured(int bytes, boolean refused, int status) throws Exception {
        start("Cache-Control: max-age=60\r\n", config -> config.set("limits.request_header", "1KiB"));
        String value = "a".repeat(bytes - "Host: test.example\r\nX-A: \r\n\r\n".length());
        Explanation explained = explain("/a", new Field("X-A", value));
        assertEquals(refused ? "deny" : "fetch", explained.outcome());
        assertEquals(refused ? status : 0, explained.status());
        assertEquals(status, proxy.get("/a", "X-A: " + value + "\r\n").status());
    }

    @Test
    void contentIsMeasured() throws Exception {
        start("Cache-Control: max-age=60\r\n", config -> config.set("limits.request_body", "10B"));
        assertEquals(
                413,
                explain("POST", null, "/a", new Field("Content-Length", "11")).status());
        assertEquals(
                "pass",
                explain("POST", null, "/a", new Field("Content-Length", "10")).outcome());
    }

    /** A fault completes the dry run and releases its objects; otherwise the caller would wait for ever. */
    @Test
    void aFaultOnTheWayIsTheAnswer() throws Exception {
        start("Cache-Control: max-age=60\r\n");
        proxy.get("/a");
        for (int look = 1; look <= 3; look++) {
            proxy.failClockAt(look);
            assertThrows(ExecutionException.class, () -> explain("/a"));
        }
        assertEquals("hit", explain("/a").outcome());
    }

    @ParameterizedTest
    @CsvSource({
        "nohost, GET, , 0, not an absolute http or https URL: nohost",
        "http://a/, GET, nobody, 0, not an IP address: nobody",
        "http://a/, G ET, , 0, not a method: G ET",
        "http://a/, GET, , 1, this proxy does not listen on port 1",
        "http://a/, PURGE, , 0, PURGE is not a request for content: see docs/guide/purging.md"
    })
    void impossibleRequestsAreRefused(String url, String method, String client, int port, String message)
            throws Exception {
        start("");
        ExecutionException refused =
                assertThrows(ExecutionException.class, () -> new RequestExplanation(new ServerView(proxy.proxy()))
                        .explain(new Question(url, method, List.of(), client, port, false))
                        .toCompletableFuture()
                        .get());
        assertEquals(
                message,
                assertInstanceOf(AdminException.class, refused.getCause()).message());
    }

    private Explanation overHttp2(String url, Field... fields) throws Exception {
        return new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new Question(url, "GET", List.of(fields), null, 0, false, true))
                .toCompletableFuture()
                .get();
    }

    /** The limit is that of HTTP/2, with 32 more bytes per field; one byte decides. */
    @Test
    void requestsOfHttp2HaveLimitsOfTheirOwn() throws Exception {
        start("", config -> config.set("http2.header_list", "1KiB").set("limits.request_header", "32KiB"));
        int rest = 1024 - (":methodGET:schemehttp:path/a:authoritytest.examplex".length() + 5 * 32);
        assertEquals(
                "fetch",
                overHttp2("http://test.example/a", new Field("X", "v".repeat(rest)))
                        .outcome());
        Explanation refused = overHttp2("http://test.example/a", new Field("X", "v".repeat(rest + 1)));
        assertEquals("deny", refused.outcome());
        assertEquals(431, refused.status());
        assertEquals("http2.header_list", refused.steps().get(0).by());
        assertEquals(
                "fetch", explain("/a", new Field("X", "v".repeat(rest + 1))).outcome());
        Throwable problem = assertThrows(
                        ExecutionException.class,
                        () -> overHttp2("http://test.example/a", new Field("Connection", "close")))
                .getCause();
        assertTrue(problem.getMessage().contains("HTTP/2 has no field Connection"), problem::getMessage);
    }

    @Test
    void compressionIsExplained() throws Exception {
        start(
                "Cache-Control: max-age=600\r\nContent-Type: text/html\r\n",
                config -> config.set("compression.enabled", "true"));
        List<Step> steps = explain("GET", "192.0.2.1", "/a", new Field("Accept-Encoding", "gzip"))
                .steps();
        assertTrue(
                steps.stream().anyMatch(step -> step.text().equals("content of the listed types is encoded with gzip")),
                steps::toString);
    }

    /** The dry run knows no such dictionary, as the request itself would not. */
    @Test
    void anUnknownDictionaryIsExplained() throws Exception {
        start(
                "Cache-Control: max-age=600\r\nContent-Type: text/html\r\n",
                config -> config.set("compression.enabled", "true").set("compression.dictionaries.enabled", "true"));
        Field hash = new Field("Available-Dictionary", ":" + "A".repeat(43) + "=:");
        Map<String, String> texts =
                texts(explain("GET", "192.0.2.1", "/a", new Field("Accept-Encoding", "dcb, gzip"), hash));
        assertEquals("content of the listed types is encoded with gzip", texts.get("compression"));
        assertTrue(texts.get("dictionary").startsWith("the client's dictionary is not used"), texts::toString);
    }
}
