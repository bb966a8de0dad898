package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.admin.cache.LookupSource.Field;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests canary splits with real clients. */
class SplitOnTheWireTest {
    private static final String CANARY = "Cookie: canary=1\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private RawOrigin branch;

    @BeforeEach
    void startBranch() throws IOException {
        branch = new RawOrigin(script("branch"));
    }

    @AfterEach
    void closeBranch() throws Exception {
        branch.close();
    }

    private static RawOrigin.Script script(String word) {
        return request -> request.ok(
                "Cache-Control: max-age=60\r\nX-Target: " + request.head().split(" ", 3)[1] + "\r\n",
                RawInput.latin1(word + " " + RawClient.field(request.head(), "host")));
    }

    private void start(String text) throws Exception {
        proxy.start(script("own"), fresh -> {
            ConfigResult result = ConfigLoader.parse(
                    text.replace("@origin", proxy.origin().url()).replace("@branch", branch.url()),
                    "m.yaml",
                    Map.of(
                            "listen", "['127.0.0.1:0']",
                            "log.access.enabled", "false",
                            "cache.ram_size", "32MiB",
                            "worker.event_loops", "1",
                            "worker.fast_lane",
                                    String.valueOf(fresh.build().worker().fastLane()),
                            "purge.allow", "127.0.0.1"));
            assertNotNull(result.config(), result::text);
            return result.config().toBuilder();
        });
    }

    private String text(String path, String... fields) throws IOException {
        return proxy.getAndSettle(path, fields).text().split(" ", 2)[0];
    }

    @Test
    void branchesHaveTheirOwnStoredResponses() throws Exception {
        start("remap: [{map: /, to: '@origin/base/', split: [{to: '@branch', cookie: canary=1}]}]");
        assertEquals("own", text("/a"));
        assertEquals("branch", text("/a", CANARY));
        assertEquals("own", text("/a"));
        assertEquals("branch", text("/a", CANARY));
        assertEquals("own", text("/a", "Cookie: canary=2\r\n"));
        assertEquals(1, proxy.origin().requests());
        assertEquals(1, branch.requests());
        RawClient.Response response = proxy.get("/b", CANARY);
        assertEquals("/base/b", response.field("x-target"));
        assertEquals("branch 127.0.0.1:" + branch.port(), response.text());
    }

    @Test
    void hitsOfBranchesStayInTheFastLane() throws Exception {
        start("remap: [{map: /, to: '@origin', split: [{to: '@branch', cookie: canary=1}]}]");
        text("/a", CANARY);
        long before = proxy.counted(Counter.FAST_LANE_ANSWERED);
        assertEquals("branch", text("/a", CANARY));
        boolean isFast = proxy.proxy().config().worker().fastLane()
                && io.millrace.proxy.net.Transport.choose("auto").hasPlainSockets();
        assertEquals(isFast ? 1 : 0, proxy.counted(Counter.FAST_LANE_ANSWERED) - before);
    }

    @Test
    void aGroupCanBeABranch() throws Exception {
        start("""
                origins: [{name: new, hosts: ['@branch']}]
                remap: [{map: /, to: 'http://shop.example', split: [{origins: new, weight: 100}]}]
                """);
        assertEquals("branch shop.example", proxy.get("/a").text());
    }

    @Test
    void aBranchCanReplaceAGroup() throws Exception {
        start("""
                origins: [{name: old, hosts: ['@origin']}]
                remap: [{map: /, to: 'http://shop.example', origins: old, split: [{to: '@branch', cookie: canary}]}]
                """);
        assertEquals("branch", text("/a", CANARY));
        assertEquals("own", text("/a"));
    }

    @Test
    void oneMetricCountsEachBranch() throws Exception {
        start("remap: [{map: /, to: '@origin', split: [{name: new, to: '@branch', cookie: canary}]}]");
        text("/a", CANARY);
        text("/a", CANARY);
        text("/a");
        String metrics = proxy.proxy().metricsText();
        assertTrue(
                metrics.lines()
                        .anyMatch(line -> line.startsWith("millrace_split_requests_total{")
                                && line.contains("\"new\"")
                                && line.endsWith(" 2.0")),
                metrics);
        assertTrue(
                metrics.lines()
                        .anyMatch(line -> line.startsWith("millrace_split_requests_total{")
                                && line.contains("\"own\"")
                                && line.endsWith(" 1.0")),
                metrics);
    }

    @Test
    void oneBypassOrPurgeReachesAllBranches() throws Exception {
        start("remap: [{map: /, to: '@origin', split: [{to: '@branch', cookie: canary}]}]");
        text("/a");
        text("/a", CANARY);
        try (RawClient client = proxy.client()) {
            assertEquals(
                    200,
                    client.send("PURGE /a HTTP/1.1\r\nHost: test.example\r\n\r\n")
                            .response()
                            .status());
        }
        text("/a");
        text("/a", CANARY);
        assertEquals(2, proxy.origin().requests());
        assertEquals(2, branch.requests());
    }

    @Test
    void branchesMayShareStoredResponses() throws Exception {
        start("remap: [{map: /, to: '@origin', split: [{to: '@branch', cookie: canary, separate_cache: false}]}]");
        assertEquals("branch", text("/a", CANARY));
        assertEquals("branch", text("/a"));
        assertEquals(0, proxy.origin().requests());
    }

    private Map<String, String> explained(Field... fields) throws Exception {
        return new RequestExplanation(new ServerView(proxy.proxy()))
                        .explain(new Question("http://test.example/a", "GET", List.of(fields), null, 0, false))
                        .toCompletableFuture()
                        .get()
                        .steps()
                        .stream()
                        .collect(Collectors.toMap(Step::name, Step::text));
    }

    @Test
    void explainNamesTheBranch() throws Exception {
        start("remap: [{map: /, to: '@origin', split: [{name: new, to: '@branch', cookie: canary}]}]");
        Map<String, String> canary = explained(new Field("Cookie", "canary=1"));
        assertEquals("branch new, with its own stored responses", canary.get("split"));
        assertTrue(canary.get("origin").startsWith(branch.url()), canary.get("origin"));
        assertTrue(canary.get("key").endsWith(" branch=new"), canary.get("key"));
        assertEquals("the rule's own origin", explained().get("split"));
        assertTrue(!proxy.proxy().metricsText().contains("branch=\"new\""), "a dry run counts nothing");
    }
}
