package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.caching.settings.LifetimeSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FreshnessTest {

    @ParameterizedTest(name = "RFC 9111 4.2.1: {0} lives {1} s by {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "Cache-Control: max-age=60                                  | 60         | MAX_AGE",
                "Cache-Control: max-age=60, s-maxage=5                      | 5          | SHARED_MAX_AGE",
                "Cache-Control: s-maxage=3600, max-age=0^Expires: {-10}     | 3600       | SHARED_MAX_AGE",
                "Cache-Control: s-maxage=x, max-age=60                      | 0          | SHARED_MAX_AGE",
                "Cache-Control: max-age=x^Expires: {60}                     | 0          | MAX_AGE",
                "Cache-Control: max-age=99999999999                         | 2147483648 | MAX_AGE",
                "Cache-Control: max-age=60^Expires: 0                       | 60         | MAX_AGE",
                "Expires: {60}                                              | 60         | EXPIRES",
                "Expires: {-60}                                             | 0          | EXPIRES",
                "Expires: {0}                                               | 0          | EXPIRES",
                "Expires: 0                                                 | 0          | EXPIRES",
                "Expires: -1^Last-Modified: {-864000}                       | 0          | EXPIRES",
                "Expires: 0^Expires: {60}                                   | 0          | EXPIRES",
                "Expires: {60}^Expires: {600}                               | 60         | EXPIRES",
                "Cache-Control: no-cache                                    | 0          | NONE",
                "X: y                                                       | 0          | NONE",
                "ETag: ~x~                                                  | 0          | NONE",
                "Last-Modified: never                                       | 0          | NONE"
            })
    void lifetimeIsThatOfTheFirstSource(String fields, long seconds, LifetimeSource source) {
        assertEquals(
                new Freshness(seconds, source),
                Freshness.of(Heads.get(), Heads.response(200, fields), NOW, CacheSettings.DEFAULTS));
    }

    @ParameterizedTest(name = "RFC 9111 4.2.2: last modified {0} s before Date lives {1} s")
    @CsvSource({
        "864000,86400",
        "8640000,86400",
        "100000,10000",
        "36000,3600",
        "36009,3600",
        "36010,3601",
        "10,3600",
        "0,3600",
        "-500,3600"
    })
    void heuristicIsATenthWithinItsBounds(long agoSeconds, long lifetime) {
        String modified = "Last-Modified: {" + -agoSeconds + "}";
        assertEquals(
                new Freshness(lifetime, LifetimeSource.HEURISTIC),
                Freshness.of(Heads.get(), Heads.response(200, modified), NOW, CacheSettings.DEFAULTS));
    }

    @Test
    void heuristicFollowsTheSettings() {
        CacheSettings settings = CacheSettings.builder()
                .heuristicFactor(0.5)
                .heuristicMinSeconds(0)
                .heuristicMaxSeconds(1000)
                .build();
        assertEquals(50, lifetime(settings, 100));
        assertEquals(1000, lifetime(settings, 5000));
        assertEquals(
                7,
                lifetime(
                        settings.toBuilder()
                                .heuristicMinSeconds(60)
                                .heuristicMaxSeconds(7)
                                .build(),
                        5000));
    }

    @ParameterizedTest(
            name = "RFC 9111 4.2.2: {0} without Last-Modified stays fresh for {1} where the operator says so")
    @CsvSource({"200, 3600", "203, 3600", "301, 3600", "410, 3600", "302, 0", "404, 0", "405, 0", "501, 0"})
    void heuristicWithoutLastModified(int status, long lifetime) {
        CacheSettings settings =
                CacheSettings.builder().heuristicWithoutLastModified(true).build();
        Freshness found = Freshness.of(Heads.get(), Heads.response(status, ""), NOW, settings);
        assertEquals(lifetime, found.lifetimeSeconds());
        assertEquals(lifetime == 0 ? LifetimeSource.NONE : LifetimeSource.HEURISTIC, found.source());
        assertEquals(
                LifetimeSource.NONE,
                Freshness.of(Heads.get(), Heads.response(status, ""), NOW, CacheSettings.DEFAULTS)
                        .source());
        assertEquals(settings.lifetimes(), settings.toBuilder().build().lifetimes());
    }

    @ParameterizedTest(name = "RFC 9110 15.1: {0} is heuristically cacheable")
    @ValueSource(ints = {200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
    void statusCodesWithHeuristic(int status) {
        assertEquals(LifetimeSource.HEURISTIC, sourceOf(status, ""));
    }

    @ParameterizedTest(name = "RFC 9110 15.1, RFC 9111 4.2.2: {0} is not, but with public")
    @ValueSource(ints = {201, 202, 302, 303, 307, 400, 401, 403, 500, 502, 503, 504, 599})
    void statusCodesWithoutHeuristic(int status) {
        assertEquals(LifetimeSource.NONE, sourceOf(status, ""));
        assertEquals(LifetimeSource.HEURISTIC, sourceOf(status, "Cache-Control: public"));
    }

    @ParameterizedTest(name = "guessed_lifetime_with_cookies {0}: request {1}, response {2}: {3}")
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "NOT_TEXT | -                | -                                   | HEURISTIC",
                "NOT_TEXT | -                | Content-Type: text/html             | HEURISTIC",
                "NOT_TEXT | -                | Set-Cookie: a=1^Content-Type: image/png | WITHHELD",
                "NOT_TEXT | Authorization: x | Content-Type: image/png             | WITHHELD",
                "NOT_TEXT | Authorization: x | Content-Type: image/png^Cache-Control: public | WITHHELD",
                "NOT_TEXT | Cookie: a=1      | Content-Type: text/html             | WITHHELD",
                "NOT_TEXT | Cookie: a=1      | Content-Type: TEXT/css; charset=x   | WITHHELD",
                "NOT_TEXT | Cookie: a=1      | Content-Type: application/json      | WITHHELD",
                "NOT_TEXT | Cookie: a=1      | Content-Type: application/vnd.a+JSON;v=1 | WITHHELD",
                "NOT_TEXT | Cookie: a=1      | Content-Type: application/xhtml+xml | WITHHELD",
                "NOT_TEXT | Cookie: a=1      | Content-Type: text                  | WITHHELD",
                "NOT_TEXT | Cookie: a=1      | -                                   | WITHHELD",
                "NOT_TEXT | Cookie: a=1      | Content-Type: image/png             | HEURISTIC",
                "NOT_TEXT | Cookie: a=1      | Content-Type: image/svg+xml         | HEURISTIC",
                "NOT_TEXT | Cookie: a=1      | Content-Type: application/zip       | HEURISTIC",
                "NOT_TEXT | Cookie: a=1      | Cache-Control: max-age=5            | MAX_AGE",
                "NOT_TEXT | Cookie: a=1      | Expires: {5}^Set-Cookie: a=1        | EXPIRES",
                "NONE     | -                | Content-Type: text/html             | HEURISTIC",
                "NONE     | Cookie: a=1      | Content-Type: image/png             | WITHHELD",
                "NONE     | -                | Set-Cookie: a=1                     | WITHHELD",
                "NONE     | Authorization: x | -                                   | WITHHELD",
                "ALL      | Cookie: a=1^Authorization: x | Set-Cookie: a=1^Content-Type: text/html | HEURISTIC"
            })
    void lifetimeWithCookiesIsHeuristicAsConfigured(
            LifetimeRules.HeuristicWithCookies policy, String request, String response, LifetimeSource source) {
        CacheSettings settings = CacheSettings.builder()
                .heuristicWithCookies(policy)
                .guaranteedMinSeconds(7)
                .build();
        Freshness found = Freshness.of(
                Heads.get(request == null ? "" : request),
                Heads.response(200, "Last-Modified: {-86400}", response == null ? "" : response),
                NOW,
                settings);
        assertEquals(source, found.source());
        assertEquals(source == LifetimeSource.WITHHELD, found.lifetimeSeconds() == 0);
    }

    @Test
    void missingOrInvalidDateIsTheTimeOfReceipt_RFC9110_6_6_1() {
        assertEquals(
                100,
                Freshness.of(Heads.get(), Heads.bare(200, "Expires: {100}"), NOW, CacheSettings.DEFAULTS)
                        .lifetimeSeconds());
        assertEquals(
                100,
                Freshness.of(
                                Heads.get(),
                                Heads.bare(200, "Date: yesterday^Expires: {100}"),
                                NOW,
                                CacheSettings.DEFAULTS)
                        .lifetimeSeconds());
        assertEquals(
                150,
                Freshness.of(Heads.get(), Heads.bare(200, "Date: {-50}^Expires: {100}"), NOW, CacheSettings.DEFAULTS)
                        .lifetimeSeconds());
    }

    private static LifetimeSource sourceOf(int status, String field) {
        return Freshness.of(
                        Heads.get(),
                        Heads.response(status, "Last-Modified: {-86400}", field),
                        NOW,
                        CacheSettings.DEFAULTS)
                .source();
    }

    private static long lifetime(CacheSettings settings, long agoSeconds) {
        return Freshness.of(Heads.get(), Heads.response(200, "Last-Modified: {" + -agoSeconds + "}"), NOW, settings)
                .lifetimeSeconds();
    }
}
