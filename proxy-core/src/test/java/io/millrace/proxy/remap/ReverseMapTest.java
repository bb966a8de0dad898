package io.millrace.proxy.remap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code reverse_map}, with the examples of Traffic Server's manual. */
final class ReverseMapTest {
    private static final ConfigValues COOKIES =
            ConfigValues.builder().set(RemapKeys.REWRITE_SET_COOKIE, true).build();

    private static final ProxyConfig CONFIG = ProxyConfig.builder()
            .map("http://www.x.com/", "http://server.hoster.com/x/")
            .map("https://www.x.com/", "http://server.hoster.com/x/")
            .map("http://m.x.com/", "http://server.hoster.com/x/")
            .map("http://www.y.com/marketing/", "http://marketing.y.com:8080/")
            .map("http://shop.example/s/", "http://app.internal:9000/app/")
            .map("http://plain.example/", "http://plain.internal/")
            .rule(RemapVerb.REVERSE_MAP, "http://server.hoster.com/x/", "http://www.x.com/", ConfigValues.empty())
            .rule(RemapVerb.REVERSE_MAP, "http://server.hoster.com/x/", "https://www.x.com/", ConfigValues.empty())
            .rule(RemapVerb.REVERSE_MAP, "http://server.hoster.com/x/", "http://m.x.com/", ConfigValues.empty())
            .rule(
                    RemapVerb.REVERSE_MAP,
                    "http://marketing.y.com:8080/",
                    "http://www.y.com/marketing/",
                    ConfigValues.empty())
            .rule(RemapVerb.REVERSE_MAP, "http://app.internal:9000/app/", "http://shop.example/s/", COOKIES)
            .build();
    private static final RemapTable TABLE = RemapTable.of(CONFIG);
    private static final ReverseMap REVERSE = Objects.requireNonNull(ReverseMap.of(CONFIG));

    private static String told(String client, FieldName name, String value) {
        TargetUri url = RemapTableTest.uri(client);
        ResponseHead head = ResponseHead.of(
                302,
                "Found",
                FieldSection.builder().add("X-A", "1").add(name, value).build());
        ResponseHead told = REVERSE.toClient(head, url, (Mapped) TABLE.match(url));
        assertEquals("1", told.fields().get(FieldName.of("X-A")));
        return told.fields().get(name);
    }

    @ParameterizedTest
    @CsvSource({
        "http://www.x.com/Widgets, http://server.hoster.com/x/Widgets/, http://www.x.com/Widgets/",
        "http://www.x.com/Widgets, http://SERVER.hoster.com:80/x/a?b#c, http://www.x.com/a?b#c",
        "http://m.x.com/Widgets, http://server.hoster.com/x/Widgets/, http://m.x.com/Widgets/",
        "https://www.x.com/Widgets, http://server.hoster.com/x/Widgets/, https://www.x.com/Widgets/",
        "http://www.y.com/marketing/a, http://server.hoster.com/x/b, http://www.x.com/b",
        "http://www.y.com/marketing/a, http://marketing.y.com:8080/b, http://www.y.com/marketing/b",
        "http://www.y.com/marketing/a, http://marketing.y.com/b, http://marketing.y.com/b",
        "http://www.x.com/, https://server.hoster.com/x/b, https://server.hoster.com/x/b",
        "http://www.x.com/, http://server.hoster.com/y/b, http://server.hoster.com/y/b",
        "http://www.x.com/, http://server.hoster.com:81/x/b, http://server.hoster.com:81/x/b",
        "http://www.x.com/, http://server.hoster.com/x/../b, http://server.hoster.com/x/../b",
        "http://www.x.com/, http://elsewhere/, http://elsewhere/",
        "http://www.x.com/, /x/b?c#d, /b?c#d",
        "http://www.x.com/, /y/b, /y/b",
        "http://www.x.com/, /x//evil.example/b?c#d, http://www.x.com//evil.example/b?c#d",
        "http://m.x.com/, /x//, http://m.x.com//",
        "http://www.y.com/marketing/a, /b, /marketing/b",
        "http://www.x.com/, //server.hoster.com/x/b, http://www.x.com/b",
        "http://www.x.com/, b/c, b/c",
        "http://www.x.com/, '', ''",
        "http://www.x.com/, mailto:a@b, mailto:a@b",
        "http://www.x.com/, http://, http://",
        "http://plain.example/, http://app.internal:9000/app/b, http://shop.example/s/b"
    })
    void urlsOfOriginsBecomeThoseOfClients(String client, String location, String expected) {
        assertEquals(expected, told(client, FieldName.LOCATION, location));
        assertEquals(expected, told(client, FieldName.CONTENT_LOCATION, location));
    }

    @ParameterizedTest
    @CsvSource({
        "a=b; Path=/app/; HttpOnly, a=b; Path=/s/; HttpOnly",
        "a=b; path=/app/x, a=b; path=/s/x",
        "a=b; Path=/, a=b; Path=/s/",
        "a=b; Path=/app, a=b; Path=/s",
        "a=b; Path=/other, a=b; Path=/other",
        "a=b; Domain=app.internal, a=b; Domain=shop.example",
        "a=b; Domain=.app.internal; Secure, a=b; Domain=shop.example; Secure",
        "a=b; Domain=internal, a=b; Domain=shop.example",
        "a=b; Domain=elsewhere, a=b; Domain=elsewhere",
        "a=path=/app/, a=path=/app/",
        "a=b, a=b",
        "'', ''"
    })
    void cookiesAreMovedByTheRule(String cookie, String expected) {
        assertEquals(expected, told("http://shop.example/s/login", FieldName.SET_COOKIE, cookie));
    }

    @Test
    void cookiesStayWhereTheRuleDoesNotSaySo() {
        String cookie = "a=b; Path=/x/; Domain=server.hoster.com";
        assertEquals(cookie, told("http://www.x.com/", FieldName.SET_COOKIE, cookie));
    }

    @Test
    void everyCookieIsLookedAt() {
        TargetUri url = RemapTableTest.uri("http://shop.example/s/");
        ResponseHead head = ResponseHead.of(
                200,
                "OK",
                FieldSection.builder()
                        .add("Set-Cookie", "a=1; Path=/app/")
                        .add("Set-Cookie", "b=2")
                        .add("Set-Cookie", "c=3; Path=/app/c")
                        .build());
        FieldSection told =
                REVERSE.toClient(head, url, (Mapped) TABLE.match(url)).fields();
        assertEquals("a=1; Path=/s/", told.value(0));
        assertEquals("b=2", told.value(1));
        assertEquals("c=3; Path=/s/c", told.value(2));
    }

    @Test
    void storedHeadIsChangedForEachClientAndStaysAsItWas() {
        TargetUri url = RemapTableTest.uri("http://www.x.com/a");
        TargetUri other = RemapTableTest.uri("http://m.x.com/a");
        StoredHead stored = stored("Location", "http://server.hoster.com/x/b");
        StoredHead told = REVERSE.toClient(stored, url, (Mapped) TABLE.match(url));
        assertEquals("http://www.x.com/b", told.fields().get(FieldName.LOCATION));
        assertEquals(stored.entityTag(), told.entityTag());
        assertEquals(stored.currentAgeSeconds(5_000), told.currentAgeSeconds(5_000));
        assertEquals(
                "http://m.x.com/b",
                REVERSE.toClient(stored, other, (Mapped) TABLE.match(other))
                        .fields()
                        .get(FieldName.LOCATION));
        assertEquals("http://server.hoster.com/x/b", stored.fields().get(FieldName.LOCATION));
    }

    @Test
    void otherUrlsArePassedOnUnchanged() {
        TargetUri url = RemapTableTest.uri("http://www.x.com/a");
        Mapped mapped = (Mapped) TABLE.match(url);
        StoredHead plain = stored("X-B", "http://server.hoster.com/x/b");
        assertSame(plain, REVERSE.toClient(plain, url, mapped));
        StoredHead foreign = stored("Location", "http://elsewhere/");
        assertSame(foreign, REVERSE.toClient(foreign, url, mapped));
        ResponseHead head = ResponseHead.of(200, "OK", FieldSection.EMPTY);
        assertSame(head, REVERSE.toClient(head, url, mapped));
        assertNull(ReverseMap.of(ProxyConfig.defaults()));
    }

    /** Rules for responses map no request. */
    @Test
    void noRequestIsMappedByThem() {
        assertSame(NotMapped.NO_RULE, TABLE.match(RemapTableTest.uri("http://server.hoster.com/x/")));
    }

    private static StoredHead stored(String name, String value) {
        return StoredHead.of(
                RequestHead.of("GET", RemapTableTest.uri("http://www.x.com/a"), FieldSection.EMPTY),
                ResponseHead.of(
                        302,
                        "Found",
                        FieldSection.builder()
                                .add("Cache-Control", "max-age=60")
                                .add("ETag", "\"e\"")
                                .add(name, value)
                                .build()),
                1_000,
                2_000,
                CacheSettings.DEFAULTS);
    }
}
