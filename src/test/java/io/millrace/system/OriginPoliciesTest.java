package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests which of several origins, parents or siblings receives a request: each policy has a group, and a host name that
 * leads to it.
 */
@Tag("nightly")
class OriginPoliciesTest {
    private static final int WAIT_SECONDS = 20;

    /** Number of paths for policies that hash. */
    private static final int PATHS = 40;

    @RegisterExtension
    static final ScriptedOrigin a = new ScriptedOrigin();

    @RegisterExtension
    static final ScriptedOrigin b = new ScriptedOrigin();

    @RegisterExtension
    static final ScriptedOrigin c = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static final Map<String, AtomicInteger> STATUS =
            Map.of("a", new AtomicInteger(), "b", new AtomicInteger(), "c", new AtomicInteger());
    private static final CountDownLatch RELEASED = new CountDownLatch(1);
    private static final CountDownLatch HELD = new CountDownLatch(1);

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        play(a, "a");
        play(b, "b");
        play(c, "c");
        int port = PackedProduct.freePort();
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                worker: {event_loops: 1}
                origins:
                  - {name: turns, hosts: [A, B, C]}
                  - {name: weights, hosts: [{url: A, weight: 3}, B]}
                  - {name: least, policy: least_loaded, hosts: [A, B]}
                  - {name: path, policy: consistent_hash, hosts: [A, B, C]}
                  - {name: url, policy: consistent_hash, hash_key: url, hosts: [A, B, C]}
                  - {name: key, policy: consistent_hash, hash_key: cache_key, hosts: [A, B, C]}
                  - {name: first, policy: first_live, hosts: [A, B], markdown: {fail_threshold: 0}}
                  - {name: sticky, policy: sticky, hosts: [A, B, C]}
                  - {name: latched, policy: latched, hosts: [A, B], markdown: {fail_threshold: 1, retry_time: 100ms}}
                  - {name: parents, hosts: [A, {url: B, backup: true}], parent_is_proxy: true, go_direct: true, markdown: {fail_threshold: 0}}
                  - {name: rings, policy: consistent_hash, ring_mode: alternate_ring, hosts: [A, B, {url: C, backup: true}], retry: {tries: 2}, markdown: {fail_threshold: 0}}
                  - {name: siblings, policy: consistent_hash, ring_mode: peering_ring, parent_is_proxy: true, hosts: [SELF, A, {url: C, backup: true}], markdown: {fail_threshold: 0}}
                  - {name: marked, policy: first_live, hosts: [A, B], retry: {tries: 1}, markdown: {fail_threshold: 2, retry_time: 200ms}}
                  - {name: checked, policy: first_live, hosts: [A, B], health_check: {path: /up, interval: 200ms, healthy: 1, unhealthy: 2}}
                  - {name: slow, hosts: [A, B], slow_start: 1h}
                remap:
                RULES
                  - map: http://busy.example/
                    to: A/
                    cache: {overload: {errors: 50%, stretch: 100, stretch_max: 1h, hold: 1m}}
                """.replace("RULES", rules())
                .replace("SELF", "\"http://127.0.0.1:" + port + "\"")
                .replace("to: A/", "to: \"" + a.url() + "/\"")
                .replaceAll("([\\[ :])A([,}\\] ])", "$1\"" + a.url() + "\"$2")
                .replaceAll("([\\[ :])B([,}\\] ])", "$1\"" + b.url() + "\"$2")
                .replaceAll("([\\[ :])C([,}\\] ])", "$1\"" + c.url() + "\"$2"));
        proxy = product.launch().config(config).port(port).start();
    }

    private static String rules() {
        StringBuilder rules = new StringBuilder();
        for (String group : List.of(
                "turns",
                "weights",
                "least",
                "path",
                "url",
                "key",
                "first",
                "sticky",
                "latched",
                "rings",
                "siblings",
                "marked",
                "checked",
                "slow")) {
            rules.append("  - {map: \"http://%1$s.example/\", to: \"http://%1$s.internal/\", origins: %1$s}\n"
                    .formatted(group));
        }
        return rules.append("  - {map: \"http://parents.example/\", to: \"" + c.url() + "/\", origins: parents}")
                .toString();
    }

    /**
     * Answers with its name, or with the status that a test has set for it; 0 stands for its name, 1 for the end of the
     * connection.
     */
    private static void play(ScriptedOrigin origin, String name) {
        ScriptedOrigin.Script script = exchange -> {
            int status = STATUS.get(name).get();
            if (status == 1) {
                exchange.close();
            } else {
                exchange.answer(status == 0 ? 200 : status, name, "Cache-Control: no-store");
            }
        };
        for (int i = 0; i < PATHS; i++) {
            origin.on("/" + i, script);
            // With a whole URL, as for a proxy.
            origin.on("http://siblings.internal/" + i, script);
            origin.on(c.url() + "/" + i, script);
        }
        // Independent of the settings of tests; otherwise a check would mark a host as down that another test has made
        // fail.
        origin.on("/up", exchange -> exchange.answer(200, "up", "Cache-Control: no-store"));
        origin.on("/held", exchange -> {
            HELD.countDown();
            RELEASED.await(WAIT_SECONDS, TimeUnit.SECONDS);
            exchange.answer(200, name, "Cache-Control: no-store");
        });
        origin.on("/kept", exchange -> exchange.answer(200, "copy " + exchange.number(), "Cache-Control: max-age=1"));
    }

    @BeforeEach
    void allAreWell() {
        STATUS.values().forEach(status -> status.set(0));
    }

    private static RawResponse ask(String group, String target) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send("GET " + target + " HTTP/1.1\r\nHost: " + group + ".example\r\n\r\n")
                    .response();
        }
    }

    /** Returns which hosts answered this many requests, in order. */
    private static String askedInTurn(String group, int times) throws IOException {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < times; i++) {
            names.append(ask(group, "/0").text());
        }
        return names.toString();
    }

    private static long count(String names, char name) {
        return names.chars().filter(each -> each == name).count();
    }

    private static String state(String group, String url) {
        Json list = proxy.millctl("origin", "list", "-o", "json").succeeds().json();
        for (int i = 0; ; i++) {
            Json host = list.at("hosts." + i);
            if (host.at("group").text().equals(group) && host.at("host").text().equals(url)) {
                return host.at("state").text();
            }
        }
    }

    @Test
    void roundRobinAsksAllInTurn() throws IOException {
        assertEquals("abcabc", askedInTurn("turns", 6));
    }

    @Test
    void weightsShareTheRequests() throws IOException {
        String names = askedInTurn("weights", 8);
        assertEquals(6, count(names, 'a'), names);
        assertEquals(2, count(names, 'b'), names);
    }

    @Test
    void theLeastLoadedIsAsked() throws Exception {
        try (RawClient held = RawClient.connect(proxy.port())) {
            held.send("GET /held HTTP/1.1\r\nHost: least.example\r\n\r\n");
            assertTrue(HELD.await(WAIT_SECONDS, TimeUnit.SECONDS));
            String others = askedInTurn("least", 4);
            RELEASED.countDown();
            String busy = held.response().text();
            assertEquals((busy.equals("a") ? "b" : "a").repeat(4), others);
        }
    }

    /** By path, queries make no difference; by URL or key they do. */
    @ParameterizedTest
    @CsvSource({"path, true", "url, false", "key, false"})
    void aUrlHasOneHostByConsistentHash(String group, boolean byPathAlone) throws IOException {
        Map<String, String> hosts = new HashMap<>();
        Set<String> ofOnePath = new TreeSet<>();
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < PATHS; i++) {
                String host = ask(group, "/" + i).text();
                assertEquals(hosts.getOrDefault("/" + i, host), host);
                hosts.put("/" + i, host);
                ofOnePath.add(ask(group, "/0?" + i).text());
            }
        }
        assertEquals(Set.of("a", "b", "c"), new TreeSet<>(hosts.values()));
        assertEquals(byPathAlone, ofOnePath.size() == 1, ofOnePath::toString);
    }

    @Test
    void theFirstThatAnswersIsAsked() throws IOException {
        assertEquals("aa", askedInTurn("first", 2));
        STATUS.get("a").set(1);
        assertEquals("bb", askedInTurn("first", 2));
        STATUS.get("a").set(0);
        assertEquals("aa", askedInTurn("first", 2));
    }

    @Test
    void aClientKeepsItsHost() throws IOException {
        Map<Integer, String> hosts = new HashMap<>();
        for (int round = 0; round < 3; round++) {
            for (int i = 1; i <= 20; i++) {
                try (RawClient client = RawClient.connect("127.0.0." + i, proxy.port())) {
                    String host = client.send("GET /0 HTTP/1.1\r\nHost: sticky.example\r\n\r\n")
                            .response()
                            .text();
                    assertEquals(hosts.getOrDefault(i, host), host);
                    hosts.put(i, host);
                }
            }
        }
        assertTrue(new TreeSet<>(hosts.values()).size() > 1, hosts::toString);
    }

    @Test
    void theLatchedHostIsKeptUntilItFails() throws IOException {
        assertEquals("aaa", askedInTurn("latched", 3));
        STATUS.get("a").set(1);
        assertEquals("b", askedInTurn("latched", 1));
        STATUS.get("a").set(0);
        assertEquals("bbb", askedInTurn("latched", 3));
    }

    @Test
    void theSecondParentFollowsTheFirstAndTheOriginItselfFollowsBoth() throws IOException {
        assertEquals("a", ask("parents", "/1").text());
        assertTrue(a.requests(c.url() + "/1").size() > 0, "the parent gets the whole URL");
        STATUS.get("a").set(1);
        assertEquals("b", ask("parents", "/1").text());
        STATUS.get("b").set(1);
        assertEquals("c", ask("parents", "/1").text());
        assertTrue(c.requests("/1").size() > 0, "the origin gets the path");
    }

    @Test
    void theSecondRingFollowsTheUrlsOwnHost() throws IOException {
        Set<String> homes = new TreeSet<>();
        for (int i = 0; i < PATHS; i++) {
            homes.add(ask("rings", "/" + i).text());
        }
        assertEquals(Set.of("a", "b"), homes);
        STATUS.get("a").set(1);
        STATUS.get("b").set(1);
        for (int i = 0; i < PATHS; i++) {
            assertEquals("c", ask("rings", "/" + i).text());
        }
    }

    /**
     * This proxy is one of two siblings: URLs that it owns go upstream, the others to the sibling, and upstream if that
     * fails.
     */
    @Test
    void aSiblingIsAskedForWhatItOwnsAndUpstreamForTheRest() throws IOException {
        List<String> owners = new ArrayList<>();
        for (int i = 0; i < PATHS; i++) {
            owners.add(ask("siblings", "/" + i).text());
        }
        assertEquals(Set.of("a", "c"), new TreeSet<>(owners));
        assertTrue(a.requests("http://siblings.internal/" + owners.indexOf("a")).size() > 0);
        STATUS.get("a").set(1);
        for (int i = 0; i < PATHS; i++) {
            assertEquals("c", ask("siblings", "/" + i).text());
        }
    }

    @Test
    void aHostThatFailsInARowIsMarkedDownAndReturnsByItsTrial() throws IOException {
        STATUS.get("a").set(503);
        assertEquals(503, ask("marked", "/0").status());
        assertEquals(503, ask("marked", "/0").status());
        assertEquals("down", state("marked", a.url()));
        STATUS.get("a").set(0);
        await("traffic at the first host")
                .until(() -> ask("marked", "/0").text().equals("a"));
        assertEquals("up", state("marked", a.url()));
    }

    @Test
    void aHostThatFailsItsChecksGetsNothingThoughItAnswersRequests() throws IOException {
        assertEquals("a", ask("checked", "/0").text());
        a.on("/up", exchange -> exchange.answer(500, "leaving", "Cache-Control: no-store"));
        await("traffic at the second host")
                .until(() -> ask("checked", "/0").text().equals("b"));
        assertEquals("down", state("checked", a.url()));
        a.on("/up", exchange -> exchange.answer(200, "back", "Cache-Control: no-store"));
        await("traffic at the first host")
                .until(() -> ask("checked", "/0").text().equals("a"));
    }

    @Test
    void aHostThatComesBackBeginsWithATenthOfItsShare() throws IOException {
        assertEquals(10, count(askedInTurn("slow", 20), 'a'));
        String host = "slow/" + a.url().substring("http://".length());
        proxy.millctl("origin", "down", host).succeeds();
        assertEquals("bbbb", askedInTurn("slow", 4));
        proxy.millctl("origin", "up", host).succeeds();
        String names = askedInTurn("slow", 22);
        assertTrue(count(names, 'a') >= 1 && count(names, 'a') <= 3, names);
    }

    /** The windows of overload are a second of real time each. */
    @Test
    void storedResponsesServeLongerWhileTheirOriginFails() throws IOException {
        assertEquals("copy 1", ask("busy", "/kept").text());
        STATUS.get("a").set(503);
        await("a copy that is older than its lifetime").until(() -> {
            for (int i = 0; i < 5; i++) {
                assertEquals(503, ask("busy", "/0").status());
            }
            RawResponse response = ask("busy", "/kept");
            return response.joined("Cache-Status").contains("detail=overload")
                    && response.text().startsWith("copy ");
        });
        int before = a.count("/kept");
        assertTrue(ask("busy", "/kept").isHit());
        assertEquals(before, a.count("/kept"));
    }
}
