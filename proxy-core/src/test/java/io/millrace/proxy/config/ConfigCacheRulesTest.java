package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.value.DayTime;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code cache_rules} in the file. */
final class ConfigCacheRulesTest {
    private static final String GOOD = """
            listen: [":8080"]
            remap:
              - map: http://www.example.com/a/
                to: http://127.0.0.1:9000
            """;

    @Test
    void readsEveryKeyOfARule() {
        CacheRuleConfig rule = good(GOOD + """
                        cache_rules:
                          - dest_domain: .Example.com
                            dest_host: WWW.example.com
                            host_regex: ^www
                            url_regex: \\.mp4$
                            prefix: /%61/b
                            suffix: .mp4
                            method: [GET]
                            scheme: http
                            port: 8080
                            src_ip: [10.0.0.0/8, "::1"]
                            time: 22:00-06:30
                            action: ignore-no-cache
                            cache_responses_to_cookies: 2
                            pin_in_cache: 10h
                            revalidate: 5m
                            ttl_in_cache: 2d
                        """).cacheRules().get(0);
        CacheRuleConfig.Conditions when = rule.when();
        assertEquals("example.com", when.domain());
        assertEquals("www.example.com", when.host());
        assertEquals("^www", when.hostRegex());
        assertEquals("\\.mp4$", when.urlRegex());
        assertEquals("/a/b", when.prefix());
        assertEquals(".mp4", when.suffix());
        assertEquals(List.of("GET"), when.methods());
        assertEquals(false, when.secure());
        assertEquals(8080, when.port());
        assertEquals("[10.0.0.0/8, ::1/128]", when.sources().toString());
        assertEquals(new DayTime(22 * 60, 6 * 60 + 30), when.time());
        assertEquals(
                new CacheRuleConfig.Actions(
                        CacheRuleConfig.Action.IGNORE_NO_CACHE,
                        StoringRules.CookiePolicy.IMAGES,
                        Duration.ofHours(10),
                        Duration.ofMinutes(5),
                        Duration.ofDays(2)),
                rule.then());
        assertEquals("cache_rules[0]", rule.toString());
        assertEquals("millrace.yaml:6:5", rule.location());
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "dest_hots: a | 9: cache_rules[0].dest_hots: unknown key (did you mean dest_host?)",
                "dest_host: a/b | 20: cache_rules[0].dest_host: the host 'a/b' contains '/'",
                "dest_domain: '*.a' | 22: cache_rules[0].dest_domain: the host '*.a' contains '*'",
                "url_regex: 'a(' | 20: cache_rules[0].url_regex: 'a(' is not a regular expression: missing closing )",
                "prefix: img/ | 17: cache_rules[0].prefix: 'img/' does not begin with a slash (did you mean /img/?)",
                "method: get | 9: cache_rules[0].method: 'get' must be in capital letters (did you mean GET?)",
                "scheme: htpps | 17: cache_rules[0].scheme: 'htpps' is none of http, https (did you mean https?)",
                "port: 0 | 15: cache_rules[0].port: 0 is below the limit of 1",
                "src_ip: 10.0.0.1-10.0.0.9 | 9: cache_rules[0].src_ip: '10.0.0.1-10.0.0.9' is neither an address nor a range such as 10.0.0.0/8",
                "time: 8-14 | 15: cache_rules[0].time: '8-14' is not a part of a day such as 08:00-14:00",
                "time: 08:00-08:00 | 15: cache_rules[0].time: '08:00-08:00' has the same begin and end; omit the key for the whole day",
                "time: 08:60-09:00 | 15: cache_rules[0].time: '08:60-09:00' is not a part of a day such as 08:00-14:00",
                "time: 24:00-09:00 | 15: cache_rules[0].time: '24:00-09:00' is not a part of a day such as 08:00-14:00",
                "dest_ip: 10.0.0.1 | 9: cache_rules[0].dest_ip: is not supported, because cache rules are evaluated before the origin's address is known; use dest_host",
                "internal: true | 9: cache_rules[0].internal: is not supported, because this proxy has no internal requests"
            })
    void reportsAConditionThatCannotBe(String condition, String problem) {
        assertEquals(
                List.of("millrace.yaml:6:" + problem),
                bad(GOOD + "cache_rules:\n  -     " + condition + "\n        action: never_cache\n"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "action: never-cash | 17: cache_rules[0].action: 'never-cash' is none of never_cache, ignore_no_cache, ignore_client_no_cache, ignore_server_no_cache (did you mean never_cache?)",
                "pin_in_cache: 0s | 23: cache_rules[0].pin_in_cache: 0 is below the limit of 1s",
                "ttl_in_cache: 0s | 23: cache_rules[0].ttl_in_cache: 0 is below the limit of 1s",
                "revalidate: 5 | 21: cache_rules[0].revalidate: '5' has no unit; a duration is written like 30s (ms, s, m, h, d) (did you mean 5s?)"
            })
    void reportsAnActionThatCannotBe(String action, String problem) {
        assertEquals(
                List.of("millrace.yaml:6:" + problem),
                bad(GOOD + "cache_rules:\n  -     " + action + "\n        dest_domain: .\n"));
    }

    @Test
    void reportsRulesThatNameNoRequestOrDecideNothing() {
        assertEquals(
                List.of(
                        "millrace.yaml:6:5: cache_rules[0]: has no condition; set dest_domain: . to match all requests",
                        "millrace.yaml:7:5: cache_rules[1]: has no setting; set one of action, cache_responses_to_cookies,"
                                + " pin_in_cache, revalidate or ttl_in_cache"),
                bad(GOOD + "cache_rules:\n  - action: never_cache\n  - dest_domain: .\n"));
    }

    @Test
    void warnsOfRulesThatCanNeverMatch() {
        ConfigResult result = ConfigLoader.parse(GOOD + """
                cache_rules:
                  - {dest_host: www.example.com, action: never_cache}
                  - {dest_host: example.com, action: never_cache}
                  - {dest_domain: example.com, prefix: /a/b, action: never_cache}
                  - {dest_domain: ample.com, action: never_cache}
                  - {prefix: /b, action: never_cache}
                  - {prefix: /, action: never_cache}
                  - {dest_domain: b.example.com, dest_host: www.example.com, action: never_cache}
                  - {method: [PUT], action: never_cache}
                  - {dest_domain: ., pin_in_cache: 1h}
                cache: {permit_pinning: false}
                """, "millrace.yaml", Map.of());
        assertNotNull(result.config());
        assertEquals("""
            millrace.yaml:7:6: warning: cache_rules[1].dest_host: can never match, because no rule of remap maps it
            millrace.yaml:9:6: warning: cache_rules[3].dest_domain: can never match, because no rule of remap maps it
            millrace.yaml:10:6: warning: cache_rules[4].prefix: can never match, because no rule of remap maps such a path
            millrace.yaml:12:34: warning: cache_rules[6].dest_host: can never match, because www.example.com is not in dest_domain b.example.com
            millrace.yaml:13:6: warning: cache_rules[7].method: has no effect, because only answers to GET, HEAD and POST are cached
            millrace.yaml:14:22: warning: cache_rules[8].pin_in_cache: has no effect, because cache.permit_pinning is false""", result.text());
    }

    @Test
    void changedRulesAreOneLiveChange() {
        ProxyConfig before = good(GOOD);
        ProxyConfig after = good(GOOD + "cache_rules: [{dest_domain: ., action: never_cache}]\n");
        List<ConfigChange> changes = ConfigChange.between(before, after);
        assertEquals(1, changes.size());
        assertEquals("cache_rules", changes.get(0).key());
        assertEquals(ConfigKey.Apply.LIVE, changes.get(0).apply());
    }

    private static ProxyConfig good(String text) {
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertEquals("", result.text());
        return Objects.requireNonNull(result.config());
    }

    private static List<String> bad(String text) {
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertNull(result.config());
        return result.problems().stream().map(ConfigProblem::text).toList();
    }

    @Test
    void hostsOfForwardedRequestsNeedNoRuleOfRemap() {
        String rules = """
                listen: [':8080']
                cache_rules:
                  - {dest_host: a.example, action: never_cache}
                  - {dest_domain: ., prefix: /x, action: never_cache}
                forward_proxy: {enabled: true, allow: 10.0.0.0/8}
                """;
        assertEquals("", ConfigLoader.parse(rules, "millrace.yaml", Map.of()).text());
    }
}
