package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.record.PurgeRecord;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PURGE and BAN with patterns, in the bytes that plugins and libraries send. */
class PatternRequestTest {
    /** Responses of the test: a host and a path each. */
    private static final List<String> STORED = List.of(
            "test.example/",
            "test.example/posts/1",
            "test.example/posts/1?p=2",
            "test.example/img/a.png",
            "other.example/");

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                request -> {
                    String type = request.has(".png") ? "image/png" : "text/html; charset=utf-8";
                    String tags = request.has("/posts/1") ? "cat_p,cat_p_17,FPC" : "store,cms_b_1";
                    request.ok(
                            "Cache-Control: max-age=600\r\nContent-Type: " + type + "\r\nX-Magento-Tags: " + tags
                                    + "\r\nX-Cache-Tags: " + tags + "\r\nCache-Tags: " + tags + "\r\n",
                            RawInput.latin1("answer"));
                },
                more);
    }

    private RawClient.Response send(String request) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send(request).response();
        }
    }

    private boolean isHit(String url) throws IOException {
        int slash = url.indexOf('/');
        int before = proxy.origin().requests();
        RawClient.Response response =
                send("GET " + url.substring(slash) + " HTTP/1.1\r\nHost: " + url.substring(0, slash) + "\r\n\r\n");
        assertEquals(200, response.status(), response.text());
        proxy.settle();
        return proxy.origin().requests() == before;
    }

    private static String request(String line, String... fields) {
        return line + " HTTP/1.1\r\n" + String.join("\r\n", fields) + "\r\n\r\n";
    }

    static List<Arguments> plugins() {
        String wordPress = "User-Agent: WordPress/6.8.1; https://test.example\r\nAccept: */*\r\n"
                + "Accept-Encoding: deflate, gzip, br, zstd\r\nConnection: close";
        String guzzle = "User-Agent: GuzzleHttp/7";
        return List.of(
                Arguments.of(
                        "WP Rocket at o2switch, one page",
                        request(
                                "PURGE /posts/1",
                                "host: test.example",
                                wordPress,
                                "X-VC-Purge-Key: secret",
                                "X-Purge-Regex: .*"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "WP Rocket at o2switch, the site",
                        request("PURGE /", "host: test.example", wordPress, "X-Purge-Regex: .*"),
                        "/ /posts/1 /posts/1?p=2 /img/a.png"),
                Arguments.of(
                        "Proxy Cache Purge, a page with any query",
                        request(
                                "PURGE /posts/1",
                                "host: test.example",
                                wordPress,
                                "X-Purge-Method: ban-regex",
                                "X-Ban-Regex: ^/posts/1($|/$|\\?.*|/\\?.*)"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "Proxy Cache Purge, tags",
                        request(
                                "PURGE /",
                                "host: test.example",
                                wordPress,
                                "X-Purge-Method: tags",
                                "X-Cache-Tags-Pattern: (^|,)cat_p_17(,|$)"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "a WordPress theme, one URL",
                        request("BAN /", "Host: test.example", wordPress, "X-Ban-Method: url", "X-Ban-Url: /posts/1"),
                        "/posts/1"),
                Arguments.of(
                        "a WordPress theme, an expression",
                        request("BAN /", "Host: test.example", wordPress, "X-Ban-Method: regex", "X-Ban-Regex: ^/img/"),
                        "/img/a.png"),
                Arguments.of(
                        "FOSHttpCache, paths",
                        request(
                                "BAN /",
                                "Host: test.example",
                                guzzle,
                                "X-Host: .*",
                                "X-Url: /posts/.*",
                                "X-Content-Type: .*"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "FOSHttpCache, type and hosts",
                        request(
                                "BAN /",
                                "Host: test.example",
                                guzzle,
                                "X-Host: ^(test.example|Www.Test.Example)$",
                                "X-Url: .*",
                                "X-Content-Type: image/png"),
                        "/img/a.png"),
                Arguments.of(
                        "FOSHttpCache, tags",
                        request(
                                "BAN /",
                                "Host: test.example",
                                guzzle,
                                "X-Host: .*",
                                "X-Url: .*",
                                "X-Content-Type: .*",
                                "X-Cache-Tags: (^|,)(cms_b_1|other)(,|$)"),
                        "/ /img/a.png"),
                Arguments.of(
                        "FOSHttpCache, everything",
                        request("BAN /", "Host: test.example", guzzle, "X-Host: .*", "X-Url: .*", "X-Content-Type: .*"),
                        "/ /posts/1 /posts/1?p=2 /img/a.png"),
                Arguments.of(
                        "Magento, tags",
                        request(
                                "PURGE /",
                                "Host: test.example",
                                "Connection: close",
                                "X-Magento-Tags-Pattern: ((^|,)cat_p_17(,|$))|((^|,)cat_p_18(,|$))"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "Magento, flush",
                        request("PURGE /", "Host: test.example", "X-Magento-Tags-Pattern: .*"),
                        "/ /posts/1 /posts/1?p=2 /img/a.png"),
                Arguments.of(
                        "Drupal purge with Varnish",
                        request("BAN /", "Host: test.example", guzzle, "Cache-Tags: cat_p_17|node:1"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "API Platform",
                        request("BAN /", "Host: test.example", "ApiPlatform-Ban-Regex: (^|\\,)cms_b_1($|\\,)"),
                        "/ /img/a.png"),
                Arguments.of(
                        "Drupal's zero-config purger",
                        request("BAN /tags", "Host: test.example", guzzle, "Cache-Tags: node:1 cat_p_17 node:2"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "FOSHttpCache, keys",
                        request("PURGEKEYS /", "Host: test.example", guzzle, "xkey-purge: other cms_b_1"),
                        "/ /img/a.png"),
                Arguments.of(
                        "W3 Total Cache, maps of the site",
                        request(
                                "PURGE /([a-z0-9_\\-]*?)posts/([a-z0-9_\\-]*)?",
                                "Host: test.example",
                                "Connection: close",
                                "X-Purge-Method: regex"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "a script with X-Ban-Url and X-Ban-Host",
                        request("BAN /", "Host: test.example", "X-Ban-Url: ^/posts", "X-Ban-Host: test.example"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "a script with X-Ban-Host in upper case",
                        request("BAN /", "Host: test.example", "X-Ban-Url: ^/posts", "X-Ban-Host: ^TEST[.]"),
                        "/posts/1 /posts/1?p=2"),
                Arguments.of(
                        "a script with an expression as path",
                        request("PURGE /.*[.]png$", "Host: test.example", "X-Purge-Method: regex"),
                        "/img/a.png"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("plugins")
    void aPluginPurgesWhatItMeans(String plugin, String request, String purged) throws Exception {
        start(config -> config);
        for (String url : STORED) {
            isHit(url);
        }
        RawClient.Response answer = send(request);
        assertEquals(200, answer.status(), answer.text());
        List<String> gone = new ArrayList<>();
        for (String url : STORED) {
            if (!isHit(url)) {
                gone.add(url);
            }
        }
        List<String> expected = new ArrayList<>();
        for (String path : purged.split(" ", -1)) {
            expected.add("test.example" + path);
        }
        assertEquals(expected, gone);
        List<PurgeRecord> records = proxy.proxy().shared().purges().latest(null, 10);
        assertEquals(1, records.size());
        assertEquals("request", records.get(0).client().via());
        assertTrue(answer.text().contains("purge " + records.get(0).id()), answer.text());
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            value = {
                "BAN / X-Ban-Url: (a => 400 => X-Ban-Url: error parsing regexp: missing closing ): `(a`; nothing was purged",
                "BAN / X-Ban-Url: (a{1000}){1000} => 400 => X-Ban-Url: error parsing regexp: it has a program of",
                "BAN /[ => 400 => the path: error parsing regexp: missing closing ]: `[`; nothing was purged",
                "PURGE / X-Magento-Tags-Pattern: * => 400 => X-Magento-Tags-Pattern: error parsing regexp",
                "BAN / X-Ban-Url: => 400 => X-Ban-Url is empty; nothing was purged"
            })
    void aBadExpressionIsRefusedWithItsPlace(String request, int status, String text) throws Exception {
        start(config -> config);
        isHit("test.example/");
        String[] parts = request.split(" ", 3);
        String path = parts[1];
        String field = parts.length == 3 ? parts[2] + "\r\n" : "";
        RawClient.Response answer =
                send(parts[0] + " " + path + " HTTP/1.1\r\nHost: test.example\r\n" + field + "\r\n");
        assertEquals(status, answer.status(), answer.text());
        assertTrue(answer.text().contains(text), answer.text());
        assertTrue(isHit("test.example/"));
    }

    @Test
    void limitsAndRepeatedFieldsPurgeNothing() throws Exception {
        start(config -> config);
        isHit("test.example/");
        String host = "Host: test.example";
        RawClient.Response twice = send(request("BAN /", host, "X-Ban-Url: /a", "X-Ban-Url: /b"));
        assertEquals("400 Bad Request: X-Ban-Url is repeated; nothing was purged\n", twice.text());
        RawClient.Response large = send(request("BAN /", host, "X-Ban-Url: /" + "a".repeat(4000)));
        assertEquals("400 Bad Request: the conditions have more than 4000 bytes; nothing was purged\n", large.text());
        proxy.proxy().shared().invalidator().onPattern(() -> {});
        for (int i = 0; i < 64; i++) {
            assertEquals(
                    200, send(request("BAN /", host, "X-Ban-Url: /none" + i)).status());
        }
        RawClient.Response full = send(request("BAN /", host, "X-Ban-Url: /"));
        assertEquals(429, full.status());
        assertTrue(full.text().contains("soft ones are in force until purge.undo_window has passed"), full.text());
        assertTrue(isHit("test.example/"));
        assertEquals(64, proxy.counted(Counter.PURGES_PATTERN));
    }

    @Test
    void permissionComesFirst() throws Exception {
        start(config -> config.set("purge.allow", "192.0.2.1"));
        isHit("test.example/");
        assertEquals(
                403,
                send(request("BAN /", "Host: test.example", "X-Ban-Url: (")).status());
        assertTrue(isHit("test.example/"));
        assertEquals(0, proxy.proxy().shared().invalidator().patterns().size());
    }

    /** A host that no rule maps, such as the name of the cache server, stands for every host. */
    @Test
    void aHostWithoutARuleStandsForAllHosts() throws Exception {
        proxy.withoutRules();
        start(config -> config.map("http://test.example/", proxy.origin().url())
                .map("http://other.example/", proxy.origin().url()));
        for (String url : STORED) {
            isHit(url);
        }
        RawClient.Response answer =
                send(request("PURGE /", "Host: varnish:6081", "X-Magento-Tags-Pattern: (^|,)cms_b_1(,|$)"));
        assertEquals(200, answer.status(), answer.text());
        for (String url : STORED) {
            assertEquals(url.contains("/posts/"), isHit(url), url);
        }
        assertEquals(
                200,
                send(request("PURGE /", "Host: varnish:6081", "X-Magento-Tags-Pattern: .*"))
                        .status());
        assertTrue(!isHit("other.example/") && !isHit("test.example/posts/1"));
    }

    /** The cache's own address as the host stands for every site, with or without a rule for all hosts. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '=',
            value = {
                "PURGE / ~ X-Magento-Tags-Pattern: ((^|,)cms_b_1(,|$)) = true",
                "BAN / ~ X-Host: ^(test|other).example$ ~ X-Url: ^/(img/a.png)?$ ~ X-Content-Type: .* = true",
                "BAN / ~ X-Host: .* ~ X-Url: .* ~ X-Content-Type: .* ~ X-Cache-Tags: (^|,)(cms_b_1)(,|$) = true",
                "BAN /tags ~ Cache-Tags: node:1 cms_b_1 = true",
                "PURGE / ~ xkey: cms_b_1 = true",
                "PURGE / ~ X-Magento-Tags-Pattern: .* = false",
                "PURGE / ~ X-Purge-Regex: ^.* = false",
                "PURGE / ~ X-Purge-Regex: .* = false",
                "BAN / ~ X-Ban-Url: .* = false",
                "BAN / = false"
            })
    void theAddressOfTheCacheStandsForAllSites(String request, boolean keepsPosts) throws Exception {
        start(config -> config);
        for (String host : List.of("127.0.0.1:6081", "[::1]:6081", "varnish")) {
            for (String url : STORED) {
                isHit(url);
            }
            String[] parts = request.split(" ~ ", -1);
            parts[0] += " HTTP/1.1\r\nHost: " + host;
            RawClient.Response answer = send(String.join("\r\n", parts) + "\r\n\r\n");
            assertEquals(200, answer.status(), answer.text());
            for (String url : STORED) {
                assertEquals(keepsPosts && url.contains("/posts/"), isHit(url), host + " " + url + answer.text());
            }
        }
    }

    /** The expression for everything is no other purge than an equal one, except that it is a prefix on a site. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "varnish:6081 | PURGE /posts/ | X-Purge-Regex: .* | pattern | test.example/posts/1 test.example/posts/1?p=2",
                "test.example | PURGE /posts/ | X-Purge-Regex: .* | prefix | test.example/posts/1 test.example/posts/1?p=2",
                "other.example | PURGE / | X-Purge-Regex: .* | host | other.example/",
                "other.example | BAN / | X-Ban-Url: .* | host | other.example/",
                "other.example | BAN / | Accept: */* | host | other.example/",
                "varnish:6081 | BAN / | Accept: */* | all | ALL_STORED",
                "varnish:6081 | BAN / | X-Ban-Url: .* | all | ALL_STORED",
                "varnish:6081 | BAN / | X-Ban-Method: url~X-Ban-Url: /~X-Purge-Regex: .* | pattern | test.example/ other.example/"
            })
    void anExpressionForEverythingBelowAPath(String host, String line, String fields, String scope, String purged)
            throws Exception {
        start(config -> config);
        for (String url : STORED) {
            isHit(url);
        }
        RawClient.Response answer = send(request(line, "Host: " + host, fields.replace("~", "\r\n")));
        assertEquals(200, answer.status(), answer.text());
        List<String> gone = new ArrayList<>(STORED);
        for (String url : STORED) {
            if (isHit(url)) {
                gone.remove(url);
            }
        }
        assertEquals(purged.equals("ALL_STORED") ? STORED : List.of(purged.split(" ", -1)), gone);
        assertEquals(
                scope, proxy.proxy().shared().purges().latest(null, 1).get(0).scope());
    }

    /** Tags with a host that no rule maps cover every site, if the client may purge under every rule. */
    @Test
    void tagsWithAHostWithoutARuleStandForAllSites() throws Exception {
        proxy.withoutRules();
        start(config -> config.map("http://test.example/", proxy.origin().url())
                .map("http://other.example/", proxy.origin().url()));
        isHit("test.example/");
        isHit("other.example/");
        RawClient.Response answer = send(request("PURGE /", "Host: 192.0.2.7", "xkey: cms_b_1"));
        assertEquals(200, answer.status(), answer.text());
        assertTrue(answer.text().contains("tag cms_b_1 on every site"), answer.text());
        assertTrue(answer.text().endsWith("; no remap rule maps this host\n"), answer.text());
        assertTrue(!isHit("test.example/") && !isHit("other.example/"));
    }

    /** With a rule for every host, a mistyped Host with a dot is a site of its own, without responses. */
    @Test
    void tagsWithAMistypedHostUnderARuleForEveryHostPurgeNothing() throws Exception {
        start(config -> config);
        isHit("test.example/");
        RawClient.Response answer = send(request("PURGE /", "Host: tset.example", "xkey: cms_b_1"));
        assertEquals(200, answer.status(), answer.text());
        assertTrue(answer.text().contains("tag cms_b_1 on the site of host tset.example"), answer.text());
        assertTrue(isHit("test.example/"));
    }

    /** Magento's default limit of a request is 7,680 bytes. A list of tags is no pattern, so no other limit applies. */
    @Test
    void aListOfTagsHasNoLimitButThatOfTheHeader() throws Exception {
        start(config -> config);
        isHit("test.example/");
        isHit("test.example/posts/1");
        StringBuilder tags = new StringBuilder("((^|,)cms_b_1(,|$))");
        while (tags.length() < 7_600) {
            tags.append("|((^|,)cat_p_").append(tags.length()).append("(,|$))");
        }
        RawClient.Response answer = send(request("PURGE /", "Host: test.example", "X-Magento-Tags-Pattern: " + tags));
        assertEquals(200, answer.status(), answer.text());
        assertTrue(!isHit("test.example/") && isHit("test.example/posts/1"));
        assertEquals(0, proxy.proxy().shared().invalidator().patterns().size());
    }

    /** Tags that are not read from the field of responses can only be purged by pattern. */
    @Test
    void aListOfTagsIsAPatternIfTheFieldHasNoTags() throws Exception {
        start(config -> config.set("cache.tags.fields", "xkey"));
        for (String url : STORED) {
            isHit(url);
        }
        RawClient.Response answer = send(request("BAN /tags", "Host: test.example", "Cache-Tags: node:1 cat_p_17"));
        assertEquals(200, answer.status(), answer.text());
        assertTrue(isHit("test.example/") && !isHit("test.example/posts/1"), answer.text());
    }

    /** Keys need a field of tags, and a backslash is accepted in patterns only. No purge is sent to the origin. */
    @Test
    void keysWithoutTagsAndBackslashesOutsidePatternsAreRefused() throws Exception {
        start(config -> config);
        RawClient.Response answer = send(request("PURGEKEYS /", "Host: test.example"));
        assertEquals(400, answer.status());
        assertTrue(answer.text().contains("PURGEKEYS has no field of tags"), answer.text());
        for (String line : List.of("GET /a\\b", "PURGE /a\\b", "PURGE /(a\\b", "GET /(a\\b)", "POST /.*\\b")) {
            assertEquals(400, send(request(line, "Host: test.example")).status(), line);
        }
        answer = send(request("BAN /a\\b", "Host: test.example", "X-Purge-Regex: .*"));
        assertEquals(
                "400 Bad Request: the path has a backslash, but is not an expression; nothing was purged\n",
                answer.text());
        assertEquals(0, proxy.origin().requests());
        assertEquals(List.of(), proxy.proxy().shared().purges().latest(null, 10));
    }

    /** A backslash alone makes a path an expression, if the request says that it is one. */
    @Test
    void aBackslashIsAcceptedInExpressions() throws Exception {
        start(config -> config);
        isHit("test.example/img/a.png");
        isHit("test.example/posts/1");
        RawClient.Response answer = send(request("PURGE /img/a\\.png", "Host: test.example", "X-Purge-Method: regex"));
        assertEquals(200, answer.status(), answer.text());
        assertTrue(!isHit("test.example/img/a.png") && isHit("test.example/posts/1"));
        answer = send(request("BAN http://test.example/p\\w+/", "Host: test.example"));
        assertEquals(200, answer.status(), answer.text());
        assertTrue(isHit("test.example/img/a.png") && !isHit("test.example/posts/1"));
    }

    /** A purge of every site needs the permission of every rule, whatever its form. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "PURGE / ~ xkey: cms_b_1",
                "PURGEKEYS / ~ xkey-purge: cms_b_1",
                "PURGE / ~ X-Magento-Tags-Pattern: ((^|,)cms_b_1(,|$))",
                "PURGE / ~ X-Magento-Tags-Pattern: .*",
                "BAN / ~ Cache-Tags: cms_b_1",
                "BAN / ~ X-Ban-Url: .",
                "BAN / ~ X-Ban-Url: .*",
                "BAN / ~ Accept: */*",
                "PURGE / ~ X-Purge-Regex: .*"
            })
    void everySiteNeedsThePermissionOfEveryRule(String request) throws Exception {
        start(config -> config.map("http://private.example/", proxy.origin().url(), permitted("192.0.2.1")));
        isHit("test.example/");
        isHit("private.example/");
        String[] parts = request.split(" ~ ", -1);
        for (String host : List.of("127.0.0.1", "[::1]:6081", "varnish", "localhost:80")) {
            RawClient.Response answer = send(request(parts[0], "Host: " + host, parts[1]));
            String name = host.replaceFirst(":[0-9]+$", "");
            assertEquals(
                    "403 Forbidden: purge.allow of remap[1] does not contain 127.0.0.1; the Host " + name
                            + " is no site, so this purge covers every site and needs purge.allow of every rule\n",
                    answer.text());
        }
        assertTrue(isHit("test.example/") && isHit("private.example/"));
        RawClient.Response own = send(request(parts[0], "Host: test.example", parts[1]));
        assertEquals(200, own.status(), own.text());
        assertTrue(!isHit("test.example/") && isHit("private.example/"));
    }

    private static ConfigValues permitted(String address) {
        return ConfigValues.builder()
                .set(ConfigKeys.PURGE_ALLOW, List.of(address))
                .build();
    }

    /** A rule whose site is the host of another rule gives no right to the responses of that rule. */
    @Test
    void aSiteWithTheNameOfAHostNeedsThePermissionForThisHost() throws Exception {
        proxy.withoutRules();
        start(config -> config.map(
                        "http://test.example/",
                        proxy.origin().url(),
                        ConfigValues.builder()
                                .set(RemapKeys.SITE, "private.example")
                                .build())
                .map("http://private.example/", proxy.origin().url(), permitted("192.0.2.1")));
        isHit("private.example/");
        RawClient.Response answer = send(request("PURGE /", "Host: test.example", "xkey: cms_b_1"));
        assertEquals("403 Forbidden: purge.allow of remap[1] does not contain 127.0.0.1\n", answer.text());
        assertTrue(isHit("private.example/"));
    }

    /** The forward proxy maps every host, so that a host is a site of its own, and its permission is the general one. */
    @ParameterizedTest
    @ValueSource(strings = {"/own/", "http://own.example/"})
    void aHostOfTheForwardProxyIsOneSite(String rule) throws Exception {
        proxy.withoutRules();
        UnaryOperator<ProxyConfig.Builder> forwarding = config -> config.set("forward_proxy.enabled", "true")
                .set("forward_proxy.allow", "127.0.0.1")
                .map(rule, proxy.origin().url(), permitted("127.0.0.1"));
        start(config -> forwarding.apply(config).set("purge.allow", "192.0.2.1"));
        RawClient.Response answer = send(request("PURGE /", "Host: 127.0.0.1", "xkey: cms_b_1"));
        assertTrue(answer.text().startsWith("403 Forbidden: purge.allow does not contain 127.0.0.1; "), answer.text());
        proxy.reload(config -> forwarding.apply(config).set("purge.allow", "127.0.0.1"));
        answer = send(request("PURGE /", "Host: 127.0.0.1", "xkey: cms_b_1"));
        assertTrue(answer.text().contains("tag cms_b_1 on every site"), answer.text());
        answer = send(request("PURGE /", "Host: test.example", "xkey: cms_b_1"));
        assertTrue(answer.text().contains("on the site of host test.example"), answer.text());
    }

    /** A list beyond the limit of tags is refused, and names the limit. */
    @Test
    void tooManyTagsInAListAreRefused() throws Exception {
        start(config -> config);
        isHit("test.example/");
        StringBuilder tags = new StringBuilder("(^|,)(cms_b_1");
        for (int i = 0; i < 1000; i++) {
            tags.append('|').append(Integer.toString(i, Character.MAX_RADIX));
        }
        RawClient.Response answer = send(request("BAN /", "Host: test.example", "X-Cache-Tags: " + tags + ")(,|$)"));
        assertEquals(
                "400 Bad Request: number of tags: actual more than 1000, limit=1000; nothing was purged\n",
                answer.text());
        assertTrue(isHit("test.example/"));
    }

    @Test
    void softly() throws Exception {
        start(config -> config);
        isHit("test.example/");
        RawClient.Response answer =
                send(request("BAN /", "Host: test.example", "X-Ban-Url: ^/$", "Fastly-Soft-Purge: 1"));
        assertTrue(answer.text().contains("made stale responses for which this holds: host in"), answer.text());
        String status = send("GET / HTTP/1.1\r\nHost: test.example\r\n\r\n").field("cache-status");
        assertTrue(status.contains("detail=stale-by-pattern; purged-by=s"), status);
    }
}
