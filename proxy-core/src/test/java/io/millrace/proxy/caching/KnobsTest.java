package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.LifetimeRules.NegativeCaching;
import io.millrace.proxy.caching.LifetimeRules.WhenToRevalidate;
import io.millrace.proxy.caching.key.DynamicUrls;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.reuse.StaleServing;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.settings.StatusSet;
import io.millrace.proxy.caching.settings.StoringRules.CookiePolicy;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the effect of each setting, and that its default has none. */
final class KnobsTest {

    private static final String FRESH = "Cache-Control: max-age=60";

    @ParameterizedTest(name = "when_to_revalidate {0}: {1}, request {2}, after {3} s: fresh is {4}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "DIRECTIVES        | Cache-Control: max-age=60 | ~~                       | 10  | true",
                "DIRECTIVES        | Cache-Control: max-age=60 | If-Modified-Since: {-99} | 10  | true",
                "DIRECTIVES        | Last-Modified: {-99999}   | ~~                       | 10  | true",
                "HEURISTIC         | Cache-Control: max-age=60 | ~~                       | 10  | true",
                "HEURISTIC         | Last-Modified: {-99999}   | ~~                       | 10  | false",
                "ALWAYS            | Cache-Control: max-age=60 | ~~                       | 10  | false",
                "NEVER             | Cache-Control: max-age=60 | ~~                       | 999 | true",
                "NEVER             | Cache-Control: no-cache^ETag: \"a\" | ~~             | 10  | false",
                "NEVER             | Cache-Control: max-age=60 | Cache-Control: no-cache  | 10  | false",
                "IF_MODIFIED_SINCE | Cache-Control: max-age=60 | ~~                       | 10  | true",
                "IF_MODIFIED_SINCE | Cache-Control: max-age=60 | If-Modified-Since: {-99} | 10  | false"
            })
    void whenToRevalidate(WhenToRevalidate when, String response, String request, long seconds, boolean fresh) {
        CacheSettings settings = CacheSettings.builder().whenToRevalidate(when).build();
        Reuse reuse = Reuse.of(Heads.get(request), Heads.stored(response), NOW + seconds * 1000, settings);
        assertEquals(fresh, reuse instanceof Reuse.Fresh, reuse::toString);
        assertTrue(fresh || reuse instanceof Reuse.Validate, reuse::toString);
    }

    @Test
    void alwaysToRevalidateHoldsForStaleWhileRevalidateToo() {
        CacheSettings always = CacheSettings.builder()
                .whenToRevalidate(WhenToRevalidate.ALWAYS)
                .forcedWhileRevalidateSeconds(100)
                .build();
        StoredHead stored = stored(always, FRESH);
        assertInstanceOf(Reuse.Validate.class, Reuse.of(Heads.get(), stored, NOW + 70_000, always));
    }

    @ParameterizedTest(name = "guaranteed lifetimes 10 to 100: {0} lasts {1} s")
    @CsvSource(
            delimiter = '|',
            value = {
                "Cache-Control: max-age=60         | 60",
                "Cache-Control: max-age=1          | 10",
                "Cache-Control: max-age=1000       | 100",
                "Cache-Control: s-maxage=1000      | 100",
                "Expires: {1000}                   | 100",
                "Last-Modified: {-99999}           | 100",
                "X: y                              | 10"
            })
    void guaranteedLifetimes(String response, long seconds) {
        CacheSettings settings = CacheSettings.builder()
                .guaranteedMinSeconds(10)
                .guaranteedMaxSeconds(100)
                .build();
        assertEquals(
                seconds,
                Freshness.of(Heads.get(), Heads.response(200, response), NOW, settings)
                        .lifetimeSeconds());
    }

    @Test
    void aGuaranteedLifetimeMakesNothingStorableThatTheStatusForbids_rfc9111_s3() {
        CacheSettings settings =
                CacheSettings.builder().guaranteedMinSeconds(10).build();
        assertEquals(
                NoStoreReason.STATUS,
                reason(Storability.of(Heads.get(), Heads.response(302, "Location: /b"), NOW, settings)));
    }

    @Test
    void ignoreServerNoCacheLeavesPrivateAlone() {
        CacheSettings ignoring =
                CacheSettings.builder().ignoreServerNoCache(true).build();
        assertSame(Storability.STORABLE, storability(ignoring, "Cache-Control: no-store, max-age=60"));
        assertSame(Storability.STORABLE, storability(ignoring, "Cache-Control: no-cache, max-age=60"));
        assertEquals(
                NoStoreReason.PRIVATE, reason(storability(ignoring, "Cache-Control: private, no-cache, max-age=60")));
        StoredHead stored = stored(ignoring, "Cache-Control: no-cache, max-age=60");
        assertSame(Reuse.FRESH, Reuse.of(Heads.get(), stored, NOW, ignoring));
    }

    @Test
    void imsOnClientNoCacheOffFetchesAnew() {
        RequestHead request = Heads.get("Cache-Control: no-cache");
        CacheSettings again = CacheSettings.builder().imsOnClientNoCache(false).build();
        assertInstanceOf(Reuse.Validate.class, Reuse.of(request, Heads.stored(FRESH), NOW, CacheSettings.DEFAULTS));
        assertInstanceOf(Reuse.NotUsable.class, Reuse.of(request, Heads.stored(FRESH), NOW, again));
    }

    @Test
    void ignoreAuthenticationOffStoresNothingWithWwwAuthenticate() {
        CacheSettings off = CacheSettings.builder().ignoreAuthentication(false).build();
        String[] lines = {FRESH, "WWW-Authenticate: Basic realm=\"x\""};
        assertSame(Storability.STORABLE, storability(CacheSettings.DEFAULTS, lines));
        assertEquals(NoStoreReason.WWW_AUTHENTICATE, reason(storability(off, lines)));
        assertSame(Storability.STORABLE, storability(off, FRESH));
    }

    @ParameterizedTest(name = "cache_responses_to_cookies {0}: request {1}, response {2}: stored is {3}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "NONE                   | ~~          | Content-Type: text/html                            | true",
                "NONE                   | Cookie: a=b | Content-Type: image/png                            | false",
                "NONE                   | ~~          | Set-Cookie: a=b                                    | false",
                "ALL                    | Cookie: a=b | Set-Cookie: a=b^Content-Type: text/html            | true",
                "IMAGES                 | Cookie: a=b | Content-Type: image/png                            | true",
                "IMAGES                 | Cookie: a=b | Content-Type: application/pdf                      | false",
                "IMAGES                 | Cookie: a=b | X: y                                               | false",
                "NOT_TEXT               | Cookie: a=b | Content-Type: application/pdf                      | true",
                "NOT_TEXT               | Cookie: a=b | Content-Type: Text/html                            | false",
                "NOT_TEXT_UNLESS_PUBLIC | Cookie: a=b | Content-Type: text/html                            | true",
                "NOT_TEXT_UNLESS_PUBLIC | Cookie: a=b | Content-Type: text/html^Set-Cookie: a=b            | false",
                "NOT_TEXT_UNLESS_PUBLIC | Cookie: a=b | Content-Type: text/html^Set-Cookie: a=b^Cache-Control: public"
                        + " | true"
            })
    void cookies(CookiePolicy policy, String request, String response, boolean stored) {
        CacheSettings settings = CacheSettings.builder().cookies(policy).build();
        ResponseHead head = Heads.response(200, "Expires: {60}", response);
        assertEquals(stored, Storability.of(Heads.get(request), head, NOW, settings) instanceof Storability.Storable);
        StoredHead before = StoredHead.of(Heads.get(), head, NOW, NOW, CacheSettings.DEFAULTS);
        boolean reused = Reuse.of(Heads.get(request), before, NOW, settings) instanceof Reuse.Fresh;
        assertEquals(stored, reused);
    }

    @ParameterizedTest(name = "cache_urls_that_look_dynamic: {0} is {1}")
    @CsvSource({
        "/a?b, true",
        "/a?, true",
        "/a;b, true",
        "/cgi-bin/a, true",
        "/a/xcgi, true",
        "/a.asp, true",
        "/a.aspx, false",
        "/.asp/a, false",
        "/a, false",
        "/cg, false",
        "/, false"
    })
    void dynamicUrls(String path, boolean dynamic) {
        RequestHead request = Heads.request("GET", "http://a.example" + path);
        assertEquals(dynamic, DynamicUrls.looksDynamic(request.target()));
        CacheSettings off = CacheSettings.builder().dynamicUrls(false).build();
        assertEquals(
                dynamic ? NoStoreReason.DYNAMIC_URL : null,
                reason(Storability.of(request, Heads.response(200, FRESH), NOW, off)));
    }

    @Test
    void negativeCachingHoldsForItsListAndForNothingWithALifetime() {
        CacheSettings settings = CacheSettings.builder()
                .negative(new NegativeCaching(true, 30, StatusSet.of(404, 503)))
                .build();
        assertEquals(new Freshness(30, LifetimeSource.NEGATIVE), freshness(settings, 503, "X: y"));
        assertEquals(new Freshness(60, LifetimeSource.MAX_AGE), freshness(settings, 503, FRESH));
        assertEquals(new Freshness(0, LifetimeSource.NONE), freshness(settings, 502, "X: y"));
        assertSame(Storability.STORABLE, Storability.of(Heads.get(), Heads.response(503), NOW, settings));
        assertEquals(
                NoStoreReason.NO_STORE,
                reason(Storability.of(Heads.get(), Heads.response(503, "Cache-Control: no-store"), NOW, settings)));
        assertEquals(
                NoStoreReason.STATUS,
                reason(Storability.of(Heads.get(), Heads.response(503), NOW, CacheSettings.DEFAULTS)));
    }

    @Test
    void negativeRevalidatingListDefinesFailures_rfc5861_s4() {
        CacheSettings teapots = CacheSettings.builder()
                .onError(new StaleRules.NegativeRevalidating(true, 0, StatusSet.of(418)))
                .build();
        CacheSettings off = CacheSettings.builder()
                .onError(new StaleRules.NegativeRevalidating(false, 0, StatusSet.of(500)))
                .build();
        assertTrue(StaleServing.isErrorStatus(418, teapots));
        assertFalse(StaleServing.isErrorStatus(500, teapots));
        assertFalse(StaleServing.isErrorStatus(500, off));
    }

    @Test
    void negativeRevalidatingLifetimeSetsExpiresOfTheStaleAnswerOnly() {
        CacheSettings settings = CacheSettings.builder()
                .onError(new StaleRules.NegativeRevalidating(true, 90, StatusSet.of(500)))
                .build();
        StoredHead stored = Heads.stored("Expires: {60}", "ETag: \"a\"");
        StoredHead answer = StaleServing.answer(stored, NOW + 70_000, settings);
        assertEquals(Heads.date(160), answer.fields().get(FieldName.EXPIRES));
        assertEquals("\"a\"", answer.entityTag());
        assertEquals(Heads.date(60), stored.fields().get(FieldName.EXPIRES));
        assertSame(stored, StaleServing.answer(stored, NOW + 70_000, CacheSettings.DEFAULTS));
    }

    @ParameterizedTest(name = "stale_while_revalidate 20, forced {0}: {1} gives {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "0  | max-age=60                             | 20",
                "0  | max-age=60, stale-while-revalidate=5   | 5",
                "90 | max-age=60, stale-while-revalidate=5   | 90",
                "90 | max-age=60                             | 90",
                "90 | s-maxage=60                            | -1",
                "90 | s-maxage=60, stale-while-revalidate=5  | 5"
            })
    void staleWhileRevalidate(long forced, String control, long expected) {
        CacheSettings settings = CacheSettings.builder()
                .whileRevalidateSeconds(20)
                .forcedWhileRevalidateSeconds(forced)
                .ifErrorSeconds(20)
                .forcedIfErrorSeconds(forced)
                .build();
        StoredHead stored = stored(settings, "Cache-Control: " + control);
        assertEquals(expected, stored.staleWhileRevalidateSeconds());
        StoredHead other = stored(settings, "Cache-Control: " + control.replace("while-revalidate", "if-error"));
        assertEquals(expected, other.staleIfErrorSeconds());
    }

    @ParameterizedTest(name = "RFC 9111 5.2.2.2: no grant goes beyond {0}")
    @ValueSource(strings = {"must-revalidate", "proxy-revalidate"})
    void forcedGrantsDoNotLiftMustRevalidate(String directive) {
        CacheSettings forced = CacheSettings.builder()
                .forcedWhileRevalidateSeconds(1000)
                .forcedIfErrorSeconds(1000)
                .build();
        StoredHead stored = stored(forced, FRESH + ", " + directive);
        assertInstanceOf(Reuse.Validate.class, Reuse.of(Heads.get(), stored, NOW + 70_000, forced));
        assertInstanceOf(StaleServing.Refused.class, StaleServing.of(Heads.get(), stored, NOW + 70_000, forced));
    }

    @Test
    void sMaxAgeForbidsStaleUnlessAnOperatorSaysOtherwise_rfc9111_s5_2_2_10() {
        CacheSettings despite = CacheSettings.builder()
                .despiteSharedMaxAge(true)
                .whileRevalidateSeconds(20)
                .build();
        StoredHead stored = stored(despite, "Cache-Control: s-maxage=60");
        long stale = NOW + 70_000;
        assertSame(StaleServing.ALLOWED, StaleServing.of(Heads.get(), stored, stale, despite));
        assertSame(Reuse.SERVE_STALE_WHILE_REVALIDATING, Reuse.of(Heads.get(), stored, stale, despite));
        RequestHead tolerant = Heads.get("Cache-Control: max-stale=20");
        assertSame(Reuse.SERVE_STALE, Reuse.of(tolerant, stored, stale, despite));
        StoredHead strict = Heads.stored("Cache-Control: s-maxage=60");
        assertInstanceOf(
                StaleServing.Refused.class, StaleServing.of(Heads.get(), strict, stale, CacheSettings.DEFAULTS));
    }

    @Test
    void postIsStoredOnlyWhereItStandsForGet_rfc9110_s9_3_3() {
        RequestHead post = Heads.request("POST", "http://a.example/x", "Content-Length: 3");
        String location = "Content-Location: http://a.example/x";
        assertSame(
                Storability.STORABLE,
                Storability.of(post, Heads.response(200, FRESH, location), NOW, CacheSettings.DEFAULTS));
        assertSame(
                Storability.STORABLE,
                Storability.of(post, Heads.response(200, FRESH, "Content-Location: /x"), NOW, CacheSettings.DEFAULTS));
        String[][] others = {{FRESH}, {FRESH, "Content-Location: /y"}, {location}, {location, "Last-Modified: {-9999}"}
        };
        for (String[] other : others) {
            assertEquals(
                    NoStoreReason.METHOD,
                    reason(Storability.of(post, Heads.response(200, other), NOW, CacheSettings.DEFAULTS)));
        }
        assertEquals(
                NoStoreReason.NO_STORE,
                reason(Storability.of(
                        post, Heads.response(200, FRESH + ", no-store", location), NOW, CacheSettings.DEFAULTS)));
        CacheSettings off = CacheSettings.builder().post(false).build();
        assertEquals(
                NoStoreReason.METHOD, reason(Storability.of(post, Heads.response(200, FRESH, location), NOW, off)));
    }

    @Test
    void statusSetsRejectNonFinalStatuses() {
        assertThrows(IllegalArgumentException.class, () -> StatusSet.of(199));
        assertThrows(IllegalArgumentException.class, () -> StatusSet.of(1000));
        assertEquals(StatusSet.of(404, 500), StatusSet.of(500, 404));
        assertNotEquals(StatusSet.of(404), StatusSet.of(500));
    }

    private static StoredHead stored(CacheSettings settings, String... lines) {
        return StoredHead.of(Heads.get(), Heads.response(200, lines), NOW, NOW, settings);
    }

    private static Storability storability(CacheSettings settings, String... lines) {
        return Storability.of(Heads.get(), Heads.response(200, lines), NOW, settings);
    }

    private static Freshness freshness(CacheSettings settings, int status, String... lines) {
        return Freshness.of(Heads.get(), Heads.response(status, lines), NOW, settings);
    }

    private static NoStoreReason reason(Storability storability) {
        return storability instanceof Storability.NotStorable not ? not.reason() : null;
    }
}
