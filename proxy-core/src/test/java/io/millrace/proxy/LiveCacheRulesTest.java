package io.millrace.proxy;

import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Locale;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests live changes of the rules for single sites, paths and clients. Without a rule a response is fresh for a minute.
 */
class LiveCacheRulesTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    /** Tests a rule that makes matching responses fresh for 100 s, and that matches only after the change. */
    private void matches(String condition) throws Exception {
        live.file("cache_rules: [{" + condition + ", ttl_in_cache: 100s}]")
                .turns(60, 100, () -> live.ttl("/path" + live.fresh() + ".css"));
    }

    @LiveKey("cache_rules")
    void aRuleIsAdded() throws Exception {
        live.file("cache_rules: [<|{prefix: /, ttl_in_cache: 100s}>]").turns(60, 100, () -> live.ttl(live.fresh()));
    }

    @LiveKey("cache_rules[].dest_domain")
    void domain() throws Exception {
        matches("dest_domain: <org|example>");
    }

    @LiveKey("cache_rules[].dest_host")
    void host() throws Exception {
        matches("dest_host: <one|test>.example");
    }

    @LiveKey("cache_rules[].host_regex")
    void hostRegex() throws Exception {
        matches("host_regex: '^<one|test>'");
    }

    @LiveKey("cache_rules[].url_regex")
    void urlRegex() throws Exception {
        matches("url_regex: '/<other|path>/[0-9]+'");
    }

    @LiveKey("cache_rules[].prefix")
    void prefix() throws Exception {
        matches("prefix: /<other|path>/");
    }

    @LiveKey("cache_rules[].suffix")
    void suffix() throws Exception {
        matches("suffix: <.js|.css>");
    }

    @LiveKey("cache_rules[].method")
    void method() throws Exception {
        matches("method: [<POST|GET>]");
    }

    @LiveKey("cache_rules[].scheme")
    void scheme() throws Exception {
        matches("scheme: <https|http>");
    }

    @LiveKey("cache_rules[].port")
    void port() throws Exception {
        matches("port: <81|80>");
    }

    @LiveKey("cache_rules[].src_ip")
    void client() throws Exception {
        matches("src_ip: <10.0.0.1|127.0.0.1>");
    }

    @LiveKey("cache_rules[].time")
    void timeOfDay() throws Exception {
        LocalTime now = LocalTime.ofInstant(Instant.ofEpochMilli(ProxyExtension.START_MILLIS), ZoneId.systemDefault());
        String next = text(now.plusHours(1));
        matches("time: '<" + next + "-" + text(now.plusHours(2)) + "|" + text(now) + "-" + next + ">'");
    }

    private static String text(LocalTime time) {
        return String.format(Locale.ROOT, "%02d:%02d", time.getHour(), time.getMinute());
    }

    @LiveKey("cache_rules[].action")
    void action() throws Exception {
        live.file("cache_rules: [{prefix: /, action: <ignore_no_cache|never_cache>}]")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh()));
    }

    @LiveKey("cache_rules[].cache_responses_to_cookies")
    void responsesToCookies() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n")
                .file("cache_rules: [{prefix: /, cache_responses_to_cookies: <all|none>}]")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh()));
    }

    @LiveKey("cache_rules[].revalidate")
    void revalidate() throws Exception {
        live.file("cache_rules: [{prefix: /, revalidate: <30s|40s>}]").turns(30, 40, () -> live.ttl(live.fresh()));
    }

    @LiveKey("cache_rules[].ttl_in_cache")
    void ttlInCache() throws Exception {
        live.file("cache_rules: [{prefix: /, ttl_in_cache: <100s|200s>}]")
                .turns(100, 200, () -> live.ttl(live.fresh()));
    }
}
