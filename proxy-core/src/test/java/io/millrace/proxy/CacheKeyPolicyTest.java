package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.data.CacheInspection;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the settings of cache keys over real sockets, with an origin whose response depends on the whole request.
 * Requests that share a response must be equal for the origin.
 */
class CacheKeyPolicyTest {
    private static final long SEED = 20_261_122;
    private static final String FRESH = "Cache-Control: max-age=600\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Answers with the request line and every field that the proxy did not add; all responses are storable. */
    private static void credulous(RawOrigin.Exchange request) throws IOException {
        String length = RawClient.field(request.head(), "content-length");
        if (length != null) {
            request.in().read(Integer.parseInt(length));
        }
        StringBuilder content = new StringBuilder();
        for (String line : request.head().lines().toList()) {
            String lower = line.toLowerCase(Locale.ROOT);
            if (!lower.startsWith("via:") && !lower.startsWith("x-forwarded-for:")) {
                content.append(line).append('\n');
            }
        }
        request.ok(FRESH, RawInput.latin1(content.toString()));
    }

    private void start(String... settings) throws IOException {
        proxy.start(CacheKeyPolicyTest::credulous, config -> with(config, settings));
    }

    private static ProxyConfig.Builder with(ProxyConfig.Builder config, String... settings) {
        for (int i = 0; i < settings.length; i += 2) {
            config.set(settings[i], settings[i + 1]);
        }
        return config;
    }

    private RawClient.Response send(String method, String url, String... fields) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            String host = url.substring("http://".length(), url.indexOf('/', "http://".length()));
            String path = url.substring("http://".length() + host.length());
            return client.send(method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + String.join("", fields)
                            + "\r\n")
                    .response();
        }
    }

    private static String line(RawClient.Response response) {
        return response.text().lines().findFirst().orElse("");
    }

    // the query

    @ParameterizedTest
    @CsvSource({
        "/a?utm_source=evil&id=1, /a?id=1",
        "/a?id=1&utm_source=evil, /a?id=1&utm_source=other",
        "/a?id=1&%75tm_source=evil, /a?id=1",
        "/a?id=1&utm_content=x;id=evil, /a?id=1",
        "/a?utm_source=<script>, /a",
        "/a?utm_source, /a"
    })
    void omittedPartsAreNotSentToTheOrigin(String attack, String victim) throws Exception {
        start("cache.key.excluded_params", "utm_*");
        RawClient.Response first = proxy.get(attack);
        assertFalse(first.text().contains("evil") || first.text().contains("utm"), first.text());
        assertEquals(first.text(), proxy.get(victim).text());
        assertEquals(1, proxy.origin().requests());
    }

    /** Published as parameter cloaking: two parsers read one query differently. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/a?id=1;id=evil",
                "/a?id=1&id=evil",
                "/a?id=evil&id=1",
                "/a?id=1&i%64=evil",
                "/a?id=1%26id=evil",
                "/a?id=1&ID=evil",
                "/a?id=1&id[]=evil",
                "/a?id=1?id=evil",
                "/a?id=1&;id=evil",
                "/a?id=1&utm_content=x%26id=evil&id=evil",
                "/a?callback=evil&id=1",
                "/a/?id=1&x=evil",
                "/a%3Fid=1&evil",
                "/a;x=evil?id=1"
            })
    void partsThatReachTheOriginAreInTheKey(String attack) throws Exception {
        start("cache.key.excluded_params", "utm_*", "cache.key.sorted_params", "true");
        String poisoned = proxy.get(attack).text();
        String victim = proxy.get("/a?id=1").text();
        assertTrue(victim.startsWith("GET /a?id=1 HTTP/1.1\n"), victim);
        assertNotEquals(poisoned, victim);
    }

    /**
     * Random URLs with few characters, so that many share a key. Each response must equal the response to a request of
     * its own.
     */
    @Test
    void requestsThatShareAResponseAreEqualForTheOrigin() throws Exception {
        start("cache.key.excluded_params", "u*, x", "cache.key.sorted_params", "true");
        Random random = new Random(SEED);
        String[] pieces = {"a", "b", "u", "x", "%61", "%75", "=", "=1", "&", "&", "&", ";", "%26", "%3D", "?", "+", "%"
        };
        try (RawClient client = new RawClient(proxy.address())) {
            for (int round = 0; round < 2000; round++) {
                StringBuilder query = new StringBuilder();
                for (int i = random.nextInt(7); i > 0; i--) {
                    query.append(pieces[random.nextInt(pieces.length)]);
                }
                String path = random.nextBoolean() ? "/p" : "/%70";
                RawClient.Response answer = client.get(path + "?" + query).response();
                String expected = asked(query.toString());
                assertEquals(
                        "GET /p" + (expected.isEmpty() ? "" : "?" + expected) + " HTTP/1.1",
                        line(answer),
                        "seed " + SEED + " round " + round + ": " + query);
            }
        }
        assertTrue(proxy.origin().requests() < 1500, "too few of them shared an answer");
    }

    /** Returns the expected request to the origin, computed in the simplest way. */
    private static String asked(String query) {
        List<String> kept = new ArrayList<>();
        for (String parameter : query.split("&", -1)) {
            String name = nameOf(parameter);
            if (!parameter.isEmpty() && !name.startsWith("u") && !name.equals("x")) {
                kept.add(parameter);
            }
        }
        if (kept.stream().noneMatch(parameter -> parameter.contains(";"))) {
            kept.sort(Comparator.comparing(CacheKeyPolicyTest::nameOf));
        }
        return String.join("&", kept);
    }

    private static String nameOf(String parameter) {
        return parameter
                .split("=", 2)[0]
                .replace("%61", "a")
                .replace("%75", "u")
                .replace("%26", "&")
                .replace("%3D", "=");
    }

    @Test
    void ignoredQueryIsNotSentToTheOrigin() throws Exception {
        start("cache.key.ignore_query", "true");
        assertEquals("GET /a HTTP/1.1", line(proxy.get("/a?x=evil")));
        assertEquals("GET /a HTTP/1.1", line(proxy.get("/a?y;z")));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void includedParametersAloneCountAndAreSentInOneOrder() throws Exception {
        start("cache.key.included_params", "page, id", "cache.key.sorted_params", "true");
        assertEquals("GET /a?id=1&page=2 HTTP/1.1", line(proxy.get("/a?page=2&x=evil&id=1")));
        assertEquals("GET /a?id=1&page=2 HTTP/1.1", line(proxy.get("/a?id=1&page=2&y")));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void wholeQueryIsSentByConfiguration() throws Exception {
        start("cache.key.excluded_params", "utm_*", "cache.key.send_whole_query", "true");
        assertEquals("GET /a?utm_a=1 HTTP/1.1", line(proxy.get("/a?utm_a=1")));
        assertEquals("GET /a?utm_a=1 HTTP/1.1", line(proxy.get("/a?utm_a=2")));
    }

    @Test
    void headAndRangesAreAskedForTheSame() throws Exception {
        byte[] content = ProxyExtension.content(3000);
        StringBuilder seen = new StringBuilder();
        proxy.start(
                request -> {
                    seen.append(request.head().lines().findFirst().orElse("")).append('\n');
                    if (request.head().startsWith("HEAD ")) {
                        request.send("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n");
                    } else {
                        request.ok(FRESH, content);
                    }
                },
                config -> with(config, "cache.key.excluded_params", "utm_*"));
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("HEAD /a?utm_a=1 HTTP/1.1\r\nHost: test.example\r\n\r\n");
            assertEquals(200, client.head().status());
        }
        proxy.get("/a?utm_a=2", "Range: bytes=0-9, 20-29\r\n");
        proxy.get("/a?utm_a=3", "Range: bytes=0-9\r\n");
        assertFalse(seen.toString().contains("utm"), seen.toString());
    }

    @Test
    void postIsSentUnchangedAndItsAnswerServesNoGetOfAnotherQuery() throws Exception {
        proxy.start(
                request -> {
                    if (request.head().startsWith("POST ")) {
                        String target = request.head().split(" ", 3)[1];
                        request.ok(FRESH + "Content-Location: " + target + "\r\n", RawInput.latin1("posted " + target));
                    } else {
                        credulous(request);
                    }
                },
                config -> with(config, "cache.key.excluded_params", "utm_*"));
        String answer = send("POST", "http://test.example/a?utm_a=evil", "Content-Length: 0\r\n")
                .text();
        assertEquals("posted /a?utm_a=evil", answer);
        assertEquals("GET /a HTTP/1.1", line(proxy.get("/a")));
        // A POST keeps its whole query, because its response may be stored for GET.
        send("POST", "http://test.example/b", "Content-Length: 0\r\n");
        assertEquals("posted /b", proxy.get("/b?utm_a=1").text());
    }

    @Test
    void postInvalidatesWhatIsStoredUnderTheKey_rfc9111_s4_4() throws Exception {
        proxy.start(
                request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())),
                config -> with(config, "cache.key.excluded_params", "utm_*"));
        assertEquals("answer 1", proxy.get("/a?utm_a=1").text());
        send("POST", "http://test.example/a?utm_a=2", "Content-Length: 0\r\n");
        assertEquals("answer 3", proxy.get("/a").text());
    }

    // the host

    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    void hostsWithOneNameShareAnAnswerAndTheOriginGetsOnlyThatName(String pristine) throws Exception {
        start(
                "cache.key.host",
                "shop.example",
                "pristine_host_hdr",
                pristine,
                "access.forwarded_fields",
                "x-forwarded-host, forwarded");
        String first = send("GET", "http://evil.example/a").text();
        assertFalse(first.contains("evil"), first);
        assertTrue(first.contains("X-Forwarded-Host: shop.example\n"), first);
        assertEquals("true".equals(pristine), first.contains("\nHost: shop.example\n"), first);
        assertEquals(first, send("GET", "http://de.example/a").text());
        assertEquals(1, proxy.origin().requests());
        // A URL with another port is another site.
        assertTrue(send("GET", "http://de.example:81/a").text().contains("X-Forwarded-Host: shop.example:81\n"));
    }

    /** A trusted proxy passes on URLs of clients. They must not bring in the parts that the key omits. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "X-Forwarded-Host",
                "X-Forwarded-Server",
                "X-Original-Host",
                "X-HTTP-Host-Override",
                "X-Host",
                "Forwarded",
                "X-Forwarded-Uri",
                "X-Original-URL",
                "X-Original-URI",
                "X-Rewrite-URL",
                "x_original_url"
            })
    void trustedProxysWordOfAnotherUrlDoesNotReachTheOrigin(String field) throws Exception {
        start(
                "cache.key.host",
                "shop.example",
                "cache.key.excluded_params",
                "utm_*",
                "access.trusted_proxies",
                "127.0.0.0/8",
                "access.forwarded_fields",
                "x-forwarded-host, x-forwarded-proto, forwarded");
        String first = send(
                        "GET",
                        "http://de.example/a?utm_a=1",
                        field + ": host=evil.example/a?utm_a=evil\r\n",
                        "X-Forwarded-Proto: https\r\n",
                        "X-Forwarded-For: 192.0.2.1\r\n")
                .text();
        assertFalse(first.contains("evil"), first);
        assertTrue(first.contains("X-Forwarded-Host: shop.example\n"), first);
        assertTrue(first.contains("X-Forwarded-Proto: https\n"), first);
    }

    @Test
    void trustedProxysWordOfTheHostStaysWhereOnlyTheQueryIsAnother() throws Exception {
        start("cache.key.excluded_params", "utm_*", "access.trusted_proxies", "127.0.0.0/8");
        String first = send(
                        "GET",
                        "http://internal.example/a?utm_a=1",
                        "X-Forwarded-Host: www.example\r\n",
                        "X-Original-URL: /a?utm_a=evil\r\n")
                .text();
        assertTrue(first.contains("X-Forwarded-Host: www.example\n"), first);
        assertFalse(first.contains("evil"), first);
    }

    @Test
    void rulesShareAHostOnlyWhereTheyAskTheOriginTheSame() throws Exception {
        proxy.start(CacheKeyPolicyTest::credulous, config -> {
            String origin = proxy.origin().url();
            ConfigValues shop = ConfigValues.builder()
                    .set(CacheKeyKeys.HOST, "shop.example")
                    .build();
            ConfigValues shopWithWholeQuery = ConfigValues.builder()
                    .set(CacheKeyKeys.HOST, "shop.example")
                    .set(CacheKeyKeys.SEND_WHOLE_QUERY, true)
                    .build();
            return config.map("http://a.example/", origin + "/", shop)
                    .map("http://b.example/", origin + "/", shop)
                    .map("http://c.example/", origin + "/c/", shop)
                    .map("http://d.example/", origin + "/", shopWithWholeQuery)
                    .map("http://shop.example/", origin + "/plain/");
        });
        assertEquals("GET /x HTTP/1.1", line(send("GET", "http://a.example/x")));
        assertEquals("GET /x HTTP/1.1", line(send("GET", "http://b.example/x")));
        assertEquals(1, proxy.origin().requests());
        assertEquals("GET /c/x HTTP/1.1", line(send("GET", "http://c.example/x")));
        assertEquals("GET /plain/x HTTP/1.1", line(send("GET", "http://shop.example/x")));
        assertEquals(3, proxy.origin().requests());
        send("GET", "http://d.example/x");
        assertEquals(4, proxy.origin().requests());
    }

    // fields and cookies

    @Test
    void fieldsAndCookiesTellAnswersApartAsVaryDoes() throws Exception {
        start("cache.key.fields", "X-Device", "cache.key.cookies", "lang");
        String tv = proxy.get("/a", "X-Device: tv\r\n", "Cookie: lang=de; user=1\r\n")
                .text();
        assertTrue(tv.contains("X-Device: tv"), tv);
        assertEquals(
                tv,
                proxy.get("/a", "X-Device: tv\r\n", "Cookie: user=2; lang=de\r\n")
                        .text());
        assertEquals(1, proxy.origin().requests());
        proxy.get("/a", "X-Device: tv\r\n", "Cookie: lang=en\r\n");
        proxy.get("/a", "X-Device: phone\r\n", "Cookie: lang=de\r\n");
        proxy.get("/a");
        assertEquals(4, proxy.origin().requests());
        proxy.get("/a");
        proxy.get("/a", "Cookie: lang=en\r\n", "X-Device: tv\r\n");
        assertEquals(4, proxy.origin().requests());
    }

    @Test
    void distinguishedRequestsDoNotWaitForEachOthersAnswer() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        proxy.start(
                request -> {
                    both.countDown();
                    both.await();
                    credulous(request);
                },
                config -> with(config, "cache.key.fields", "X-Device", "cache.collapse_wait", "100ms"));
        try (RawClient tv = new RawClient(proxy.address());
                RawClient phone = new RawClient(proxy.address())) {
            tv.get("/a", "X-Device: tv\r\n");
            ProxyExtension.await("the first fetch", () -> both.getCount() == 1);
            phone.get("/a", "X-Device: phone\r\n");
            assertTrue(tv.response().text().contains("X-Device: tv"));
            assertTrue(phone.response().text().contains("X-Device: phone"));
        }
    }

    // generations and purges

    @Test
    void anIncreasedGenerationFindsNoStoredObjects() throws Exception {
        start("cache.key.generation", "1");
        proxy.get("/a");
        proxy.get("/a");
        assertEquals(1, proxy.origin().requests());
        proxy.proxy()
                .reload(ProxyConfig.builder()
                        .listen("127.0.0.1:0")
                        .map("/", proxy.origin().url())
                        .set("cache.ram_size", "32MiB")
                        .set("log.access.enabled", "false")
                        .set("worker.event_loops", "1")
                        .set("cache.key.generation", "2")
                        .build());
        proxy.get("/a");
        assertEquals(2, proxy.origin().requests());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "cache.key.excluded_params | utm_*        | /a?utm_a=2 | http://test.example/a",
                "cache.key.ignore_query    | true         | /a?y       | http://test.example/a",
                "cache.key.sorted_params   | true         | /a?c&b     | http://test.example/a?b&c",
                "cache.key.generation      | 7            | /a         | http://test.example/a generation=7",
                "cache.key.fields          | X-Device     | /a         | http://test.example/a",
                "cache.key.cookies         | lang         | /a         | http://test.example/a"
            })
    void purgeAndInspectionFindWhatIsStoredUnderARulesKey(String key, String value, String path, String expected)
            throws Exception {
        proxy.start(
                request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())),
                config -> with(config, key, value));
        String[] fields = {"X-Device: tv\r\n", "Cookie: lang=de\r\n"};
        assertEquals("answer 1", proxy.get(path, fields).text());
        assertEquals("answer 1", proxy.get(path, fields).text());
        LookupSource.LookupReport report = lookup("http://test.example" + path);
        assertEquals(expected, report.key());
        assertTrue(report.stored() != null, report.reason());
        assertEquals(200, send("PURGE", "http://test.example" + path).status());
        assertEquals(404, send("PURGE", "http://test.example" + path).status());
        assertEquals("nothing is stored", lookup("http://test.example" + path).reason());
        assertEquals("answer 2", proxy.get(path, fields).text());
    }

    @Test
    void aPurgeOnAnyHostRemovesSharedObjects() throws Exception {
        start("cache.key.host", "shop.example");
        send("GET", "http://a.example/x");
        assertEquals(200, send("PURGE", "http://b.example/x").status());
        send("GET", "http://a.example/x");
        assertEquals(2, proxy.origin().requests());
    }

    private LookupSource.LookupReport lookup(String url) throws Exception {
        List<LookupSource.Field> fields =
                List.of(new LookupSource.Field("X-Device", "tv"), new LookupSource.Field("Cookie", "lang=de"));
        return new CacheInspection(new ServerView(proxy.proxy()))
                .lookup(url, fields)
                .toCompletableFuture()
                .get();
    }

    @Test
    void ruleHasAKeyOfItsOwn() throws Exception {
        UnaryOperator<ProxyConfig.Builder> rules = config -> config.map(
                "http://a.example/",
                proxy.origin().url(),
                ConfigValues.builder().set(CacheKeyKeys.IGNORE_QUERY, true).build());
        proxy.start(CacheKeyPolicyTest::credulous, rules);
        assertEquals("GET /x HTTP/1.1", line(send("GET", "http://a.example/x?y")));
        assertEquals("GET /x?y HTTP/1.1", line(send("GET", "http://b.example/x?y")));
    }
}
