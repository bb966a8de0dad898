package io.millrace.proxy.caching.reuse;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.settings.RequestRules;
import io.millrace.proxy.http.RequestHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ReuseTest {

    @ParameterizedTest(name = "RFC 9111 4, 5.2: [{0}] aged {1} s for [{2}] is {3}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "max-age=60                             | 0    | ~~                          | fresh",
                "max-age=60                             | 59   | ~~                          | fresh",
                "max-age=60                             | 60   | ~~                          | stale",
                "max-age=60                             | 61   | ~~                          | stale",
                "max-age=60, no-cache                   | 0    | ~~                          | no-cache",
                "max-age=60, no-cache=\"x\"             | 0    | ~~                          | fresh",
                "max-age=60                             | 0    | Cache-Control: no-cache     | request-no-cache",
                "max-age=60                             | 0    | Pragma: no-cache            | request-no-cache",
                "max-age=60                             | 0    | Cache-Control: no-store     | fresh",
                "max-age=60                             | 0    | Cache-Control: only-if-cached | fresh",
                "max-age=60                             | 0    | Cache-Control: max-age=0    | request-max-age",
                "max-age=60                             | 10   | Cache-Control: max-age=10   | fresh",
                "max-age=60                             | 11   | Cache-Control: max-age=10   | request-max-age",
                "max-age=60                             | 0    | Cache-Control: max-age=x    | request-max-age",
                "max-age=60                             | 0    | Cache-Control: max-age=-300 | request-max-age",
                "max-age=60                             | 0    | Cache-Control: max-age=     | request-max-age",
                "max-age=60                             | 0    | Cache-Control: max-age      | request-max-age",
                "max-age=60                             | 0    | Cache-Control: max-age=1.5  | request-max-age",
                "max-age=60                             | 0    | Cache-Control: min-fresh=x, max-stale=-1 | fresh",
                "max-age=60                             | 10   | Cache-Control: min-fresh=50 | fresh",
                "max-age=60                             | 11   | Cache-Control: min-fresh=50 | request-min-fresh",
                "max-age=60                             | 70   | Cache-Control: max-stale    | serve-stale",
                "max-age=60                             | 70   | Cache-Control: max-stale=10 | serve-stale",
                "max-age=60                             | 71   | Cache-Control: max-stale=10 | stale",
                "max-age=60                             | 70   | Cache-Control: max-stale, max-age=50 | request-max-age",
                "max-age=60                             | 70   | Cache-Control: max-stale, min-fresh=1 | stale",
                "max-age=60                             | 604861 | Cache-Control: max-stale  | stale",
                "max-age=60, must-revalidate            | 70   | Cache-Control: max-stale    | stale",
                "max-age=60, proxy-revalidate           | 70   | Cache-Control: max-stale    | stale",
                "s-maxage=60                            | 70   | Cache-Control: max-stale    | stale",
                "max-age=60, stale-while-revalidate=10  | 69   | ~~                          | revalidating",
                "max-age=60, stale-while-revalidate=10  | 70   | ~~                          | stale",
                "s-maxage=60, stale-while-revalidate=10 | 69   | ~~                          | revalidating",
                "max-age=60, stale-while-revalidate=10, must-revalidate | 65 | ~~            | stale",
                "max-age=60, stale-while-revalidate=10  | 65   | Cache-Control: no-cache     | request-no-cache",
                "max-age=60, stale-while-revalidate=10  | 65   | Cache-Control: max-age=60   | request-max-age",
                "max-age=60, stale-while-revalidate=10  | 65   | Cache-Control: max-age=65   | stale",
                "max-age=60, stale-while-revalidate=10  | 65   | Cache-Control: min-fresh=1  | stale"
            })
    void decides(String control, long ageSeconds, String requestFields, String expected) {
        StoredHead stored = Heads.stored("Cache-Control: " + control);
        Reuse reuse = Reuse.of(Heads.get(requestFields), stored, NOW + ageSeconds * 1000, CacheSettings.DEFAULTS);
        assertEquals(expected, textOf(reuse));
    }

    @Test
    void inOverloadACookieWithoutALifetimeIsNotServedToOthers() {
        CacheSettings overload = CacheSettings.builder()
                .underLoad(new StaleRules.UnderLoad(3, 30, 2))
                .build();
        StoredHead without = Heads.stored("Set-Cookie: id=1", "ETag: \"a\"", "Cache-Control: max-age=0");
        assertEquals("stale", textOf(Reuse.of(Heads.get(), without, NOW + 1_000, overload)));
        StoredHead with = Heads.stored("Set-Cookie: id=1", "ETag: \"a\"", "Cache-Control: max-age=10");
        assertEquals("under-load", textOf(Reuse.of(Heads.get(), with, NOW + 11_000, overload)));
    }

    /** Extended to three times the lifetime, at most 30 s, and 2 s in any case. */
    @ParameterizedTest(name = "in overload: [{0}] aged {1} s for [{2}] is {3}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "max-age=10                             | 9    | ~~                          | fresh",
                "max-age=10                             | 29   | ~~                          | under-load",
                "max-age=10                             | 30   | ~~                          | stale",
                "max-age=60                             | 89   | ~~                          | under-load",
                "max-age=60                             | 90   | ~~                          | stale",
                "max-age=0                              | 1    | ~~                          | under-load",
                "max-age=0                              | 2    | ~~                          | stale",
                "max-age=10, stale-while-revalidate=60  | 29   | ~~                          | under-load",
                "max-age=10, stale-while-revalidate=60  | 30   | ~~                          | revalidating",
                "max-age=10, no-cache                   | 1    | ~~                          | no-cache",
                "max-age=10, must-revalidate            | 11   | ~~                          | stale",
                "max-age=10, proxy-revalidate           | 11   | ~~                          | stale",
                "s-maxage=10                            | 11   | ~~                          | stale",
                "max-age=10                             | 11   | Cache-Control: no-cache     | request-no-cache",
                "max-age=10                             | 11   | Cache-Control: max-age=11   | stale",
                "max-age=10                             | 11   | Cache-Control: min-fresh=1  | stale"
            })
    void rfc9111Section4_2_4_inOverloadServesStaleWhereNothingForbidsIt(
            String control, long ageSeconds, String requestFields, String expected) {
        StoredHead stored = Heads.stored("Cache-Control: " + control);
        CacheSettings overload = CacheSettings.builder()
                .underLoad(new StaleRules.UnderLoad(3, 30, 2))
                .build();
        Reuse reuse = Reuse.of(Heads.get(requestFields), stored, NOW + ageSeconds * 1000, overload);
        assertEquals(expected, textOf(reuse));
    }

    @Test
    void settingsIgnoreTheClientsDirectives() {
        StoredHead stored = Heads.stored("Cache-Control: max-age=60");
        CacheSettings noCache =
                CacheSettings.builder().ignoreClientNoCache(true).build();
        CacheSettings maxAge = CacheSettings.builder().ignoreClientMaxAge(true).build();
        assertEquals("fresh", textOf(Reuse.of(Heads.get("Pragma: no-cache"), stored, NOW, noCache)));
        assertEquals("fresh", textOf(Reuse.of(Heads.get("Cache-Control: max-age=0"), stored, NOW, maxAge)));
        assertEquals("request-max-age", textOf(Reuse.of(Heads.get("Cache-Control: max-age=0"), stored, NOW, noCache)));
    }

    @Test
    void onlyGetAndHeadWithoutContentAreAnswered_RFC9111_4() {
        StoredHead stored = Heads.stored("Cache-Control: max-age=60");
        assertEquals("fresh", textOf(reuse(Heads.request("HEAD", "http://a.example/x"), stored)));
        assertEquals("method", textOf(reuse(Heads.request("POST", "http://a.example/x"), stored)));
        assertEquals("method", textOf(reuse(Heads.request("OPTIONS", "http://a.example/x"), stored)));
        assertEquals("request-content", textOf(reuse(Heads.get("Content-Length: 1"), stored)));
        CacheSettings off = CacheSettings.builder().enabled(false).build();
        assertEquals("disabled", textOf(Reuse.of(Heads.get(), stored, NOW, off)));
    }

    @Test
    void anotherValueOfAVaryFieldIsNoMatch_RFC9111_4_1() {
        StoredHead stored = StoredHead.of(
                Heads.get("Foo: 1"),
                Heads.response(200, "Cache-Control: max-age=60", "Vary: Foo"),
                NOW,
                NOW,
                CacheSettings.DEFAULTS);
        assertEquals("fresh", textOf(reuse(Heads.get("foo: 1 "), stored)));
        assertEquals("vary", textOf(reuse(Heads.get("Foo: 2"), stored)));
        assertEquals("vary", textOf(reuse(Heads.get(), stored)));
    }

    @ParameterizedTest(name = "reuse_with_authorization if_allowed: {1} for a stored response with {0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "max-age=60                          | authorization, not used",
                "max-age=60, public                  | fresh",
                "s-maxage=60                         | fresh",
                "max-age=60, must-revalidate         | authorization, validated",
                "s-maxage=60, proxy-revalidate       | authorization, validated"
            })
    void requestWithAuthorizationGetsAnAnswerThatAllowsIt(String control, String expected) {
        CacheSettings allowed = CacheSettings.builder()
                .authorizedReuse(RequestRules.AuthorizedReuse.IF_ALLOWED)
                .build();
        StoredHead stored = Heads.stored("Cache-Control: " + control);
        Reuse reuse = Reuse.of(Heads.get("Authorization: x"), stored, NOW, allowed);
        String how =
                reuse instanceof Reuse.Validate ? ", validated" : reuse instanceof Reuse.NotUsable ? ", not used" : "";
        assertEquals(expected, textOf(reuse) + how);
        assertEquals("fresh", textOf(Reuse.of(Heads.get(), stored, NOW, allowed)));
        assertEquals("fresh", textOf(reuse(Heads.get("Authorization: x"), stored)));
    }

    private static Reuse reuse(RequestHead request, StoredHead stored) {
        return Reuse.of(request, stored, NOW, CacheSettings.DEFAULTS);
    }

    private static String textOf(Reuse reuse) {
        if (reuse instanceof Reuse.Validate validate) {
            return validate.reason().text();
        }
        if (reuse instanceof Reuse.NotUsable notUsable) {
            return notUsable.reason().text();
        }
        if (reuse instanceof Reuse.ServeStale) {
            return "serve-stale";
        }
        if (reuse instanceof Reuse.ServeStaleUnderLoad) {
            return "under-load";
        }
        return reuse == Reuse.FRESH ? "fresh" : "revalidating";
    }
}
