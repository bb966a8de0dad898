package io.millrace.proxy.caching.field;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CacheControlTest {

    private static final long SEED = 0xcac4e;

    @ParameterizedTest(name = "RFC 9111 4.2.1, 5.2: response \"{0}\" has max-age {1}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "max-age=3600                         | 3600",
                "MaX-aGe=3600                         | 3600",
                "foobar, max-age=3600                 | 3600",
                "max-age=003600                       | 3600",
                "max-age=2147483648                   | 2147483648",
                "max-age=99999999999                  | 2147483648",
                "max-age=\"3600\"                     | 3600",
                "max-age=1800, max-age=1              | 1800",
                "max-age=1, max-age=1800              | 1",
                "max-age=x, max-age=1800              | 0",
                "max-age=-3600                        | 0",
                "max-age=3600.0                       | 0",
                "max-age=3600a                        | 0",
                "max-age='3600'                       | 0",
                "max-age= 3600                        | 0",
                "max-age=                             | 0",
                "max-age                              | 0",
                "max-age=\"3600                       | 0",
                "max-age =3600                        | -1",
                "extension=\"max-age=3600\", max-age=1| 1",
                "max-age=1, extension=\"max-age=3600\"| 1",
                "ext=\"a\\\", max-age=1\"             | -1",
                "max-agex=1, xmax-age=1               | -1",
                "s-maxage=1                           | -1",
                "~~                                   | -1"
            })
    void readsMaxAge(String value, long expected) {
        assertEquals(expected, response(value).maxAgeSeconds());
    }

    @Test
    void readsAllLinesAsOneList_RFC9110_5_2() {
        CacheControl control = CacheControl.ofResponse(
                Heads.fields("Cache-Control: max-age=1^cache-control: s-maxage=2, public"), List.of());
        assertEquals(1, control.maxAgeSeconds());
        assertEquals(2, control.sharedMaxAgeSeconds());
        assertTrue(control.isPublic());
    }

    @ParameterizedTest(name = "RFC 9111 5.2.2: {0}")
    @MethodSource("flags")
    void readsFlags(String directive, Predicate<CacheControl> flag) {
        assertTrue(flag.test(response("x, " + directive + ", max-age=1")));
        assertTrue(flag.test(response(directive.toUpperCase(Locale.ROOT))));
        assertTrue(flag.test(response(directive + "=1x,")) || directive.matches("no-cache|private"));
        assertFalse(flag.test(response("x" + directive)));
        assertFalse(flag.test(response("x=\"" + directive + "\"")));
    }

    static Stream<Arguments> flags() {
        return Stream.of(
                flag("no-store", CacheControl::isNoStore),
                flag("no-cache", CacheControl::isNoCache),
                flag("private", CacheControl::isPrivate),
                flag("public", CacheControl::isPublic),
                flag("must-revalidate", CacheControl::isMustRevalidate),
                flag("proxy-revalidate", CacheControl::isProxyRevalidate),
                flag("must-understand", CacheControl::isMustUnderstand),
                flag("only-if-cached", CacheControl::isOnlyIfCached));
    }

    private static Arguments flag(String directive, Predicate<CacheControl> flag) {
        return Arguments.of(directive, flag);
    }

    @Test
    void readsFieldNamesOfNoCacheAndPrivate_RFC9111_5_2_2_4() {
        CacheControl control = response("no-cache=\"Set-Cookie, X-A\", private=x-b, no-cache=\"X-C\"");
        assertFalse(control.isNoCache());
        assertFalse(control.isPrivate());
        assertEquals(List.of(FieldName.SET_COOKIE, FieldName.of("x-a"), FieldName.of("x-c")), control.noCacheFields());
        assertEquals(List.of(FieldName.of("X-B")), control.privateFields());
    }

    @ParameterizedTest(name = "RFC 9111 5.2.2.4: {0} restricts the whole response")
    @ValueSource(
            strings = {
                "no-cache=\"\"",
                "no-cache=",
                "no-cache=\"a b\"",
                "no-cache=\"a",
                "no-cache=\"a, b;c\"",
                "no-cache=\"a\", no-cache",
                "no-cache, no-cache=\"a\""
            })
    void malformedFieldNamesRestrictEverything(String value) {
        assertTrue(response(value).isNoCache());
        assertTrue(response(value.replace("no-cache", "private")).isPrivate());
    }

    @Test
    void aQuoteThatIsNotClosedHidesNothing() {
        assertTrue(response("ext=\"a, no-store").isNoStore());
        assertTrue(response("private=\"a, max-age=10").isPrivate());
    }

    @Test
    void readsRequestDirectives_RFC9111_5_2_1() {
        CacheControl control =
                request("max-age=5, max-stale=10, min-fresh=15, no-cache, no-store, only-if-cached, stale-if-error=20");
        assertEquals(5, control.maxAgeSeconds());
        assertEquals(10, control.maxStaleSeconds());
        assertEquals(15, control.minFreshSeconds());
        assertEquals(20, control.staleIfErrorSeconds());
        assertTrue(control.isNoCache());
        assertTrue(control.isNoStore());
        assertTrue(control.isOnlyIfCached());
        assertEquals(CacheControl.ANY_STALENESS, request("max-stale").maxStaleSeconds());
    }

    @Test
    void malformedNumbersOfRequestsRestrictOrAreAsIfAbsent() {
        CacheControl control = request("max-age=x, max-stale=y, min-fresh=-1, stale-if-error=");
        assertEquals(0, control.maxAgeSeconds());
        assertEquals(CacheControl.ABSENT, control.maxStaleSeconds());
        assertEquals(CacheControl.ABSENT, control.minFreshSeconds());
        assertEquals(CacheControl.ABSENT, control.staleIfErrorSeconds());
    }

    @Test
    void readsStaleExtensions_RFC5861() {
        CacheControl control = response("stale-while-revalidate=7, stale-if-error=\"8\"");
        assertEquals(7, control.staleWhileRevalidateSeconds());
        assertEquals(8, control.staleIfErrorSeconds());
        assertEquals(CacheControl.ABSENT, response("stale-if-error=x").staleIfErrorSeconds());
    }

    @Test
    void pragmaCountsOnlyInRequestsWithoutCacheControl_RFC9111_5_4() {
        assertTrue(CacheControl.ofRequest(Heads.fields("Pragma: x, No-Cache")).isNoCache());
        assertFalse(CacheControl.ofRequest(Heads.fields("Pragma: no-cache^Cache-Control: max-age=1"))
                .isNoCache());
        assertFalse(CacheControl.ofRequest(Heads.fields("Pragma: x")).isNoCache());
        assertSame(CacheControl.NONE, CacheControl.ofResponse(Heads.fields("Pragma: no-cache"), List.of()));
        assertSame(CacheControl.NONE, CacheControl.ofRequest(FieldSection.EMPTY));
    }

    @Test
    void findsARestrictionInAnyWellFormedSurroundings() {
        Random random = new Random(SEED);
        String[] others = {"max-age=1", "x=\"a, \\\"b\"", "public", " ", "foo=bar", "s-maxage=\"9\"", "private=\"q\""};
        for (int round = 0; round < 2_000; round++) {
            StringBuilder value = new StringBuilder();
            int at = random.nextInt(5);
            for (int i = 0; i < 5; i++) {
                value.append(i == at ? "no-store" : others[random.nextInt(others.length)])
                        .append(random.nextBoolean() ? "," : " ,\t");
            }
            assertTrue(response(value.toString()).isNoStore(), "seed " + SEED + " round " + round + ": " + value);
        }
    }

    @Test
    void readsAnyBytesWithoutFailing() {
        Random random = new Random(SEED);
        String alphabet = "max-age=\"\\, 10no-cache='";
        for (int round = 0; round < 20_000; round++) {
            StringBuilder value = new StringBuilder();
            for (int i = random.nextInt(20); i > 0; i--) {
                value.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            CacheControl control = response(value.toString());
            assertTrue(control.maxAgeSeconds() >= -1, "seed " + SEED + " round " + round + ": " + value);
        }
    }

    private static CacheControl response(String value) {
        return CacheControl.ofResponse(
                FieldSection.builder().add(FieldName.CACHE_CONTROL, value).build(), List.of());
    }

    private static CacheControl request(String value) {
        return CacheControl.ofRequest(
                FieldSection.builder().add(FieldName.CACHE_CONTROL, value).build());
    }
}
