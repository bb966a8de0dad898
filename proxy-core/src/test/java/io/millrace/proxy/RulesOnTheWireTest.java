package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests rules with real clients: HTTP/1.1 with and without TLS, and HTTP/2. */
class RulesOnTheWireTest {
    /** The connection of a client. */
    enum Lane {
        CLEAR,
        TLS,
        HTTP2
    }

    /** A response of any protocol. */
    private record Answer(int status, Function<String, String> fields, String text, String head) {
        String field(String name) {
            return fields.apply(name);
        }
    }

    @TempDir
    static Path directory;

    private static TestCertificate certificate;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = TestCertificate.in(directory);
    }

    private static void answer(RawOrigin.Exchange request) throws IOException {
        String fresh = "Cache-Control: max-age=600\r\nETag: \"e\"\r\nX-Origin: o\r\nLink: <a>\r\n";
        if (request.has(" /gone")) {
            request.send("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n" + fresh + "\r\ngone");
        } else if (request.has(" /echo")) {
            request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head()));
        } else if (request.has(" /bare")) {
            request.ok("", RawInput.latin1("bare " + request.number()));
        } else {
            request.ok(fresh, RawInput.latin1("content " + request.number()));
        }
    }

    /** Returns the rules of a text, as the file has them. */
    static List<ConfigValues> rules(String rules) {
        ConfigResult result = ConfigLoader.parse(
                "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\nrules: " + rules, "m.yaml", Map.of());
        assertNotNull(result.config(), result::text);
        return result.config().values().elements(RuleKeys.RULES);
    }

    private ProxyConfig.Builder listening(ProxyConfig.Builder fresh) {
        return fresh.listen(
                        "127.0.0.1:0",
                        ConfigValues.builder()
                                .set(ConfigKeys.LISTEN_CERTIFICATE, certificate.certificate())
                                .set(ConfigKeys.LISTEN_KEY, certificate.key())
                                .build())
                .listen(
                        "127.0.0.1:0",
                        ConfigValues.builder().set(Http2Keys.LISTEN_CLEAR, true).build());
    }

    private void start(String rules) throws IOException {
        proxy.start(RulesOnTheWireTest::answer, fresh -> listening(fresh).rules(rules(rules)));
    }

    private Answer ask(Lane lane, String method, String path, String... fields) throws Exception {
        if (lane == Lane.HTTP2) {
            try (Http2Client client = new Http2Client(proxy.proxy().addresses().get(2))) {
                List<String> lower = new ArrayList<>();
                for (int i = 0; i < fields.length; i++) {
                    lower.add(i % 2 == 0 ? fields[i].toLowerCase(java.util.Locale.ROOT) : fields[i]);
                }
                Http2Client.Response response = client.headers(
                                1, true, Http2Client.request(method, path, lower.toArray(String[]::new)))
                        .response(1);
                return new Answer(response.status(), response::field, response.text(), response.fields());
            }
        }
        StringBuilder text = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: test.example\r\n");
        for (int i = 0; i < fields.length; i += 2) {
            text.append(fields[i]).append(": ").append(fields[i + 1]).append("\r\n");
        }
        try (RawClient client = client(lane)) {
            client.send(text + "\r\n");
            RawClient.Response response = method.equals("HEAD") ? client.head() : client.response();
            return new Answer(response.status(), response::field, response.text(), response.head());
        }
    }

    private RawClient client(Lane lane) throws IOException {
        if (lane == Lane.CLEAR) {
            return new RawClient(proxy.address());
        }
        SSLSocket socket = (SSLSocket) certificate
                .trust()
                .getSocketFactory()
                .createSocket(
                        proxy.proxy().addresses().get(1).getAddress(),
                        proxy.proxy().addresses().get(1).getPort());
        return new RawClient(socket);
    }

    /** Each case: rules; method; path; request fields; status; response field and its value, {@code -} for none. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "[{set_response_header: {X-Robots-Tag: noindex}}] # GET # /a # # 200 # x-robots-tag # noindex",
                "[{set_response_header: {X-Origin: proxy}}] # GET # /a # # 200 # x-origin # proxy",
                "[{remove_response_header: [X-Origin, Via]}] # GET # /a # # 200 # x-origin # -",
                "[{remove_response_header: [Via]}] # GET # /a # # 200 # via # -",
                "[{remove_response_header: [cache-status]}] # GET # /a # # 200 # cache-status # -",
                "[{add_response_header: {Link: <b>}}, {remove_response_header: [Link]}] # GET # /a # # 200 # link # -",
                "[{remove_response_header: [Link]}, {add_response_header: {Link: <b>}}] # GET # /a # # 200 # link #"
                        + " <b>",
                "[{when: 'status == 404', set_response_header: {X-A: b}}] # GET # /gone # # 404 # x-a # b",
                "[{when: 'status == 404', set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a # -",
                "[{when: 'cache == \"hit\"', set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a # b",
                "[{when: 'cache == \"uri-miss\"', set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a # -",
                "[{set_response_header: {X-A: b}}] # GET # /a # If-None-Match: \"e\" # 304 # x-a # b",
                "[{set_response_header: {X-A: b}}] # HEAD # /a # # 200 # x-a # b",
                "[{when: 'method == \"HEAD\"', set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a # -",
                "[{when: 'path =~ \"^/im?g/\"', set_response_header: {X-A: b}}] # GET # /i%6Dg/x # # 200 # x-a # b",
                "[{when: 'cookie[\"Who\"] == \"me\"', set_response_header: {X-A: b}}] # GET # /a #"
                        + " Cookie: x=y; Who=me # 200 # x-a # b",
                "[{when: 'cookie[\"who\"] == \"me\"', set_response_header: {X-A: b}}] # GET # /a #"
                        + " Cookie: x=y; Who=me # 200 # x-a # -",
                "[{when: 'request_header[\"X-Who\"] =~ \"^m\"', set_response_header: {X-A: b}}] # GET # /a #"
                        + " X-Who: me # 200 # x-a # b",
                "[{when: 'param[\"q\"] == \"2\"', set_response_header: {X-A: b}}] # GET # /a?q=1&q=2 # # 200 # x-a # b",
                "[{when: 'client in (\"10.0.0.0/8\", \"127.0.0.0/8\")', set_response_header: {X-A: b}}] # GET # /a #"
                        + " # 200 # x-a # b",
                "[{when: 'client == \"10.0.0.0/8\"', set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a # -",
                "[{when: 'response_header[\"X-Origin\"] == \"o\" && host == \"Test.example\"',"
                        + " set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a # b",
                "[{when: 'random < 100 && weekday in (1, 2, 3, 4, 5, 6, 7) && time < 24h',"
                        + " set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a # b",
                "[{when: 'random >= 100', set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a # -",
                "[{when: '!(status == 200) || query == \"\"', set_response_header: {X-A: b}}] # GET # /a # # 200 # x-a"
                        + " # b",
                "[{when: 'path == \"/old\"', redirect: {to: /new}}] # GET # /old # # 302 # location # /new",
                "[{when: 'path =~ \"^/old/(.*)\"', redirect: {to: 'https://$host/new/$1$query', status: 308}}] # GET"
                        + " # /old/x%20y?z # # 308 # location # https://test.example/new/x%20y?z",
                "[{when: 'path =~ \"^/go/(.*)\"', redirect: {to: '/$1'}}] # GET # /go//evil.example/ # # 302 # location"
                        + " # /evil.example/",
                "[{when: 'path == \"/no\"', answer: {status: 451}}] # GET # /no # # 451 # cache-control # no-store",
                "[{when: 'path == \"/no\"', answer: {status: 403, body: '{}', content_type: application/json},"
                        + " set_response_header: {X-A: b}}] # GET # /no # # 403 # x-a # b",
                "[{when: 'path == \"/no\"', answer: {status: 200, body: '{}', content_type: application/json}}] # HEAD"
                        + " # /no # # 200 # content-type # application/json",
                "[{when: 'path == \"/no\"', answer: {status: 204}}] # GET # /no # # 204 # content-type # -",
                "[{set_response_header: {X-A: b}}] # TRACE # /a # # 405 # x-a # b",
            })
    void everyLaneChangesTheSame(
            String rules, String method, String path, String fields, int status, String name, String value)
            throws Exception {
        start(rules);
        String[] sent = fields == null ? new String[0] : fields.split(": ", 2);
        for (Lane lane : Lane.values()) {
            ask(lane, "GET", path);
            proxy.settle();
            Answer answer = ask(lane, method, path, sent);
            assertEquals(status, answer.status(), lane + answer.head());
            assertEquals(value.equals("-") ? null : value, answer.field(name), () -> lane + ": " + answer.head());
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void severalLinesOfOneNameAreKeptAndAdded(Lane lane) throws Exception {
        start("[{add_response_header: {Link: [<b>, <c>]}, set_response_header: {X-A: ''}}]");
        ask(lane, "GET", "/a");
        proxy.settle();
        for (int i = 0; i < 3; i++) {
            Answer answer = ask(lane, "GET", "/a");
            long links = answer.head()
                    .lines()
                    .filter(line -> line.toLowerCase(java.util.Locale.ROOT).startsWith("link: "))
                    .count();
            assertEquals(3, links, answer.head());
            assertEquals("", answer.field("x-a"), answer.head());
            assertEquals("content 1", answer.text());
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void aMissIsChangedLikeAHitAndTheStoredResponseIsNot(Lane lane) throws Exception {
        start("[{set_response_header: {X-Origin: rule}, remove_response_header: [Link]}]");
        Answer miss = ask(lane, "GET", "/a");
        assertEquals("rule", miss.field("x-origin"));
        assertNull(miss.field("link"));
        proxy.settle();
        Answer hit = ask(lane, "GET", "/a");
        assertEquals(miss.text(), hit.text());
        assertEquals("rule", hit.field("x-origin"));
        proxy.reload(fresh -> listening(fresh));
        Answer unchanged = ask(lane, "GET", "/a");
        assertEquals("o", unchanged.field("x-origin"));
        assertEquals("<a>", unchanged.field("link"));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void hitsWithRulesStayInTheFastLane() throws Exception {
        start("[{set_response_header: {X-A: b}, remove_response_header: [X-Origin]}]");
        proxy.getAndSettle("/a");
        long before = proxy.counted(Counter.FAST_LANE_ANSWERED);
        for (int i = 0; i < 5; i++) {
            assertEquals("b", ask(Lane.CLEAR, "GET", "/a").field("x-a"));
        }
        long answered = proxy.counted(Counter.FAST_LANE_ANSWERED) - before;
        boolean lane = proxy.proxy().config().worker().fastLane()
                && io.millrace.proxy.net.Transport.choose("auto").hasPlainSockets();
        assertEquals(lane ? 5 : 0, answered);
    }

    @Test
    void responsesOfTheOriginCarryTheFieldsOfRules() throws Exception {
        start("[{when: 'path == \"/echo\"', set_request_header: {X-Sent: s, User-Agent: millrace},"
                + " add_request_header: {Accept: b/c}, remove_request_header: [Cookie]}]");
        for (Lane lane : Lane.values()) {
            String head = ask(lane, "GET", "/echo", "Accept", "a/b").text();
            assertEquals("s", RawClient.field(head, "x-sent"));
            assertEquals("millrace", RawClient.field(head, "user-agent"));
            assertTrue(head.contains("a/b") && head.contains("b/c"), head);
            assertNull(
                    RawClient.field(ask(lane, "GET", "/echo", "Cookie", "a=b").text(), "cookie"));
        }
    }

    @Test
    void aLifetimeIsInForceAndNamedInCacheStatus() throws Exception {
        start("[{when: 'path == \"/bare\"', ttl: 1h}]");
        proxy.getAndSettle("/bare");
        Answer hit = ask(Lane.CLEAR, "GET", "/bare");
        assertEquals("bare 1", hit.text());
        assertTrue(hit.field("cache-status").contains("hit; ttl=3600"), hit.head());
        assertTrue(hit.field("cache-status").contains("rules[0]"), hit.head());
        proxy.advanceSeconds(3601);
        assertEquals("bare 2", ask(Lane.CLEAR, "GET", "/bare").text());
    }

    @Test
    void theStoredResponseHasTheFieldsOfRules() throws Exception {
        start("[{when: 'status == 404', set_stored_header: {Cache-Control: no-store, X-A: b}},"
                + " {when: 'status == 200 && response_header[\"X-Origin\"] == \"o\"',"
                + " set_stored_header: {Cache-Control: max-age=7}, remove_stored_header: [Link]}]");
        assertEquals("b", proxy.getAndSettle("/gone").field("x-a"));
        proxy.getAndSettle("/gone");
        assertEquals(2, proxy.origin().requests());
        Answer miss = ask(Lane.CLEAR, "GET", "/a");
        proxy.settle();
        Answer hit = ask(Lane.CLEAR, "GET", "/a");
        assertEquals("max-age=7", miss.field("cache-control"));
        assertEquals("max-age=7", hit.field("cache-control"));
        assertNull(hit.field("link"));
        assertTrue(hit.field("cache-status").contains("ttl=7"), hit.head());
        assertEquals(miss.text(), hit.text());
    }

    /** A 304 updates the stored fields by the same rules, whose conditions see the stored status. */
    @Test
    void aValidationKeepsTheFieldsOfRules() throws Exception {
        proxy.start(
                request -> {
                    String fields = "Cache-Control: max-age=60\r\nETag: \"e\"\r\nX-A: o\r\n";
                    if (request.has("If-None-Match")) {
                        request.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
                    } else {
                        request.ok(fields, RawInput.latin1("content"));
                    }
                },
                fresh -> fresh.rules(rules("[{when: 'status == 200', set_stored_header: {X-A: rule}}]")));
        assertEquals("rule", proxy.getAndSettle("/a").field("x-a"));
        proxy.advanceSeconds(61);
        assertEquals("rule", proxy.getAndSettle("/a").field("x-a"));
        assertEquals(2, proxy.origin().requests());
        assertEquals("rule", proxy.getAndSettle("/a").field("x-a"));
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void theOriginGetsTheRewrittenUrlAndTheKeyIsTheClients() throws Exception {
        start("[{when: 'path =~ \"^/echo/(.*)\"', rewrite: {path: /echo/new/$1, query: ''},"
                + " set_stored_header: {Cache-Control: max-age=60}},"
                + " {when: 'path =~ \"^/keep/(.*)\"', rewrite: {path: '/echo/$1'}}]");
        String first = proxy.getAndSettle("/echo/a%20b?x=1").text();
        assertTrue(first.startsWith("GET /echo/new/a%20b HTTP/1.1"), first);
        assertEquals(first, proxy.getAndSettle("/echo/a%20b?x=1").text());
        assertEquals(1, proxy.origin().requests());
        proxy.getAndSettle("/echo/a%20b?x=2");
        assertEquals(2, proxy.origin().requests());
        String kept = proxy.getAndSettle("/keep/c?x=1").text();
        assertTrue(kept.startsWith("GET /echo/c?x=1 HTTP/1.1"), kept);
        assertEquals(400, ask(Lane.CLEAR, "GET", "/keep/../c").status());
        assertEquals(400, ask(Lane.HTTP2, "GET", "/keep/%2e%2e/c").status());
        assertEquals(2, proxy.counted(Counter.DENIED_REWRITE));
    }

    @Test
    void aBypassStoresNothing() throws Exception {
        start("[{when: 'cookie[\"debug\"] == \"1\"', bypass: true, set_request_header: {X-Debug: yes}}]");
        proxy.getAndSettle("/a");
        assertEquals(
                "content 2", ask(Lane.CLEAR, "GET", "/a", "Cookie", "debug=1").text());
        assertEquals(
                "content 3", ask(Lane.HTTP2, "GET", "/a", "Cookie", "debug=1").text());
        assertEquals("content 1", ask(Lane.CLEAR, "GET", "/a").text());
    }

    @Test
    void rulesOfARemapRuleFollowThoseForAll() throws Exception {
        ConfigValues own = ConfigValues.builder()
                .set(RuleKeys.OF_REMAP, rules("[{set_response_header: {X-A: own}}]"))
                .build();
        proxy.start(RulesOnTheWireTest::answer, fresh -> fresh.map(
                        "http://own.example/", proxy.origin().url(), own)
                .rules(rules("[{set_response_header: {X-A: all, X-B: all}}]")));
        RawClient.Response all = proxy.get("/a");
        assertEquals("all", all.field("x-a"));
        try (RawClient client = new RawClient(proxy.address())) {
            RawClient.Response mine =
                    client.send("GET /a HTTP/1.1\r\nHost: own.example\r\n\r\n").response();
            assertEquals("own", mine.field("x-a"));
            assertEquals("all", mine.field("x-b"));
        }
    }

    @Test
    void redirectionsAndAnswersAreCounted() throws Exception {
        start("[{when: 'path == \"/r\"', redirect: {to: /}}, {when: 'path == \"/s\"', answer: {status: 410}}]");
        ask(Lane.CLEAR, "GET", "/r");
        Answer gone = ask(Lane.CLEAR, "POST", "/s");
        assertEquals("410 Gone: a rule of this proxy answers\n", gone.text());
        assertEquals(1, proxy.counted(Counter.REDIRECTS_RULES));
        assertEquals(1, proxy.counted(Counter.RULE_ANSWERS));
        assertEquals(0, proxy.origin().requests());
    }
}
