package io.millrace.proxy.remap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.net.InetAddress;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CacheRulesTest {
    private static final long NOON = Instant.parse("2026-11-22T12:00:00Z").toEpochMilli();
    private static final String ANY = "dest_domain: .";

    /** A table of rules, each one a flow mapping of YAML without its braces. */
    private static final class Table {
        private final RemapTable remap;
        private final CacheRules rules;

        Table(String cache, ZoneId zone, String... rules) {
            StringBuilder text =
                    new StringBuilder("listen: [':1']\nremap: [{map: /, to: 'http://o'}]\n" + cache + "\n");
            text.append("cache_rules:\n");
            for (String rule : rules) {
                text.append("  - {").append(rule).append("}\n");
            }
            ConfigResult result = ConfigLoader.parse(text.toString(), "millrace.yaml", Map.of());
            assertTrue(result.config() != null, result.text());
            remap = RemapTable.of(Objects.requireNonNull(result.config()));
            this.rules = CacheRules.of(result.config(), zone);
        }

        Table(String... rules) {
            this("", ZoneId.of("UTC"), rules);
        }

        EffectiveCacheSettings match(String method, String url, InetAddress client, long nowMillis) {
            TargetUri target = (TargetUri) TargetUri.parseAbsolute(url);
            Mapped mapped = (Mapped) remap.match(target);
            return rules.match(mapped, RequestHead.of(method, target, FieldSection.EMPTY), client, nowMillis);
        }

        EffectiveCacheSettings match(String url) {
            return match("GET", url, null, NOON);
        }

        CacheSettings settings() {
            return match("http://a.example/").settings();
        }
    }

    @ParameterizedTest(name = "{0} matches {1}: {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "dest_domain: .                | http://a/                       | true",
                "dest_domain: example.com      | http://example.com/             | true",
                "dest_domain: example.com      | http://www.Example.COM/         | true",
                "dest_domain: example.com      | http://anexample.com/           | false",
                "dest_domain: example.com      | http://example.com.evil/        | false",
                "dest_domain: www.example.com  | http://example.com/             | false",
                "dest_host: example.com        | http://example.com/             | true",
                "dest_host: example.com        | http://www.example.com/         | false",
                "dest_host: example.com        | http://example.co/              | false",
                "dest_host: '[::1]'            | http://[::1]/                   | true",
                "host_regex: '^w+[.]'          | http://www.example.com/         | true",
                "host_regex: '^w+[.]'          | http://example.com/w.           | false",
                "url_regex: '[.]mp4$'          | http://a/b.mp4                  | true",
                "url_regex: '[.]mp4$'          | http://a/b.mp4?x                | false",
                "url_regex: '^http://a/b[?]c'  | http://A/%62?c=1                | true",
                "prefix: /img/                 | http://a/img/x                  | true",
                "prefix: /img/                 | http://a/img                    | false",
                "prefix: /img/                 | http://a/%69%6dg/x              | true",
                "prefix: /img/                 | http://a/img%2fx                | false",
                "prefix: '/%69mg'              | http://a/img                    | true",
                "suffix: .png                  | http://a/b.png                  | true",
                "suffix: .png                  | http://a/b.png?x                | true",
                "suffix: .png                  | http://a/b?x.png                | false",
                "suffix: .png                  | http://a/b%2Epng                | false",
                "suffix: .png                  | http://a/b.%70ng                | true",
                "suffix: .png                  | http://a/b.PNG                  | false",
                "'prefix: /a, suffix: /ab'     | http://a/ab                     | true",
                "scheme: https                 | https://a/                      | true",
                "scheme: https                 | http://a/                       | false",
                "port: 80                      | http://a/                       | true",
                "port: 80                      | http://a:8080/                  | false",
                "port: 8080                    | http://a:8080/                  | true",
                "'dest_host: a, prefix: /b'    | http://a/b                      | true",
                "'dest_host: a, prefix: /b'    | http://b/b                      | false",
                "'dest_host: a, prefix: /b'    | http://a/a                      | false"
            })
    void matchesByUrl(String condition, String url, boolean matches) {
        String plain = condition.startsWith("'") ? condition.substring(1, condition.length() - 1) : condition;
        EffectiveCacheSettings found = new Table(plain + ", action: never_cache").match(url);
        assertEquals(matches, found.text() != null);
        assertEquals(!matches, found.settings().enabled());
    }

    @ParameterizedTest(name = "{0}: {1} matches {2}: {3}")
    @CsvSource(
            delimiter = '|',
            value = {
                "ignore_query: true            | '[?&]x='            | http://a/b?x=1           | false",
                "ignore_query: true            | 'a/b$'              | http://a/b?x=1           | true",
                "excluded_params: [utm_*]      | 'utm_'              | http://a/b?id=1&utm_x=2  | false",
                "excluded_params: [utm_*]      | '[?]id=1$'          | http://a/b?utm_x=2&id=1  | true",
                "included_params: [id]         | '[?]id=1$'          | http://a/b?x=2&id=1&y    | true",
                "sorted_params: true           | '[?]a=1&b=2$'       | http://a/b?b=2&a=1       | true",
                "host: shared                  | '^http://shared/b'  | http://a/b               | true",
                "host: shared                  | '^http://a/b'       | http://a/b               | false",
                "generation: 3                 | 'b[?]x$'            | http://a/b?x             | true",
            })
    void anExpressionIsMatchedAgainstTheUrlOfTheKey(String key, String regex, String url, boolean matches) {
        Table table = new Table(
                "cache: {key: {" + key + "}}", ZoneId.of("UTC"), "url_regex: '" + regex + "', action: never_cache");
        assertEquals(matches, table.match(url).text() != null);
    }

    @Test
    void matchesByMethodAndClient() throws Exception {
        Table table = new Table("method: [GET], src_ip: [10.0.0.0/8, '2001:db8::/32'], action: never_cache");
        InetAddress inside = InetAddress.getByName("10.1.2.3");
        assertTrue(table.match("GET", "http://a/", inside, NOON).text() != null);
        assertTrue(table.match("GET", "http://a/", InetAddress.getByName("2001:db8::1"), NOON)
                        .text()
                != null);
        assertTrue(table.match("HEAD", "http://a/", inside, NOON).text() == null);
        assertTrue(table.match("GET", "http://a/", InetAddress.getByName("11.0.0.1"), NOON)
                        .text()
                == null);
        assertTrue(table.match("GET", "http://a/", null, NOON).text() == null);
    }

    @ParameterizedTest(name = "{0} in {1} at {2}: {3}")
    @CsvSource({
        "08:00-14:00, UTC,           2026-11-22T07:59:59Z, false",
        "08:00-14:00, UTC,           2026-11-22T08:00:00Z, true",
        "08:00-14:00, UTC,           2026-11-22T13:59:59Z, true",
        "08:00-14:00, UTC,           2026-11-22T14:00:00Z, false",
        "22:00-06:00, UTC,           2026-11-22T23:00:00Z, true",
        "22:00-06:00, UTC,           2026-11-22T00:00:00Z, true",
        "22:00-06:00, UTC,           2026-11-22T06:00:00Z, false",
        "22:00-24:00, UTC,           2026-11-22T23:59:59Z, true",
        "22:00-24:00, UTC,           2026-11-22T00:00:00Z, false",
        "00:00-01:00, UTC,           1969-12-31T00:30:00Z, true",
        "08:00-14:00, Europe/Berlin, 2026-11-22T07:30:00Z, true",
        "08:00-14:00, Europe/Berlin, 2026-07-22T06:30:00Z, true",
        "08:00-14:00, Europe/Berlin, 2026-11-22T06:30:00Z, false",
        "08:00-14:00, Asia/Kolkata,  2026-11-22T02:30:00Z, true"
    })
    void matchesByTheTimeOfDayWhereTheMachineIs(String time, String zone, String at, boolean matches) {
        Table table = new Table("", ZoneId.of(zone), "time: '" + time + "', action: never_cache");
        long millis = Instant.parse(at).toEpochMilli();
        for (int again = 0; again < 2; again++) {
            assertEquals(matches, table.match("GET", "http://a/", null, millis).text() != null);
        }
    }

    @Test
    void allMatchingRulesApplyAndLaterOverrideEarlier() {
        Table table = new Table(
                ANY + ", revalidate: 1m, cache_responses_to_cookies: none",
                "suffix: .png, revalidate: 2m",
                "suffix: .gif, revalidate: 3m",
                ANY + ", action: ignore_client_no_cache");
        EffectiveCacheSettings png = table.match("http://a/b.png");
        assertEquals("cache_rules[0] cache_rules[1] cache_rules[3]", png.text());
        assertEquals(
                new LifetimeRules.Forced(120, -1), png.settings().lifetimes().forced());
        assertEquals(StoringRules.CookiePolicy.NONE, png.settings().storing().cookies());
        assertTrue(png.settings().requests().ignoreNoCache());
        assertFalse(png.settings().storing().ignoreServerNoCache());
        assertEquals(
                new LifetimeRules.Forced(60, -1),
                table.match("http://a/").settings().lifetimes().forced());
    }

    @Test
    void timeToLiveInCacheWinsOverNeverCacheWhicheverIsLater() {
        for (String[] order : new String[][] {
            {ANY + ", ttl_in_cache: 1h", ANY + ", action: never_cache"},
            {ANY + ", action: never_cache", ANY + ", ttl_in_cache: 1h"}
        }) {
            CacheSettings settings = new Table(order).settings();
            assertTrue(settings.enabled());
            assertEquals(3600, settings.lifetimes().forced().ttlSeconds());
        }
    }

    @Test
    void ruleMakesNothingCacheableWhereCachingIsOff() {
        assertFalse(new Table("cache: {enabled: false}", ZoneId.of("UTC"), ANY + ", ttl_in_cache: 1h")
                .settings()
                .enabled());
    }

    @ParameterizedTest
    @CsvSource({
        "ignore_no_cache,        true,  true",
        "ignore_client_no_cache, true,  false",
        "ignore_server_no_cache, false, true"
    })
    void ignoresNoCacheOfConfiguredClients(String action, boolean client, boolean server) {
        CacheSettings settings = new Table(ANY + ", action: " + action).settings();
        assertEquals(client, settings.requests().ignoreNoCache());
        assertEquals(server, settings.storing().ignoreServerNoCache());
    }

    @Test
    void requestsWithoutAMatchHaveTheSettingsOfTheirRemapRule() {
        Table table = new Table("dest_host: b, action: never_cache");
        EffectiveCacheSettings found = table.match("http://a/");
        assertSame(found, table.match("http://c/"));
        assertEquals(CacheSettings.DEFAULTS, found.settings());
        assertSame(table.match("http://b/1"), table.match("http://b/2"));
    }

    /** The number of cached combinations is limited; beyond it the settings are still correct. */
    @Test
    void combinationsThatAreNotKeptAreMadeAnew() {
        String[] rules = new String[13];
        for (int i = 0; i < rules.length; i++) {
            rules[i] = "url_regex: '[?].*" + (char) ('a' + i) + "', revalidate: " + (i + 1) + "m";
        }
        Table table = new Table(rules);
        for (int bits = 1; bits < 1 << rules.length; bits++) {
            StringBuilder url = new StringBuilder("http://0/?");
            int last = 0;
            for (int i = 0; i < rules.length; i++) {
                if ((bits & 1 << i) != 0) {
                    url.append((char) ('a' + i));
                    last = i + 1;
                }
            }
            assertEquals(
                    60L * last,
                    table.match(url.toString()).settings().lifetimes().forced().revalidateSeconds());
        }
    }

    @Test
    void overloadKeepsRequiredHeaders() {
        Table table = new Table("cache: {required_headers: lifetime}", ZoneId.of("UTC"), ANY + ", pin_in_cache: 1h");
        CacheSettings overload = table.match("http://a.example/")
                .inOverload(new StaleRules.UnderLoad(2, 60, 5))
                .settings();
        assertEquals(5, overload.stale().underLoad().microCacheSeconds());
        assertEquals(StoringRules.RequiredHeaders.LIFETIME, overload.storing().requiredHeaders());
    }
}
