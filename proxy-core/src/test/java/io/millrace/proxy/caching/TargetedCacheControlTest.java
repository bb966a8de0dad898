package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.ResponseHead;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests RFC 9213. A lifetime of -1 stands for: not stored. */
final class TargetedCacheControlTest {

    @ParameterizedTest(name = "RFC 9213 2.1, 2.2: CDN-Cache-Control: {0} beside Cache-Control: {1} lasts {2} s")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "max-age=60                        | max-age=10  | 60",
                "max-age=10                        | max-age=60  | 10",
                "max-age=60                        | no-store    | 60",
                "max-age=60                        | private     | 60",
                "max-age=60;x=\"y\";z              | no-store    | 60",
                "foobar, max-age=60                | no-store    | 60",
                "foobar=(1 2);a, max-age=60        | no-store    | 60",
                "s-maxage=70, max-age=60           | no-store    | 70",
                "max-age=10, max-age=60            | no-store    | 60",
                "max-age=999999999999999           | no-store    | 2147483648",
                "no-store=?0, max-age=60           | no-store    | 60",
                "no-store                          | max-age=60  | -1",
                "no-store, max-age=60              | max-age=60  | -1",
                "no-store=1, max-age=60            | max-age=60  | -1",
                "private, max-age=60               | max-age=60  | -1",
                "private=1, max-age=60             | max-age=60  | -1",
                "no-cache, max-age=60              | max-age=60  | -1",
                "max-age=0                         | max-age=60  | -1",
                "max-age                           | max-age=60  | -1",
                "max-age=\"60\"                    | max-age=60  | -1",
                "max-age=60.0                      | max-age=60  | -1",
                "max-age=-60                       | max-age=60  | -1",
                "max-age=a                         | max-age=60  | -1",
                "max-age=(60)                      | max-age=60  | -1",
                "foobar                            | max-age=60  | -1",
                "~~                                | max-age=60  | 60",
                "max-age=10, &&&&                  | max-age=60  | 60",
                "max-age =10                       | max-age=60  | 60",
                "max-age= 10                       | max-age=60  | 60",
                "MaX-aGe=10                        | max-age=60  | 60",
                "max-age=10,                       | max-age=60  | 60",
                "max-age=10;                       | max-age=60  | 60",
                "no-store; max-age=10, &           | no-store    | -1"
            })
    void decidesInPlaceOfCacheControl(String targeted, String control, long lifetimeSeconds) {
        ResponseHead response =
                Heads.response(200, "CDN-Cache-Control: " + targeted, "Cache-Control: " + control, "Expires: {5}");
        boolean storable =
                Storability.of(Heads.get(), response, NOW, CacheSettings.DEFAULTS) instanceof Storability.Storable;
        long actual = storable
                ? Freshness.of(Heads.get(), response, NOW, CacheSettings.DEFAULTS)
                        .lifetimeSeconds()
                : -1;
        assertEquals(lifetimeSeconds, actual);
    }

    @Test
    void namesFieldsInAString_rfc9213_s2_1() {
        CacheControl control = CacheControl.ofResponse(
                Heads.fields("CDN-Cache-Control: no-cache=\"set-cookie, a\", private=\"b\", max-age=1"),
                List.of(FieldName.CDN_CACHE_CONTROL));
        assertFalse(control.isNoCache());
        assertFalse(control.isPrivate());
        assertEquals(List.of(FieldName.SET_COOKIE, FieldName.of("a")), control.noCacheFields());
        assertEquals(List.of(FieldName.of("b")), control.privateFields());
    }

    @Test
    void expiresDoesNotCountBesideIt_rfc9213_s2_2() {
        ResponseHead response = Heads.response(200, "CDN-Cache-Control: public", "Expires: {5}");
        assertEquals(
                LifetimeSource.NONE,
                Freshness.of(Heads.get(), response, NOW, CacheSettings.DEFAULTS).source());
    }

    @Test
    void theFirstOfTheListThatIsWellFormedDecides_rfc9213_s2_2() {
        CacheSettings settings = CacheSettings.builder()
                .targets(List.of(FieldName.of("Edge-Cache-Control"), FieldName.CDN_CACHE_CONTROL))
                .build();
        assertEquals(1, lifetime(settings, "Edge-Cache-Control: max-age=1^CDN-Cache-Control: max-age=2"));
        assertEquals(2, lifetime(settings, "Edge-Cache-Control: max-age=1;;^CDN-Cache-Control: max-age=2"));
        assertEquals(2, lifetime(settings, "Edge-Cache-Control: ^CDN-Cache-Control: max-age=2"));
        assertEquals(3, lifetime(settings, "Edge-Cache-Control: ,^CDN-Cache-Control: &^Cache-Control: max-age=3"));
        assertEquals(1, lifetime(settings, "edge-cache-control: max-age=1"));
    }

    @Test
    void withoutTargetsOnlyCacheControlCounts() {
        CacheSettings none = CacheSettings.builder().targets(List.of()).build();
        assertEquals(3, lifetime(none, "CDN-Cache-Control: max-age=2^Cache-Control: max-age=3"));
    }

    @Test
    void isStoredAndPassedOn_rfc9213_s2_2() {
        StoredHead stored = Heads.stored("CDN-Cache-Control: max-age=60", "Cache-Control: max-age=1");
        assertEquals("max-age=60", stored.fields().get(FieldName.CDN_CACHE_CONTROL));
        assertEquals("max-age=1", stored.fields().get(FieldName.CACHE_CONTROL));
        assertTrue(stored.isFresh(NOW + 59_000));
    }

    private static long lifetime(CacheSettings settings, String lines) {
        return Freshness.of(Heads.get(), Heads.response(200, lines), NOW, settings)
                .lifetimeSeconds();
    }
}
