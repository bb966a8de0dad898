package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.reuse.StaleServing;
import io.millrace.proxy.caching.settings.QueryRule;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class KeyRulesTest {
    private static final Variance DEVICE_AND_LANG = Variance.of(List.of(FieldName.of("X-Device")), List.of("lang"));

    private static CacheSettings settings(Variance selectors) {
        return CacheSettings.builder()
                .key(new KeyRules(QueryRule.WHOLE, null, selectors, -1, false))
                .build();
    }

    @Test
    void plainRulesLeaveTheUrlAlone() {
        TargetUri url = Heads.target("http://a.example/p?b&a");
        assertSame(url, KeyRules.UNCHANGED.keyUrl(url));
        assertSame(url, KeyRules.UNCHANGED.originUrl(url, url));
        assertTrue(KeyRules.UNCHANGED.isUnchanged());
    }

    @Test
    void hostReplacesTheClientsHostAndNothingElseChanges() {
        KeyRules rules = new KeyRules(QueryRule.WHOLE, "shop", Variance.NONE, -1, false);
        TargetUri url = Heads.target("https://de.example:8443/%61?b&a");
        assertEquals("https://shop:8443/%61?b&a", rules.keyUrl(url).asString());
        assertEquals("https://shop:8443/a?b&a", CacheKey.of(rules.keyUrl(url)).asString());
        assertFalse(rules.isUnchanged());
    }

    @Test
    void originGetsTheWholeQueryOnlyByConfiguration() {
        QueryRule none = new QueryRule(true, List.of(), List.of(), false);
        TargetUri url = Heads.target("http://de.example/a?b");
        KeyRules safe = new KeyRules(none, "shop", Variance.NONE, -1, false);
        assertEquals("http://shop/a", safe.originUrl(url, safe.keyUrl(url)).asString());
        KeyRules whole = new KeyRules(none, "shop", Variance.NONE, -1, true);
        assertEquals("http://shop/a?b", whole.originUrl(url, whole.keyUrl(url)).asString());
        KeyRules ownHost = new KeyRules(none, null, Variance.NONE, -1, true);
        assertSame(url, ownHost.originUrl(url, ownHost.keyUrl(url)));
    }

    @ParameterizedTest(
            name = "RFC 9111 4.1 as though Vary named X-Device and the cookie lang: \"{0}\" and \"{1}\": {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "X-Device: tv            | X-Device: tv             | true",
                "X-Device: tv            | X-Device: phone          | false",
                "X-Device: tv            | X: y                     | false",
                "X-Device:               | X: y                     | false",
                "Cookie: lang=de         | Cookie: lang=de          | true",
                "Cookie: lang=de         | Cookie: lang=en          | false",
                "Cookie: lang=de         | Cookie: a=1; lang=de; b  | true",
                "Cookie: lang=de         | Cookie: a=1^Cookie: lang=de | true",
                "Cookie: lang=de         | Cookie: xlang=de         | false",
                "Cookie: lang=de         | Cookie: Lang=de          | false",
                "Cookie: lang=de         | Cookie: lang=de; lang=en | false",
                "Cookie: lang=           | Cookie: a=1              | false",
                "Cookie: lang=           | Cookie: lang             | true",
                "Cookie: lang=a; lang=b  | Cookie: lang=a;lang=b    | true",
                "Cookie: lang=a=b        | Cookie: lang=a=b         | true",
                "Cookie: lang=a=b        | Cookie: lang=a           | false",
                "Cookie: user=1          | Cookie: user=2           | true",
                "X: 1                    | X: 2                     | true"
            })
    void requestsAreDistinguishedByFieldsAndCookies(String stored, String asking, boolean same) {
        byte[] values = DEVICE_AND_LANG.valuesOf(Heads.fields(stored));
        assertEquals(same, DEVICE_AND_LANG.matches(values, Heads.fields(asking)));
    }

    @Test
    void selectorsCombineTheFieldsOfVary() {
        KeyRules rules = settings(DEVICE_AND_LANG).key();
        Variance both = rules.variance(Heads.fields("Vary: Accept-Encoding, x-device"));
        assertEquals("Accept-Encoding, x-device, Cookie[lang]", both.toString());
        assertTrue(DEVICE_AND_LANG.isWithin(both));
        assertFalse(both.isWithin(DEVICE_AND_LANG));
        assertTrue(rules.variance(Heads.fields("Vary: *")).isAny());
        assertSame(DEVICE_AND_LANG, rules.variance(Heads.fields("X: y")));
    }

    @Test
    void selectorsSelectStoredResponses() {
        CacheSettings settings = settings(DEVICE_AND_LANG);
        RequestHead german = Heads.get("Cookie: lang=de");
        StoredHead stored = StoredHead.of(german, Heads.response(200, "Cache-Control: max-age=60"), NOW, NOW, settings);
        assertInstanceOf(Reuse.Fresh.class, Reuse.of(Heads.get("Cookie: a=1; lang=de"), stored, NOW, settings));
        Reuse english = Reuse.of(Heads.get("Cookie: lang=en"), stored, NOW, settings);
        assertEquals(new Reuse.NotUsable(Reuse.NotUsableReason.VARY), english);
    }

    @Test
    void responsesStoredWithoutSelectorsAnswerNoRequest() {
        StoredHead before = Heads.stored("Cache-Control: max-age=60");
        assertInstanceOf(Reuse.Fresh.class, Reuse.of(Heads.get(), before, NOW, CacheSettings.DEFAULTS));
        CacheSettings settings = settings(DEVICE_AND_LANG);
        assertEquals(new Reuse.NotUsable(Reuse.NotUsableReason.VARY), Reuse.of(Heads.get(), before, NOW, settings));
        assertInstanceOf(StaleServing.Refused.class, StaleServing.of(Heads.get(), before, NOW, settings));
    }

    @Test
    void cookiesSurviveInStoredHeads() throws Exception {
        StoredHead marker = StoredHead.varyMarker(DEVICE_AND_LANG, 7, NOW);
        StoredHead head = StoredHead.of(
                Heads.get("Cookie: lang=de"), Heads.response(200, "X: y"), NOW, NOW, settings(DEVICE_AND_LANG));
        StoredHeadCodec codec = new StoredHeadCodec();
        for (StoredHead each : List.of(marker, head)) {
            ByteBuf bytes = Unpooled.buffer();
            codec.encode(each, bytes);
            StoredHead read = codec.decode(bytes);
            assertEquals(each, read);
            assertEquals(DEVICE_AND_LANG, read.variance());
        }
        assertEquals(
                "X-Device absent; Cookie[lang]: de;",
                StoredSummary.read(StoredSummary.of(head).text()).variant());
    }

    @Test
    void suffixOfAKeyStandsAfterTheUrl() {
        TargetUri url = Heads.target("http://a.example/p?q");
        byte[] suffix = " generation=3".getBytes(StandardCharsets.US_ASCII);
        assertEquals(
                "http://a.example/p?q generation=3", CacheKey.of(url, suffix).asString());
        assertArrayEquals(
                CacheKey.of(url).bytes(), CacheKey.of(url, new byte[0]).bytes());
    }
}
