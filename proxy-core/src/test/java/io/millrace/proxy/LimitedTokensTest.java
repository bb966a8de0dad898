package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tokens purge their sites by their kinds only, and see only their own purges. */
class LimitedTokensTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    @TempDir
    Path directory;

    private AdminFront front;

    @BeforeEach
    void start() throws IOException {
        Path socket = directory.resolve("admin.sock");
        proxy.purgeRecords(directory.resolve("purges"));
        proxy.start(
                request -> request.ok(
                        "Cache-Control: max-age=6000\r\nxkey: k\r\nETag: \"1\"\r\n", RawInput.latin1("answer")),
                config -> sharedHosts(
                                sites(config, proxy.origin().url()),
                                proxy.origin().url())
                        .set("admin.socket", socket.toString()));
        front = AdminFront.of(directory, socket);
    }

    /** The sites a.example and other.example by host, and the site shop of two hosts. */
    static ProxyConfig.Builder sites(ProxyConfig.Builder config, String origin) {
        ConfigValues shop = ConfigValues.builder().set(RemapKeys.SITE, "shop").build();
        return config.map("http://a.example/", origin)
                .map("http://other.example/", origin)
                .map("http://shop.example/", origin, shop)
                .map("http://www.shop.example/", origin, shop);
    }

    /**
     * Adds hosts that belong to two sites: mixed.example belongs to shop below /x only, and guest.example shares keys with
     * own.example.
     */
    private static ProxyConfig.Builder sharedHosts(ProxyConfig.Builder config, String origin) {
        ConfigValues guest =
                ConfigValues.builder().set(CacheKeyKeys.HOST, "own.example").build();
        ConfigValues other =
                ConfigValues.builder().set(RemapKeys.SITE, "other.example").build();
        ConfigValues shop = ConfigValues.builder().set(RemapKeys.SITE, "shop").build();
        return config.map("http://own.example/", origin)
                .map("http://guest.example/", origin, guest)
                .map("http://mixed.example/x", origin + "/x", shop)
                .map("http://mixed.example/", origin, other);
    }

    @AfterEach
    void close() {
        front.close();
    }

    private boolean isHit(String host) throws IOException {
        int before = proxy.origin().requests();
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("GET /x HTTP/1.1\r\nHost: " + host + "\r\n\r\n").response();
        }
        proxy.settle();
        return proxy.origin().requests() == before;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sites | {'url':'http://a.example/x'} | a.example",
                "sites | {'url':'http://A.example/x'} | a.example",
                "sites | {'url':'http://a.example/x','mode':'soft'} | a.example",
                "sites | {'host':'www.shop.example'} | www.shop.example",
                "sites | {'prefix':'http://shop.example/'} | shop.example",
                "sites | {'tags':['k'],'site':'SHOP'} | shop.example",
                "sites | {'tags':['k'],'site':'a.example'} | a.example",
                "sites | {'url':'http://mixed.example/x'} | mixed.example",
                "sites | {'url':'http://mixed.example/%78'} | mixed.example",
                "sites | {'url':'http://own.example/x'} | own.example",
                "sites | {'url':'https://a.example/x'} | a.example",
                "sites | {'url':'https://a.example/x','mode':'soft'} | a.example",
                "tags  | {'tags':['k']} | other.example",
                "tags  | {'tags':['k'],'site':'other.example'} | other.example",
                "a     | {'where':'age < 1h'} | a.example",
                "a     | {'where':'age < 1h','mode':'soft'} | a.example",
                "sites | {'where':'host == \\\"a.example\\\"'} | a.example",
                "admin | {'regex':'^http://other'} | other.example",
                "admin | {'scope':'all'} | other.example"
            })
    void allowedPurgesAreInForce(String token, String body, String host) throws IOException {
        isHit(host);
        assertTrue(isHit(host));
        RawClient.Response response = purge(token, body);
        assertEquals(200, response.status(), response.text());
        assertFalse(isHit(host));
        String records = front.request(token, "GET", "/v1/cache/purges", "").text();
        assertTrue(records.contains("\"token\":\"" + token + "\",\"address\":\"127.0.0.1\""), records);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sites | {'url':'http://other.example/x'} | site-refused",
                "sites | {'url':'http://other.example/x','mode':'soft'} | site-refused",
                "sites | {'url':'http://unmapped.example/x'} | site-refused",
                "sites | {'host':'other.example'} | site-refused",
                "sites | {'prefix':'http://other.example/'} | site-refused",
                "sites | {'group':'g','host':'other.example'} | site-refused",
                "sites | {'tags':['k']} | site-refused",
                "sites | {'tags':['k'],'site':'other.example'} | site-refused",
                "sites | {'tags':['k'],'site':'shop.example'} | site-refused",
                "sites | {'scope':'all'} | site-refused",
                "sites | {'url':'http://OTHER.example/x'} | site-refused",
                "sites | {'url':'http://other.example:80/x'} | site-refused",
                "sites | {'url':'https://other.example/x'} | site-refused",
                "sites | {'url':'http://mixed.example/y'} | site-refused",
                "sites | {'url':'http://mixed.example/%79','mode':'soft'} | site-refused",
                "sites | {'url':'http://mixed.example/x/../y'} | site-refused",
                "sites | {'host':'OTHER.example:80'} | site-refused",
                "sites | {'host':'mixed.example'} | site-refused",
                "sites | {'prefix':'http://mixed.example/x'} | site-refused",
                "sites | {'prefix':'http://Other.example/%78'} | site-refused",
                "sites | {'host':'own.example'} | site-refused",
                "sites | {'host':'guest.example'} | site-refused",
                "sites | {'prefix':'http://own.example/x'} | site-refused",
                "sites | {'group':'g','host':'own.example'} | site-refused",
                "sites | {'tags':['k'],'site':'own.example'} | site-refused",
                "sites | {'tags':['k'],'site':'Other.Example'} | site-refused",
                "tags  | {'url':'http://other.example/x'} | kind-refused",
                "tags  | {'host':'other.example'} | kind-refused",
                "tags  | {'regex':'x'} | kind-refused",
                "sites | {'where':'age < 1h'} | site-refused",
                "sites | {'regex':'.','mode':'soft'} | site-refused",
                "a     | {'where':'host == \\\"other.example\\\"'} | site-refused",
                "tags  | {'scope':'all'} | kind-refused"
            })
    void otherPurgesAre403AndPurgeNothing(String token, String body, String code) throws IOException {
        isHit("other.example");
        for (String path : new String[] {"/v1/cache/purge", "/v1/cache/purge/dry-run"}) {
            RawClient.Response response = front.request(token, "POST", path, body.replace('\'', '"'));
            assertEquals(403, response.status(), response.text());
            assertTrue(response.text().contains("\"code\":\"" + code + "\""), response.text());
            assertTrue(response.text().contains("token '" + token + "'"), response.text());
        }
        assertTrue(isHit("other.example"));
        assertEquals(
                "{\"purges\":[]}",
                front.request("admin", "GET", "/v1/cache/purges", "").text());
    }

    /** A site with a typing error is no success with nothing purged. */
    @ParameterizedTest
    @ValueSource(strings = {"unknown", "b.example", "shop.example"})
    void aSiteThatNoRuleHasIs404(String site) throws IOException {
        for (String path : new String[] {"/v1/cache/purge", "/v1/cache/purge/dry-run"}) {
            RawClient.Response response =
                    front.request("admin", "POST", path, "{\"tags\":[\"k\"],\"site\":\"" + site + "\"}");
            assertEquals(404, response.status(), response.text());
            assertTrue(
                    response.text()
                            .contains("{\"code\":\"unknown-site\",\"message\":\"no site " + site
                                    + ": no rule has it as remap[].site, nor as its host; nothing was purged\""),
                    response.text());
        }
    }

    @Test
    void aPurgeWithoutATokenNamesTheFieldsOfTokens() throws IOException {
        RawClient.Response response =
                front.send("POST /v1/cache/purge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
        assertEquals(401, response.status());
        assertTrue(
                response.text()
                        .contains("a token of admin.token_file or admin.tokens is needed, as 'Authorization: Bearer"
                                + " TOKEN', or in Fastly-Key or X-Auth-Key"),
                response.text());
    }

    /** A pattern that holds for every response covers only those of the token's sites. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'where':'age < 1h || status == 200'}",
                "{'where':'!(status == 404) || status != 0','mode':'soft'}",
                "{'regex':'.'}",
                "{'wildcard':'http://*'}"
            })
    void patternsAreLimitedToTheSites(String body) throws IOException {
        isHit("a.example");
        isHit("other.example");
        String count = front.request("a", "POST", "/v1/cache/purge/dry-run", body.replace('\'', '"'))
                .text();
        assertFalse(count.contains("http://other.example"), count);
        RawClient.Response response = purge("a", body);
        assertEquals(200, response.status(), response.text());
        assertTrue(response.text().contains("host in (\\\"a.example\\\") && ("), response.text());
        assertTrue(isHit("other.example"));
        assertFalse(isHit("a.example"));
    }

    /** Parentheses in an expression do not end those around it. */
    @Test
    void aPatternCannotLeaveItsLimit() throws IOException {
        isHit("other.example");
        RawClient.Response response = purge("a", "{'where':'age < 1h) || (age < 1h'}");
        assertEquals(400, response.status(), response.text());
        assertTrue(response.text().contains("where:1:9: "), response.text());
        assertTrue(isHit("other.example"));
    }

    private RawClient.Response purge(String token, String body) throws IOException {
        return front.request(token, "POST", "/v1/cache/purge", body.replace('\'', '"'));
    }

    private String id(String token, String body) throws IOException {
        String text = purge(token, body).text();
        Matcher id = Pattern.compile("\"id\":\"([^\"]+)\"").matcher(text);
        assertTrue(id.find(), text);
        return id.group(1);
    }

    @Test
    void onlyOwnPurgesAreSeenAndUndone() throws IOException {
        String soft = "{'host':'a.example','mode':'soft'}";
        String others = id("admin", soft);
        String own = id("sites", soft);
        String list = front.request("sites", "GET", "/v1/cache/purges", "").text();
        assertTrue(list.contains(own) && !list.contains(others), list);
        assertEquals(
                200,
                front.request("sites", "GET", "/v1/cache/purge?id=" + own, "").status());
        assertEquals(
                404,
                front.request("sites", "GET", "/v1/cache/purge?id=" + others, "")
                        .status());
        assertEquals(404, change("sites", "undo", others));
        assertEquals(404, change("sites", "cancel", others));
        assertEquals(200, change("sites", "undo", own));
        assertEquals(200, change("admin", "undo", others));
    }

    private int change(String token, String word, String id) throws IOException {
        return front.request(token, "POST", "/v1/cache/purge/" + word, "{\"id\":\"" + id + "\"}")
                .status();
    }
}
