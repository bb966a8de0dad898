package io.millrace.proxy.remap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RemapRuleTest {
    @ParameterizedTest
    @CsvSource({
        "/, http://o, /, /",
        "/, http://o, /a/b?q=1?2, /a/b?q=1?2",
        "/, http://o/base, /, /base",
        "/, http://o/base, /?q, /base?q",
        "/, http://o/base, /a, /base/a",
        "/, http://o/base/, /a?, /base/a?",
        "/js/, http://o/, /js/x.js?v=2, /x.js?v=2",
        "/js/, http://o/, /js/, /",
        "/js/, http://o/w, /js/x, /w/x",
        "/js/, http://o/w/, /js//x, /w//x",
        "/js, http://o/, /js, /",
        "/js, http://o/, /js/x, /x",
        "/js, http://o/, /js?q, /?q",
        "/js, http://o/w, /js/x, /w/x",
        "/js, http://o/w/, /js/x, /w/x",
        "/js, http://o/w, /js.gz, /w.gz",
        "/js/, http://o/w/, /%6As/%78%2f%e4, /w/x%2F%E4",
        "/~u/, http://o/w/, /%7eu/x, /w/x",
        "/%7eu/, http://o/w/, /~u/x, /w/x",
        "/a%2fb/, http://o/w/, /a%2Fb/c%2fd?%2f%61, /w/c%2Fd?%2f%61",
        "/a%2Fb/, http://o/w/, /a%2Fb/%zz%61, /w/%zz%61"
    })
    void replacesThePathThatMatchedAndAppendsTheRest(String map, String to, String target, String expected) {
        TargetUri uri = RemapTableTest.uri("http://client" + target);
        Mapped mapped = assertInstanceOf(Mapped.class, table(map, to).match(uri));
        assertEquals(expected, new String(mapped.originTarget(uri), StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @CsvSource({
        "/js/, http://o/w/, /js/../x",
        "/js/, http://o/w/, /js/a/../../x",
        "/js/, http://o/w/, /js/..",
        "/js/, http://o/w/, /js/a/..//../x",
        "/js/, http://o/w/, /js/./../x",
        "/js/, http://o/w/, /js/%2e%2e/x",
        "/js/, http://o/w/, /js/.%2E/x",
        "/js/, http://o/w/, /js/..%2fx",
        "/js/, http://o/w/, /js/..%5cx",
        "/js, http://o/w, /js/../x",
        "/js, http://o/w/, /js../x",
        "/js, http://o/w, /jsx/../y"
    })
    void section524RefusesDotSegmentsThatLeaveTheRule(String map, String to, String target) {
        assertSame(NotMapped.LEAVES_RULE, table(map, to).match(RemapTableTest.uri("http://client" + target)));
    }

    @ParameterizedTest
    @CsvSource({
        "/js/, http://o/w/, /js/a/../x",
        "/js/, http://o/w/, /js/...",
        "/js/, http://o/w/, /js/..a/x",
        "/js/, http://o/w/, /js/a../x",
        "/js/, http://o/w/, /js/./x",
        "/js/, http://o/w/, /js/x?/../../..",
        "/js, http://o/w, /js..",
        "/js/, http://o/, /js/../../x",
        "/, http://o, /../x"
    })
    void letsDotSegmentsThroughThatStayWithin(String map, String to, String target) {
        assertInstanceOf(Mapped.class, table(map, to).match(RemapTableTest.uri("http://client" + target)));
    }

    @ParameterizedTest
    @CsvSource({
        "http://o, false, o",
        "http://o:80, false, o",
        "https://o:443, false, o",
        "https://o:80, false, o:80",
        "http://O.Example:8080/x, false, o.example:8080",
        "'http://[::1]', false, [::1]",
        "http://o, true, client:8080"
    })
    void sendsTheHostOfTheTargetUnlessPristine(String to, boolean pristine, String expected) {
        RemapTable table = RemapTable.of(ProxyConfig.builder()
                .map(
                        "/",
                        to,
                        ConfigValues.builder()
                                .set(ConfigKeys.PRISTINE_HOST_HDR, pristine)
                                .build())
                .build());
        TargetUri uri = RemapTableTest.uri("http://client:8080/");
        assertEquals(expected, assertInstanceOf(Mapped.class, table.match(uri)).hostField(uri));
    }

    @Test
    void pristineHostMayBeSetForAllRules() {
        RemapTable table = RemapTable.of(ProxyConfig.builder()
                .set(ConfigKeys.PRISTINE_HOST_HDR, true)
                .map("/", "http://o")
                .build());
        TargetUri uri = RemapTableTest.uri("http://client/");
        assertEquals("client", assertInstanceOf(Mapped.class, table.match(uri)).hostField(uri));
    }

    private static RemapTable table(String map, String to) {
        return RemapTable.of(ProxyConfig.builder().map(map, to).build());
    }
}
