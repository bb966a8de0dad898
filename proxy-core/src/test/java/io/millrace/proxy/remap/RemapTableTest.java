package io.millrace.proxy.remap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RemapTableTest {
    /** The target host of each rule is named after the expected result. */
    private static final RemapTable TABLE = table(
            "http://a/x/y", "xy-listed-first",
            "http://a/x", "x",
            "http://a/x/z", "hidden-by-x",
            "http://a:8080/", "a-8080",
            "https://a/", "a-secure",
            "/x", "x-of-any-host",
            "http://b/", "b-root",
            "http://b/stuff/", "hidden-by-root",
            "http://[::1]/", "v6",
            "/", "any-host",
            "/late", "hidden-by-any-host");

    @ParameterizedTest
    @CsvSource({
        "http://a/x/y/1, xy-listed-first",
        "http://a/x/y, xy-listed-first",
        "http://a/x/z, x",
        "http://a/xx, x",
        "http://a/x?y=/x/y, x",
        "http://A/x, x",
        "http://a:80/x, x",
        "http://a:8080/x, a-8080",
        "http://a:8081/x, x",
        "https://a/x, a-secure",
        "https://a:444/x, a-secure",
        "http://a/, any-host",
        "http://a/X, any-host",
        "http://b/stuff/1, b-root",
        "https://b/stuff/1, any-host",
        "http://c/x, x-of-any-host",
        "http://c/late, any-host",
        "http://[::1]/q, v6",
        "http://[::1]:81/q, v6"
    })
    void givesPrecedenceAsTrafficServerDoes(String url, String expected) {
        assertEquals(expected, hostOf(TABLE.match(uri(url))));
    }

    @Test
    void mapsNothingWithoutARule() {
        RemapTable table = table("http://a/x/", "a");
        assertSame(NotMapped.NO_RULE, table.match(uri("http://b/x/")));
        assertSame(NotMapped.NO_RULE, table.match(uri("http://a/x")));
        assertSame(NotMapped.NO_RULE, table.match(uri("https://a/x/")));
        assertSame(NotMapped.NO_RULE, table().match(uri("http://a/")));
        assertEquals(404, NotMapped.NO_RULE.status());
    }

    @Test
    void isNoOpenProxyForAbsoluteForm() {
        RemapTable table = table("http://a/", "origin");
        FieldSection fields = FieldSection.builder().add("Host", "a").build();
        TargetUri foreign = (TargetUri) TargetUri.parse(Method.GET, "http://elsewhere/", fields, 1, false);
        assertSame(NotMapped.NO_RULE, table.match(foreign));
        // A rule for every host leads to its own origin, whatever host the client requested.
        assertEquals("only", hostOf(table("/", "only").match(foreign)));
    }

    /** OPTIONS of a whole server has the rule of the root, with the same target. */
    @Test
    void asteriskFormGoesWhereTheRootGoes_rfc9112_s3_2_4() {
        FieldSection fields = FieldSection.builder().add("Host", "a").build();
        TargetUri asterisk = (TargetUri) TargetUri.parse(Method.OPTIONS, "*", fields, 1, false);
        RemapTable table = table("http://a/x/", "part", "http://a/", "root");
        assertEquals("root", hostOf(table.match(asterisk)));
        assertEquals(
                "*", new String(((Mapped) table.match(asterisk)).originTarget(asterisk), StandardCharsets.ISO_8859_1));
        assertSame(NotMapped.NO_RULE, table("http://a/x/", "part").match(asterisk));
    }

    @Test
    void hasNoPathToMatchInAuthorityForm() {
        FieldSection fields = FieldSection.builder().add("Host", "a").build();
        TargetUri authority = (TargetUri) TargetUri.parse(Method.CONNECT, "a:443", fields, 1, false);
        assertSame(NotMapped.NO_PATH, TABLE.match(authority));
    }

    @Test
    void mapsARequestWithoutHostByRulesWithoutHost() {
        TargetUri target = (TargetUri)
                TargetUri.parse(Method.GET, "/x", FieldSection.builder().build(), 0, false);
        assertEquals("x-of-any-host", hostOf(TABLE.match(target)));
        assertEquals("x-of-any-host", ((Mapped) TABLE.match(target)).hostField(target));
    }

    @ParameterizedTest
    @CsvSource({"http://a/%78/%79, xy-listed-first", "http://a/%2fx, any-host", "http://a/%58, any-host"})
    void section62ReadsPathsAsCacheKeysDo(String url, String expected) {
        assertEquals(expected, hostOf(TABLE.match(uri(url))));
    }

    @Test
    void readsEncodedRulesAsCacheKeysDo() {
        RemapTable table = table("http://a/%7euser/%e4%2f", "user");
        assertEquals("user", hostOf(table.match(uri("http://a/~user/%E4%2F1"))));
        assertEquals("user", hostOf(table.match(uri("http://a/%7Euser/%e4%2f1"))));
        assertSame(NotMapped.NO_RULE, table.match(uri("http://a/~user/%E4/1")));
    }

    @Test
    void findsEachOfManyHosts() {
        ProxyConfig.Builder builder = ProxyConfig.builder();
        for (int i = 0; i < 5000; i++) {
            builder.map("http://host" + i + ".example.com/", "http://origin" + i + "/");
        }
        RemapTable table = RemapTable.of(builder.build());
        assertEquals(5000, table.rules().size());
        for (int i = 0; i < 5000; i++) {
            assertEquals("origin" + i, hostOf(table.match(uri("http://host" + i + ".example.com/p"))));
        }
        assertSame(NotMapped.NO_RULE, table.match(uri("http://host5000.example.com/")));
    }

    @Test
    void givesTheSettingsOfTheRule() {
        ProxyConfig config = ProxyConfig.builder()
                .map(
                        "http://a/",
                        "http://o",
                        ConfigValues.builder()
                                .set(ConfigKeys.CACHE_ENABLED, false)
                                .build())
                .map("/", "https://[::1]:8443/w/")
                .build();
        RemapTable table = RemapTable.of(config);
        Mapped own = assertInstanceOf(Mapped.class, table.match(uri("http://a/")));
        Mapped general = assertInstanceOf(Mapped.class, table.match(uri("http://b/")));
        assertEquals(false, own.rule().cache().settings().enabled());
        assertEquals(true, general.rule().cache().settings().enabled());
        assertEquals("https", general.originScheme());
        assertEquals("::1", general.originHost());
        assertEquals(8443, general.originPort());
        assertEquals("[::1]:8443", general.hostField(uri("http://b/")));
        assertSame(own, table.match(uri("http://a/other")));
        assertEquals("map http://a/ http://o/", own.rule().toString());
    }

    static RemapTable table(String... fromAndHost) {
        ProxyConfig.Builder builder = ProxyConfig.builder();
        for (int i = 0; i < fromAndHost.length; i += 2) {
            builder.map(fromAndHost[i], "http://" + fromAndHost[i + 1] + "/");
        }
        return RemapTable.of(builder.build());
    }

    static TargetUri uri(String url) {
        return (TargetUri) TargetUri.parseAbsolute(url);
    }

    static String hostOf(RemapResult result) {
        return assertInstanceOf(Mapped.class, result).originHost();
    }
}
