package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginHealth;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests several origins of one rule: the choice of the host, retries, and requests that are never retried. */
class OriginGroupTest {
    private static final RawOrigin.Script OK =
            request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1("ok"));
    private static final RawOrigin.Script RESET = RawOrigin.Exchange::reset;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    private final List<RawOrigin> origins = new ArrayList<>();
    private final List<String> urls = new ArrayList<>();

    @AfterEach
    void closeOrigins() throws IOException {
        for (RawOrigin origin : origins) {
            origin.close();
        }
    }

    private void origin(RawOrigin.Script script) throws IOException {
        RawOrigin origin = new RawOrigin(script);
        origins.add(origin);
        urls.add(origin.url());
    }

    private static RawOrigin.Script status(int status) {
        return request -> request.send("HTTP/1.1 " + status + " x\r\nContent-Length: 3\r\n\r\n" + status);
    }

    private void start() throws IOException {
        start(settings -> settings, config -> config);
    }

    private void start(UnaryOperator<ConfigValues.Builder> group, UnaryOperator<ProxyConfig.Builder> more)
            throws IOException {
        proxy.start(OK, config -> more.apply(withGroup(config, group)));
    }

    /** The first available host receives all requests, so that the test knows the host. */
    private ProxyConfig.Builder withGroup(ProxyConfig.Builder config, UnaryOperator<ConfigValues.Builder> group) {
        ConfigValues.Builder settings =
                ConfigValues.builder().set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.FIRST_LIVE);
        return config.origins("shop", group.apply(settings).build(), urls)
                .rule(
                        RemapVerb.MAP,
                        "/",
                        "http://shop.internal/base/",
                        ConfigValues.builder().set(RemapKeys.ORIGINS, "shop").build());
    }

    private OriginHealth health(int index) {
        OriginGroup group = proxy.proxy().shared().groups().all().iterator().next();
        return group.hosts().get(index).health();
    }

    private RawClient.Response send(String method, String content) throws IOException {
        String length = content.isEmpty() ? "" : "Content-Length: " + content.length() + "\r\n";
        return proxy.client()
                .send(method + " /a HTTP/1.1\r\nHost: test.example\r\n" + length + "\r\n" + content)
                .response();
    }

    private void dead(int index) throws IOException {
        origins.get(index).close();
    }

    @Test
    void theHostIsTheGroupsAndPathAndHostFieldAreTheRules() throws IOException {
        origin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())));
        start();
        String head = proxy.get("/x?y").text();
        assertTrue(head.startsWith("GET /base/x?y HTTP/1.1\r\n"), head);
        assertEquals("shop.internal", RawClient.field(head, "host"));
    }

    /** The dry run names the next host repeatedly, and does not advance the rotation. */
    @Test
    void explainingTakesNoTurn() throws Exception {
        origin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1("0")));
        origin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1("1")));
        start(group -> group.set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.ROUND_ROBIN), config -> config);
        for (int i = 0; i < 4; i++) {
            String next = nextHost();
            assertEquals(next, nextHost());
            assertEquals(next, urls.get(Integer.parseInt(proxy.get("/x").text())));
        }
    }

    /** RFC 5861 s3: the response is the stored one, whichever host validates it in the background. */
    @Test
    void explanationOfAStaleAnswerHasItsStatusAndOriginHost() throws Exception {
        origin(request -> request.ok("Cache-Control: max-age=5, stale-while-revalidate=60\r\n", RawInput.latin1("0")));
        start(group -> group, config -> config);
        proxy.get("/x");
        proxy.advanceSeconds(9);
        ExplainSource.Explanation explained = explained();
        assertEquals("stale", explained.outcome());
        assertEquals(200, explained.status());
        assertEquals(urls.get(0), explained.originHost());
    }

    private String nextHost() throws Exception {
        return explained().originHost();
    }

    private ExplainSource.Explanation explained() throws Exception {
        return new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new ExplainSource.Question("http://test.example/x", "GET", List.of(), null, 0, false))
                .toCompletableFuture()
                .get();
    }

    /** RFC 9112 s3.2.2: a request to a proxy has the whole URL. */
    @Test
    void aParentThatIsAProxyGetsTheWholeUrl() throws IOException {
        origin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())));
        start(settings -> settings.set(OriginGroupKeys.PARENT_IS_PROXY, true), config -> config);
        String head = proxy.get("/x?y").text();
        assertTrue(head.startsWith("GET http://shop.internal/base/x?y HTTP/1.1\r\n"), head);
        assertEquals("shop.internal", RawClient.field(head, "host"));
    }

    @Test
    void roundRobinAsksAllInTurn() throws IOException {
        origin(OK);
        origin(OK);
        start(settings -> settings.set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.ROUND_ROBIN), config -> config);
        for (int i = 0; i < 6; i++) {
            assertEquals(200, proxy.get("/a").status());
        }
        assertEquals(3, origins.get(0).requests());
        assertEquals(3, origins.get(1).requests());
    }

    @Test
    void oneUrlGoesToOneHostByConsistentHash() throws IOException {
        origin(OK);
        origin(OK);
        origin(OK);
        start(
                settings -> settings.set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.CONSISTENT_HASH),
                config -> config);
        for (int i = 0; i < 9; i++) {
            proxy.get("/a?" + i);
        }
        assertEquals(
                1, origins.stream().filter(origin -> origin.requests() == 9).count());
        for (int i = 0; i < 60; i++) {
            proxy.get("/" + i);
        }
        assertEquals(
                3, origins.stream().filter(origin -> origin.requests() >= 5).count());
    }

    @ParameterizedTest
    @ValueSource(strings = {"refused", "reset", "bad", "502", "503", "504"})
    void anotherHostAnswersIfOneFails(String fault) throws IOException {
        switch (fault) {
            case "refused" -> origin(OK);
            case "reset" -> origin(RESET);
            case "bad" ->
                origin(request -> {
                    request.send("this is not HTTP\r\n\r\n");
                    request.awaitClose();
                });
            default -> origin(status(Integer.parseInt(fault)));
        }
        origin(OK);
        start();
        if (fault.equals("refused")) {
            dead(0);
        }
        assertEquals("ok", proxy.get("/a").text());
        assertEquals(1, origins.get(1).requests());
        assertEquals(1, proxy.counted(Counter.ORIGIN_TRIES_MORE));
    }

    @Test
    void aHostThatIsTooSlowIsLeftForAnother() throws IOException {
        CountDownLatch never = new CountDownLatch(1);
        origin(request -> never.await());
        origin(OK);
        start(settings -> settings, config -> config.set("timeouts.origin_first_byte", "50ms"));
        assertEquals("ok", proxy.get("/a").text());
        never.countDown();
    }

    @Test
    void theLastErrorIsPassedOnWhenNoOtherIsLeft() throws IOException {
        origin(status(503));
        origin(status(502));
        start();
        RawClient.Response response = proxy.get("/a");
        assertEquals(502, response.status());
        assertEquals("502", response.text());
    }

    @Test
    void anAnswerThatIsNoErrorIsPassedOnAtOnce() throws IOException {
        origin(status(500));
        origin(OK);
        start();
        assertEquals(500, proxy.get("/a").status());
        assertEquals(0, origins.get(1).requests());
    }

    @Test
    void noMoreHostsThanTheTriesThatAreAllowed() throws IOException {
        for (int i = 0; i < 4; i++) {
            origin(RESET);
        }
        start(settings -> settings.set(OriginGroupKeys.RETRY_TRIES, 2), config -> config);
        assertEquals(502, proxy.get("/a").status());
        assertEquals(
                List.of(1, 1, 0, 0), origins.stream().map(RawOrigin::requests).toList());
    }

    /** RFC 9110 s9.2.2: a request that is not idempotent may have been processed. */
    @ParameterizedTest
    @CsvSource({"POST,''", "POST,content", "PATCH,content"})
    void aMethodThatIsNotIdempotentIsNeverRepeated(String method, String content) throws IOException {
        origin(RESET);
        origin(OK);
        start();
        assertEquals(502, send(method, content).status());
        assertEquals(0, origins.get(1).requests());
    }

    @Test
    void norIsItAfterAnErrorThatOthersAreRepeatedFor() throws IOException {
        origin(status(503));
        origin(OK);
        start();
        assertEquals(503, send("POST", "").status());
        assertEquals(0, origins.get(1).requests());
    }

    /** RFC 9110 s9.2.2: if nothing was sent, nothing was processed. */
    @ParameterizedTest
    @CsvSource({"POST,''", "POST,content", "PUT,content"})
    void whereNoConnectionCouldBeMadeAnyMethodGoesElsewhere(String method, String content) throws IOException {
        origin(OK);
        origin(request -> {
            byte[] got = request.in().read(content.length());
            request.ok("", got);
        });
        start();
        dead(0);
        RawClient.Response response = send(method, content);
        assertEquals(200, response.status());
        assertEquals(content, response.text());
    }

    @Test
    void contentThatWasSentIsNotSentAgain() throws IOException {
        origin(request -> {
            request.in().read(5);
            request.reset();
        });
        origin(OK);
        start();
        RawClient client = proxy.client()
                .send("PUT /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 100000\r\n\r\n")
                .send(new byte[70_000]);
        assertEquals(502, client.response().status());
        assertEquals(0, origins.get(1).requests());
    }

    @Test
    void contentReachesTheHostWholeAndInOrder() throws IOException {
        byte[] content = ProxyExtension.content(300_000);
        origin(request -> request.ok("", request.in().read(content.length)));
        start();
        RawClient client = proxy.client()
                .send("PUT /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: " + content.length + "\r\n\r\n")
                .send(content);
        assertArrayEquals(content, client.response().content());
    }

    /** After an interim response the client has received bytes of this host (RFC 9110 s15.2). */
    @Test
    void nothingIsRepeatedAfterAClientHasSeenAnything() throws IOException {
        origin(request -> {
            request.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
            request.reset();
        });
        origin(OK);
        start();
        RawClient client = proxy.client().get("/a");
        assertEquals(103, client.head().status());
        assertEquals(502, client.response().status());
        assertEquals(0, origins.get(1).requests());
    }

    @Test
    void aResponseThatBreaksOffIsNotBegunAnewByAnother() throws IOException {
        origin(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nCache-Control: no-store\r\n\r\nbeginning");
            request.reset();
        });
        origin(OK);
        start();
        RawClient client = proxy.client().get("/a");
        assertEquals(200, client.head().status());
        assertEquals(0, origins.get(1).requests());
    }

    @Test
    void aHostWithFailuresInARowGetsNoRequestsUntilItsTrial() throws IOException {
        origin(OK);
        origin(OK);
        start();
        dead(0);
        int port = origins.get(0).port();
        for (int i = 0; i < 5; i++) {
            assertEquals(200, proxy.get("/a").status());
        }
        assertEquals(OriginHealth.State.DOWN, health(0).state());
        assertEquals("connect-refused", health(0).reason());
        assertEquals(3, proxy.counted(Counter.ORIGIN_TRIES_MORE));
        origins.set(0, new RawOrigin(OK, port));
        assertEquals(200, proxy.get("/a").status());
        assertEquals(0, origins.get(0).requests());
        proxy.advanceSeconds(12);
        assertEquals(200, proxy.get("/a").status());
        assertEquals(1, origins.get(0).requests());
        ProxyExtension.await("the host is up", () -> health(0).state() == OriginHealth.State.UP);
    }

    @Test
    void answersThatCountAsFailuresMarkAHostDown() throws IOException {
        origin(status(503));
        origin(OK);
        start();
        for (int i = 0; i < 4; i++) {
            assertEquals(200, proxy.get("/a").status());
        }
        assertEquals(3, origins.get(0).requests());
        assertEquals("503", health(0).reason());
    }

    @Test
    void responsesThatBreakOffMarkAHostDown() throws IOException {
        origin(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nCache-Control: no-store\r\n\r\nbeginning");
            request.socket().close();
        });
        origin(OK);
        start();
        for (int i = 0; i < 3; i++) {
            RawClient client = proxy.client().get("/a");
            assertEquals(200, client.head().status());
            client.in.readToEnd();
        }
        ProxyExtension.await("the host is down", () -> health(0).state() == OriginHealth.State.DOWN);
        assertEquals("ok", proxy.get("/a").text());
    }

    @Test
    void aReloadKeepsTheStateOfAHost() throws IOException {
        origin(RESET);
        origin(OK);
        start();
        for (int i = 0; i < 3; i++) {
            proxy.get("/a");
        }
        assertEquals(OriginHealth.State.DOWN, health(0).state());
        proxy.reload(config -> withGroup(config, settings -> settings.set(OriginGroupKeys.RETRY_TRIES, 7)));
        assertEquals(OriginHealth.State.DOWN, health(0).state());
        assertEquals(200, proxy.get("/a").status());
        assertEquals(3, origins.get(0).requests());
    }

    @Test
    void aReloadTakesOverOtherHosts() throws IOException {
        origin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1("old")));
        start();
        assertEquals("old", proxy.get("/a").text());
        origin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1("new")));
        urls.remove(0);
        proxy.reload(config -> withGroup(config, settings -> settings));
        assertEquals("new", proxy.get("/a").text());
    }

    @Test
    void withoutAnyHostTheRulesOwnIsAskedWhereTheGroupGoesDirect() throws IOException {
        origin(OK);
        start(
                settings -> settings.set(OriginGroupKeys.GO_DIRECT, true),
                config -> config.rule(
                        RemapVerb.MAP,
                        "http://test.example/",
                        proxy.origin().url(),
                        ConfigValues.builder().set(RemapKeys.ORIGINS, "shop").build()));
        dead(0);
        assertEquals("ok", proxy.get("/a").text());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void requestsFailAtOnceWithoutAnyHostUpByGroupSetting() throws IOException {
        origin(RESET);
        start(
                settings -> settings.set(OriginGroupKeys.WHEN_ALL_DOWN, OriginGroupConfig.WhenAllDown.FAIL),
                config -> config);
        for (int i = 0; i < 3; i++) {
            assertEquals(502, proxy.get("/a").status());
        }
        RawClient.Response response = proxy.get("/a");
        assertEquals(503, response.status());
        assertTrue(response.field("cache-status").contains("no-origin-up"), response.head());
        assertTrue(response.text().contains("no host of the origin is up: no-origin-up"), response.text());
        assertEquals(3, origins.get(0).requests());
    }

    @Test
    void aStaleCopyAnswersWhenNoHostDoes() throws IOException {
        origin(request -> request.ok("Cache-Control: max-age=1\r\n", RawInput.latin1("stored")));
        start();
        assertEquals("stored", proxy.get("/a").text());
        dead(0);
        proxy.advanceSeconds(10);
        RawClient.Response response = proxy.get("/a");
        assertEquals("stored", response.text());
        assertTrue(response.field("cache-status").contains("connect-refused"), response.head());
    }

    /** Clients are told the reason, but not the hosts. */
    @Test
    void clientsDoNotSeeTheHosts() throws IOException {
        origin(RESET);
        origin(RESET);
        start();
        RawClient.Response response = proxy.get("/a");
        assertEquals(502, response.status());
        assertFalse((response.head() + response.text()).contains("127.0.0.1"), response.head());
    }

    @Test
    void theLogContainsTheAnsweringHostAndTheTriedHosts(@TempDir Path directory) throws IOException {
        Path log = directory.resolve("access.log");
        origin(status(503));
        origin(RESET);
        origin(request -> {
            if (request.has("/ok")) {
                OK.answer(request);
            } else {
                request.reset();
            }
        });
        start(settings -> settings, config -> config.set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", "%<pssc> %<phr>/%<shn> %<detail>"));
        proxy.get("/ok");
        proxy.get("/a");
        ProxyExtension.await("two lines", () -> lines(log).size() == 2);
        String third = urls.get(2).substring("http://".length());
        assertEquals("200 DIRECT/" + third + " -", lines(log).get(0));
        assertEquals(
                "502 DIRECT/" + third + " reset;%20origins%20shop:%20" + urls.get(0) + "%20(503),%20" + urls.get(1)
                        + "%20(reset),%20" + urls.get(2) + "%20(reset)",
                lines(log).get(1));
    }

    private static List<String> lines(Path log) {
        try {
            return Files.exists(log) ? Files.readAllLines(log) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aClientThatLeavesEndsTheTrialWithoutAVerdict() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        origin(RESET);
        origin(OK);
        start();
        for (int i = 0; i < 3; i++) {
            proxy.get("/a");
        }
        int port = origins.get(0).port();
        origins.get(0).close();
        origins.set(
                0,
                new RawOrigin(
                        request -> {
                            asked.countDown();
                            go.await();
                            OK.answer(request);
                        },
                        port));
        proxy.advanceSeconds(12);
        RawClient client = proxy.client().get("/a");
        asked.await();
        assertEquals(OriginHealth.State.SUSPECT, health(0).state());
        client.reset();
        ProxyExtension.await("the trial is over", () -> health(0).state() == OriginHealth.State.DOWN);
        go.countDown();
        assertEquals(200, proxy.get("/a").status());
        ProxyExtension.await("the host is up", () -> health(0).state() == OriginHealth.State.UP);
    }
}
