package io.millrace.proxy.caching.reuse;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StoredHead;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class StaleServingTest {

    @ParameterizedTest(name = "RFC 9111 4.2.4, RFC 5861 4: [{0}] aged {1} s for [{2}] is {3}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "max-age=60                          | 70     | ~~                            | allowed",
                "max-age=60                          | 604860 | ~~                            | allowed",
                "max-age=60                          | 604861 | ~~                            | too-stale",
                "max-age=60                          | 10     | ~~                            | allowed",
                "max-age=60, must-revalidate         | 70     | ~~                            | must-revalidate",
                "max-age=60, proxy-revalidate        | 70     | ~~                            | proxy-revalidate",
                "max-age=60, no-cache                | 70     | ~~                            | no-cache",
                "s-maxage=60                         | 70     | ~~                            | s-maxage",
                "max-age=60, s-maxage=60             | 70     | ~~                            | s-maxage",
                "s-maxage=60, stale-if-error=20      | 80     | ~~                            | allowed",
                "s-maxage=60, stale-if-error=20      | 81     | ~~                            | too-stale",
                "max-age=60, stale-if-error=20       | 81     | ~~                            | too-stale",
                "max-age=60, stale-if-error=0        | 61     | ~~                            | too-stale",
                "max-age=60, stale-if-error=9999999  | 700000 | ~~                            | allowed",
                "must-revalidate, max-age=60, stale-if-error=20 | 70 | ~~                     | must-revalidate",
                "max-age=60                          | 70     | Cache-Control: no-cache       | request-no-cache",
                "max-age=60                          | 70     | Pragma: no-cache              | request-no-cache",
                "max-age=60                          | 70     | Cache-Control: max-age=69     | request-age",
                "max-age=60                          | 70     | Cache-Control: max-age=70     | allowed",
                "max-age=60                          | 70     | Cache-Control: max-age=0, max-stale | allowed",
                "max-age=60                          | 70     | Cache-Control: max-age=0, stale-if-error=9 | allowed",
                "max-age=60, stale-if-error=5        | 70     | Cache-Control: stale-if-error=10 | allowed",
                "max-age=60, stale-if-error=5        | 71     | Cache-Control: stale-if-error=10 | too-stale"
            })
    void decides(String control, long ageSeconds, String request, String expected) {
        StoredHead stored = Heads.stored("Cache-Control: " + control);
        assertEquals(
                expected,
                textOf(StaleServing.of(Heads.get(request), stored, NOW + ageSeconds * 1000, CacheSettings.DEFAULTS)));
    }

    @Test
    void anotherVariantOrAMarkerIsNoAnswer() {
        StoredHead variant = Heads.stored("Vary: Foo", "Cache-Control: max-age=60");
        StoredHead marker = StoredHead.varyMarker(variant.variance(), 1, NOW);
        assertEquals("not-usable", textOf(StaleServing.of(Heads.get("Foo: 1"), variant, NOW, CacheSettings.DEFAULTS)));
        assertEquals("not-usable", textOf(StaleServing.of(Heads.get(), marker, NOW, CacheSettings.DEFAULTS)));
    }

    @Test
    void zeroMaxStaleServesNothingStale() {
        CacheSettings none = CacheSettings.builder().maxStaleSeconds(0).build();
        StoredHead stored = Heads.stored("Cache-Control: max-age=60");
        assertEquals("too-stale", textOf(StaleServing.of(Heads.get(), stored, NOW + 61_000, none)));
    }

    @Test
    void errorStatusesAreThoseOfFailingOrigins_RFC5861_4() {
        for (int status : new int[] {500, 502, 503, 504}) {
            assertTrue(StaleServing.isErrorStatus(status, CacheSettings.DEFAULTS));
        }
        for (int status : new int[] {200, 304, 404, 410, 501, 505}) {
            assertFalse(StaleServing.isErrorStatus(status, CacheSettings.DEFAULTS));
        }
    }

    @Test
    void responseWithoutAGuessedLifetimeIsNotServedStale() {
        StoredHead stored = StoredHead.of(
                Heads.get("Cookie: a=1"),
                Heads.response(
                        200,
                        "Content-Type: text/html^Last-Modified: {-86400}^Cache-Control: stale-while-revalidate=60"),
                NOW,
                NOW,
                CacheSettings.DEFAULTS);
        assertEquals("cookies", textOf(StaleServing.of(Heads.get(), stored, NOW + 1_000, CacheSettings.DEFAULTS)));
        for (String control : List.of("", "Cache-Control: max-stale=60")) {
            assertEquals(
                    Reuse.ValidateReason.STALE,
                    assertInstanceOf(
                                    Reuse.Validate.class,
                                    Reuse.of(Heads.get(control), stored, NOW + 1_000, CacheSettings.DEFAULTS))
                            .reason());
        }
    }

    @ParameterizedTest(name = "{0} to a validation of [{1}] aged {2} s is masked: {3}")
    @CsvSource(
            delimiter = '|',
            value = {
                "503 | max-age=60                             | 70     | true",
                "500 | max-age=60                             | 604861 | false",
                "404 | max-age=60                             | 70     | false",
                "503 | max-age=60                             | 10     | true",
                "503 | max-age=60, must-revalidate            | 10     | true",
                "503 | max-age=60, must-revalidate            | 70     | false",
                "503 | max-age=60, no-cache                   | 10     | false",
                "503 | s-maxage=60                            | 70     | false",
                "503 | s-maxage=60, stale-while-revalidate=20 | 70     | true",
                "503 | s-maxage=60, stale-while-revalidate=20 | 80     | false",
                "503 | max-age=60, stale-if-error=20          | 70     | true",
                "503 | max-age=60, stale-if-error=0           | 70     | false"
            })
    void errorIsMaskedWhileTheStoredResponseMayBeServed(int status, String control, long ageSeconds, boolean masked) {
        StoredHead stored = Heads.stored("Cache-Control: " + control);
        long now = NOW + ageSeconds * 1000;
        assertEquals(masked, StaleServing.isErrorDiscarded(status, stored, now, CacheSettings.DEFAULTS, -1));
        StoredHead error = Heads.stored(Heads.response(503, "Cache-Control: " + control));
        assertFalse(StaleServing.isErrorDiscarded(status, error, now, CacheSettings.DEFAULTS, -1));
    }

    private static String textOf(StaleServing decision) {
        return decision instanceof StaleServing.Refused refused
                ? refused.reason().text()
                : "allowed";
    }
}
