package io.millrace.proxy.remap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests every kind of rule, with the examples of Traffic Server's manual, written like lines of remap.config. */
final class RemapVerbsTest {
    static RemapTable table(String... lines) {
        ProxyConfig.Builder builder = ProxyConfig.builder();
        for (String line : lines) {
            String[] words = line.split(" +", -1);
            RemapVerb verb = RemapVerb.valueOf(words[0].toUpperCase(Locale.ROOT));
            ConfigValues.Builder settings = ConfigValues.builder();
            if (words.length > 3) {
                settings.set(RemapKeys.STATUS, Integer.valueOf(words[3]));
            }
            builder.rule(verb, words[1], words[2], settings.build());
        }
        return RemapTable.of(builder.build());
    }

    /** Returns the result for a request: the origin's URL, or status and Location, or none. */
    static String answer(RemapTable table, String url, int receivedPort) {
        TargetUri target = RemapTableTest.uri(url);
        RemapResult result = table.match(target, receivedPort);
        if (result instanceof Mapped mapped) {
            return mapped.originScheme() + "://" + mapped.hostField(target)
                    + new String(mapped.originTarget(target), StandardCharsets.ISO_8859_1);
        }
        return result instanceof Redirected redirected
                ? redirected.status(1) + " " + redirected.location(target)
                : "none";
    }

    private static String answer(RemapTable table, String url) {
        return answer(table, url, RemapTable.NO_PORT);
    }

    @ParameterizedTest
    @CsvSource({
        "http://www.x.com/Widgets/index.html, http://server.hoster.com/Widgets/index.html",
        "http://www.x.com/cgi/form/submit.sh?arg=true, http://server.hoster.com/cgi/form/submit.sh?arg=true",
        "http://www.y.com/marketing/projects/manhattan/specs.html,"
                + " http://marketing.y.com/projects/manhattan/specs.html",
        "http://www.y.com/stuff/marketing/projects/boston/specs.html,"
                + " http://info.y.com/marketing/projects/boston/specs.html",
        "http://www.y.com/engineering/marketing/requirements.html,"
                + " http://engineering.y.com/marketing/requirements.html",
        "http://www.g.com/stuff/a.gif, http://external.g.com/stuff/a.gif",
        "http://www.h.com/a/b/c/d/doc.html, http://server.h.com/customers/x/y/c/d/doc.html",
        "http://www.h.com/a/index.html, none",
        "http://www.company.com/about?x=1, 301 http://www.company2.com/about?x=1",
        "http://www.company1.com/about, 307 http://www.company2.com/about",
        "http://x10.z.com/p?q, http://real-x10.z.com/p?q",
        "http://xy.z.com/, none",
        "http://old.shop.z.com/cart?id=7, 301 http://new.shop.z.com/cart?id=7"
    })
    void redirectsByTheManual(String url, String expected) {
        RemapTable table = table(
                "map http://www.x.com/ http://server.hoster.com/",
                "map http://www.y.com/marketing/ http://marketing.y.com/",
                "map http://www.y.com/engineering/ http://engineering.y.com/",
                "map http://www.y.com/stuff/ http://info.y.com/",
                "map http://www.g.com/ http://external.g.com/",
                "map http://www.g.com/stuff/ http://stuff.g.com/",
                "map http://www.h.com/a/b/ http://server.h.com/customers/x/y",
                "redirect http://www.company.com/ http://www.company2.com/",
                "redirect_temporary http://www.company1.com/ http://www.company2.com/",
                "regex_map http://x([0-9]+).z.com/ http://real-x$1.z.com/",
                "regex_redirect http://old.(.*).z.com http://new.$1.z.com");
        assertEquals(expected, answer(table, url));
    }

    @ParameterizedTest
    @CsvSource({
        "http://example.com/a.gif, http://127.0.0.1:8001/a.gif",
        "http://example.com/dist_get_user, http://127.0.0.1:8001/denied.html",
        "http://elsewhere/, http://127.0.0.1:8001/"
    })
    void matchAllFollowsRulesWithAHostInAnyOrder(String url, String expected) {
        String all = "map / http://127.0.0.1:8001/";
        String host = "map http://example.com/dist_get_user http://127.0.0.1:8001/denied.html";
        assertEquals(expected, answer(table(all, host), url));
        assertEquals(expected, answer(table(host, all), url));
    }

    /**
     * The groups in order: by received port, map and regex_map, redirections, redirections by expression; in each,
     * rules with a host first.
     */
    @ParameterizedTest
    @CsvSource({
        "9000, http://a.example/x, http://received/x",
        "9000, http://b.example/x, http://received-b/x",
        "9001, http://a.example/x, http://mapped/x",
        "9001, http://b.example/x, http://by-expression/x",
        "9001, http://c.other/x, http://expression-first/x",
        "9001, http://c.other/y, http://named-later/y",
        "9001, http://d.redirect/x, 301 http://moved/x",
        "9001, http://e.redirect/x, 301 http://moved-e/x",
        "9001, http://f.late/x, 307 http://any-host/x",
        "9001, http://f.late/z, 301 http://f-moved/z",
        "9001, http://f.late/w, none"
    })
    void groupsAreLookedAtInTheirOrder(int port, String url, String expected) {
        RemapTable table = table(
                "regex_redirect http://(.*)\\.late/z http://$1-moved/z",
                "regex_redirect http://(.*)\\.late/x http://never/x",
                "regex_redirect http://(.*)\\.redirect/ http://moved-$1/",
                "redirect_temporary /x http://any-host/x",
                "redirect http://d.redirect/ http://moved/",
                "redirect http://e.redirect/ http://moved-e/",
                "redirect http://a.example/ http://never/",
                "map http://a.example/ http://mapped/",
                "regex_map http://(.*)\\.example/ http://by-expression/",
                "regex_map http://c\\.(.*)/x http://expression-first/x",
                "map http://c.other/ http://named-later/",
                "map_with_recv_port http://a.example:9000/ http://received/",
                "regex_map_with_recv_port http://([b-z])\\.example:9000/ http://received-$1/");
        assertEquals(expected, answer(table, url, port));
    }

    @ParameterizedTest
    @CsvSource({
        "map http://a/ http://first/, regex_map http://./ http://second/, http://first/p",
        "regex_map http://./ http://first/, map http://a/ http://second/, http://first/p",
        "regex_map http://a|b/ http://first/, regex_map http://.*/ http://second/, http://first/p",
        "regex_map http://a/q http://first/, regex_map http://.*/ http://second/, http://second/p",
        "regex_map https://./ http://first/, map http://a/ http://second/, http://second/p",
        "redirect_temporary http://a/ http://first/, redirect http://a/ http://second/, 307 http://first/p",
        "redirect http://a/ http://first/, redirect_temporary http://a/ http://second/, 301 http://first/p"
    })
    void withinAGroupTheOrderOfTheFileApplies(String one, String two, String expected) {
        assertEquals(expected, answer(table(one, two), "http://a/p"));
    }

    @ParameterizedTest
    @CsvSource({
        "http://(.*)/, http://$1/, http://a-b.c/p, http://a-b.c/p",
        "http://(.*)/, http://$0.o/, http://a-b.c/p, http://a-b.c.o/p",
        "http://(a)(b)(c)(d)(e)(f)(g)(h)(i)/, http://$9$8$7$6$5$4$3$2$1/, http://abcdefghi/p, http://ihgfedcba/p",
        "'http://([a-z0-9-]+)\\.wild\\.example\\.com/', http://www.example.com/w/$1/, http://shop.wild.example.com/a?b,"
                + " http://www.example.com/w/shop/a?b",
        "'http://(?:x|y)([0-9]{1,2})/', http://o/$1/$1, http://y42/z, http://o/42/42/z",
        "http://x(y)?/, http://o$1.z/, http://x/, http://o.z/",
        "http://x(y)?/, http://$1.z/, http://x/, none",
        "http://WWW/, http://o/, http://www/, http://o/",
        "'http://a\\.b:8080/', http://o/, http://a.b:8080/, http://o/",
        "'http://a\\.b:8080/', http://o/, http://a.b/, none",
        "http://a/p/, http://o/$0/q, http://a/p/r, http://o/a/q/r"
    })
    void substitutesGroupsMatchedInTheHost(String from, String to, String url, String expected) {
        assertEquals(expected, answer(table("regex_map " + from + " " + to), url));
    }

    /** The client chooses the host, and can thereby reach no other path of the origin than the rule permits. */
    @ParameterizedTest
    @CsvSource({
        "http://...sites.example/p, none",
        "http://..sites.example/p, none",
        "http://%2e%2e.sites.example/p, none",
        "http://a%2f..%2f...sites.example/p, none",
        "http://..;a.sites.example/p, none",
        "http://a%00.sites.example/p, none",
        "http://a.b.sites.example/p, http://o/sites/a.b/p",
        "http://....sites.example/p, http://o/sites/.../p",
        "http://a_b-c~d.sites.example/p, http://o/sites/a_b-c~d/p"
    })
    void hostLeadsToNoOtherPath(String url, String expected) {
        assertEquals(expected, answer(table("regex_map http://(.*)\\.sites\\.example/ http://o/sites/$1/"), url));
        assertEquals(
                expected.replace("http", "301 http"),
                answer(table("regex_redirect http://(.*)\\.sites\\.example/ http://o/sites/$1/"), url));
    }

    @ParameterizedTest
    @CsvSource({"http://./, http://o/s/$0./, http://./p", "http://(.)(.)/, http://o/$1$2, http://../p"})
    void hostsMakeNoDotSegmentTogether(String from, String to, String url) {
        assertEquals("none", answer(table("regex_map " + from + " " + to), url));
    }

    /**
     * Traffic Server matches the expression anywhere in the host; a rule for one domain would also apply to foreign
     * domains.
     */
    @ParameterizedTest
    @CsvSource({"http://x1.z.com.evil.example/", "http://xx1.z.com/", "http://evil-x1.z.com/"})
    void expressionIsForTheWholeHost(String url) {
        assertEquals("none", answer(table("regex_map http://x([0-9]+)\\.z\\.com/ http://real-x$1.z.com/"), url));
    }

    @Test
    void expressionsAreLinearInTheHost() {
        RemapTable table = table("regex_map http://(a*)*b/ http://o/");
        assertEquals("none", answer(table, "http://" + "a".repeat(250) + "/"));
    }

    /** The cache of hosts compares the whole host, not only its slot. */
    @Test
    void remembersEachHostForItself() {
        RemapTable table = table("regex_map http://h([0-9]+)/ http://o$1/", "map http://h7/never http://never/");
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 3000; i++) {
                assertEquals("http://o" + i + "/p", answer(table, "http://h" + i + "/p"));
            }
        }
        TargetUri url = RemapTableTest.uri("http://h1/p");
        assertSame(table.match(url), table.match(url));
    }

    @ParameterizedTest
    @CsvSource({
        "redirect http://a/ http://b/, 301, 301",
        "redirect http://a/ http://b/ 308, 308, 308",
        "redirect_temporary http://a/ http://b/, 307, 302",
        "redirect_temporary http://a/ http://b/ 302, 302, 302",
        "redirect_temporary http://a/ http://b/ 307, 307, 307",
        "regex_redirect http://a/ http://b/ 308, 308, 308",
        "regex_redirect_temporary http://a/ http://b/, 307, 302"
    })
    void statusIsThatOfTheKindOrTheRulesOwn(String line, int status, int statusOfOldClients) {
        Redirected redirected = (Redirected) table(line).match(RemapTableTest.uri("http://a/"));
        assertEquals(status, redirected.status(1));
        assertEquals(statusOfOldClients, redirected.status(0));
    }

    @ParameterizedTest
    @CsvSource({
        "/, http://b, /, http://b/",
        "/, https://b:8443/x, /p?q=1?2, https://b:8443/x/p?q=1?2",
        "/old/, http://b/new/, /old/p%20q?%zz, http://b/new/p%20q?%zz",
        "/old, http://b/, /old/p, http://b/p",
        "/old, http://b/, /older, http://b/er",
        "/, http://b:80/, '/p\"<>', http://b/p%22%3C%3E",
        "/, http://[::1]:81/, /p, http://[::1]:81/p"
    })
    void redirectionKeepsTheRestOfThePathAndTheQuery(String from, String to, String target, String expected) {
        RemapTable table = table("redirect http://a" + from + " " + to);
        assertEquals("301 " + expected, answer(table, "http://a" + target));
    }

    /** OPTIONS of a whole server has no URL that could be redirected (RFC 9112 s3.2.4). */
    @Test
    void asteriskFormIsNotRedirected() {
        FieldSection fields = FieldSection.builder().add("Host", "a").build();
        TargetUri asterisk = (TargetUri) TargetUri.parse(Method.OPTIONS, "*", fields, 1, false);
        assertSame(NotMapped.NO_RULE, table("redirect http://a/ http://b/").match(asterisk));
    }

    /** One URL may be another resource on each port, so the keys differ. A purge of the URL applies to all of them. */
    @Test
    void receivedPortIsPartOfTheKey() {
        RemapTable table = table(
                "map_with_recv_port http://a:8080/ http://one/",
                "map_with_recv_port http://a:8081/ http://two/",
                "map http://a/ http://three/");
        TargetUri url = RemapTableTest.uri("http://a/p");
        assertEquals("http://one/p", answer(table, "http://a/p", 8080));
        assertEquals("http://two/p", answer(table, "http://a/p", 8081));
        assertEquals("http://three/p", answer(table, "http://a/p", 80));
        CacheKey one = ((Mapped) table.match(url, 8080)).key(url);
        CacheKey two = ((Mapped) table.match(url, 8081)).key(url);
        CacheKey three = ((Mapped) table.match(url, 80)).key(url);
        assertNotEquals(one, two);
        assertNotEquals(one, three);
        assertEquals(new HashSet<>(List.of(one, two, three)), new HashSet<>(table.keys(url)));
    }

    @Test
    void rulesUnderAHostAreThoseThatMayMapIt() {
        RemapTable table = table(
                "regex_map http://(.*)\\.example/x http://o/",
                "redirect http://a.example/ http://never/",
                "map http://a.example/ http://p/",
                "map_with_recv_port http://a.example:8080/ http://q/",
                "map http://b.example/ http://r/",
                "map / http://s/");
        List<Integer> found = table.rulesUnder(RemapTableTest.uri("http://a.example/")).stream()
                .map(RemapRule::index)
                .toList();
        assertEquals(List.of(0, 2, 3, 5), found);
    }

    @ParameterizedTest
    @CsvSource({
        "http://x10.z.com/p/a?q=1, http://real.z.com/a?site=10&v=2&q=1",
        "http://x10.z.com/p/a, http://real.z.com/a?site=10&v=2",
        "http://x10.z.com/p/a?, http://real.z.com/a?site=10&v=2",
        "http://x10.z.com/p/%61?q=%61, http://real.z.com/a?site=10&v=2&q=%61",
        "http://plain.z.com/?q, http://origin.z.com/?fixed&q",
        "http://old.z.com/a?q, 301 http://new.z.com/a?from=old&q",
    })
    void queryOfToStandsBeforeTheClients(String url, String expected) {
        RemapTable table = table(
                "regex_map http://x([0-9]+)\\.z\\.com/p/ http://real.z.com/?site=$1&v=2",
                "map http://plain.z.com/ http://origin.z.com?fixed",
                "redirect http://old.z.com/ http://new.z.com/?from=old");
        assertEquals(expected, answer(table, url));
    }

    /** A query is split at ampersands: a host must not add a parameter. */
    @Test
    void hostThatWouldAddToTheQueryIsNotMapped() {
        RemapTable table = table("regex_map http://(.*)\\.z\\.com/ http://real.z.com/?site=$1");
        assertEquals("none", answer(table, "http://a%26admin=1.z.com/"));
    }
}
