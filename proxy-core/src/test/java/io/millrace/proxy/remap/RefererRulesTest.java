package io.millrace.proxy.remap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code map_with_referer}, with the example of Traffic Server's manual. */
final class RefererRulesTest {
    private static final TargetUri URL = RemapTableTest.uri("http://y.foo.bar.com/x/yy/a?b=c");

    private static RefererRules rules(String referers, String redirect) {
        ConfigValues settings = ConfigValues.builder()
                .set(RemapKeys.REFERERS, List.of(referers.split(" ", -1)))
                .set(RemapKeys.REFERER_REDIRECT, redirect)
                .build();
        RemapTable table = RemapTable.of(ProxyConfig.builder()
                .rule(RemapVerb.MAP_WITH_REFERER, "http://y.foo.bar.com/x/yy/", "http://foo.bar.com/x/yy/", settings)
                .build());
        RefererRules rules = ((Mapped) table.match(URL)).rule().referers();
        assertNotNull(rules);
        return rules;
    }

    private static FieldSection fields(String referer) {
        FieldSection.Builder fields = FieldSection.builder();
        return referer == null ? fields.build() : fields.add("Referer", referer).build();
    }

    @ParameterizedTest
    @CsvSource({
        ".*\\.bar\\.com www.bar-friends.com, http://games.bar.com/a, true",
        ".*\\.bar\\.com www.bar-friends.com, HTTP://GAMES.BAR.COM/a, true",
        ".*\\.bar\\.com www.bar-friends.com, http://www.bar-friends.com/, true",
        ".*\\.bar\\.com www.bar-friends.com, http://elsewhere/, false",
        ".*\\.bar\\.com www.bar-friends.com, , false",
        "~* .*\\.bar\\.com, , true",
        "~* .*\\.bar\\.com, http://elsewhere/, false",
        "*, http://elsewhere/, true",
        "*, , false",
        "* ~\\.evil\\., http://elsewhere/, true",
        "* ~\\.evil\\., http://www.evil.com/, false",
        "~\\.evil\\. *, http://www.evil.com/, false",
        "~\\.evil\\., http://elsewhere/, false",
        "~/private/ ^https?://good\\.example/, http://good.example/, true",
        "~/private/ ^https?://good\\.example/, http://good.example/private/, false",
        "^https?://good\\.example/ ~/private/, http://good.example/private/, true",
        "^https?://good\\.example/, http://evil/?http://good.example/, false"
    })
    void firstMatchingExpressionApplies(String referers, String referer, boolean allowed) {
        assertEquals(allowed, rules(referers, "/no").allow(fields(referer)));
    }

    @ParameterizedTest
    @CsvSource({
        "http://games.bar.com/new_games, http://e/, http://games.bar.com/new_games",
        "http://g/?r=%r, http://e/?a&b, http://g/?r=http://e/?a&b",
        "http://g/?r=%r, , http://g/?r=",
        "http://g/?f=%f, , http://g/?f=http://y.foo.bar.com/x/yy/",
        "http://g/?t=%t, , http://g/?t=http://foo.bar.com/x/yy/",
        "http://g/?o=%o, , http://g/?o=http://foo.bar.com/x/yy/a?b=c",
        "/%f0%9F?%t%r, x, /%f0%9F?http://foo.bar.com/x/yy/x",
        "http://g/?r=%r, 'a \"b\" <c>', http://g/?r=a%20%22b%22%20%3Cc%3E"
    })
    void redirectionIsFormattedByTheManual(String redirect, String referer, String expected) {
        assertEquals(expected, rules("nobody", redirect).location(URL, fields(referer)));
    }
}
