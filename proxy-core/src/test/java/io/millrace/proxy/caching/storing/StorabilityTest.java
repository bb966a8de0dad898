package io.millrace.proxy.caching.storing;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.http.RequestHead;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class StorabilityTest {

    @ParameterizedTest(name = "RFC 9111 3: {0} {1} is {2}")
    @CsvSource(
            delimiter = '|',
            nullValues = "stored",
            quoteCharacter = '~',
            value = {
                "200 | Cache-Control: max-age=60                              | stored",
                "200 | Cache-Control: s-maxage=60                             | stored",
                "200 | Expires: {60}                                          | stored",
                "200 | Last-Modified: {-60}                                   | stored",
                "200 | ETag: \"a\"                                            | stored",
                "200 | Cache-Control: no-cache^ETag: \"a\"                    | stored",
                "200 | Cache-Control: max-age=0^ETag: \"a\"                   | stored",
                "200 | Cache-Control: max-age=60^Set-Cookie: a=b              | stored",
                "200 | Cache-Control: max-age=60^Age: 7200                    | stored",
                "200 | Cache-Control: private=\"x\", max-age=60               | stored",
                "200 | Cache-Control: no-cache=\"x\", max-age=60              | stored",
                "200 | Cache-Control: max-age=60, no-store, must-understand   | stored",
                "200 | Cache-Control: max-age=60^Vary: Accept-Encoding        | stored",
                "200 | Cache-Control: max-age=60^Pragma: no-cache             | stored",
                "299 | Cache-Control: max-age=60                              | stored",
                "302 | Cache-Control: max-age=60                              | stored",
                "404 | Last-Modified: {-60}                                   | stored",
                "503 | Cache-Control: max-age=60                              | stored",
                "599 | Cache-Control: max-age=60                              | stored",
                "599 | Cache-Control: public^Last-Modified: {-60}             | stored",
                "200 | X: y                                                   | NO_LIFETIME",
                "404 | X: y                                                   | NO_LIFETIME",
                "200 | Cache-Control: max-age=0                               | NO_LIFETIME",
                "200 | Cache-Control: no-cache, max-age=60                    | NO_LIFETIME",
                "200 | Expires: 0                                             | NO_LIFETIME",
                "200 | Cache-Control: max-age=60, no-store                    | NO_STORE",
                "200 | Cache-Control: No-StOrE^Expires: {60}                  | NO_STORE",
                "200 | Cache-Control: private, max-age=60                     | PRIVATE",
                "200 | Cache-Control: private, s-maxage=60                    | PRIVATE",
                "200 | Cache-Control: must-understand, private, max-age=60    | PRIVATE",
                "599 | Cache-Control: max-age=60, no-store, must-understand   | MUST_UNDERSTAND",
                "599 | Cache-Control: max-age=60, must-understand             | MUST_UNDERSTAND",
                "200 | Cache-Control: max-age=60^Vary: *                      | VARY_ANY",
                "200 | Cache-Control: max-age=60^Vary: a, *                   | VARY_ANY",
                "201 | Last-Modified: {-60}                                   | STATUS",
                "302 | ETag: \"a\"                                            | STATUS",
                "403 | Last-Modified: {-60}                                   | STATUS",
                "503 | Last-Modified: {-60}                                   | STATUS",
                "206 | Cache-Control: max-age=60                              | PARTIAL",
                "304 | Cache-Control: max-age=60                              | NOT_MODIFIED",
                "103 | Cache-Control: max-age=60                              | INTERIM"
            })
    void decidesForResponses(int status, String fields, NoStoreReason reason) {
        assertDecision(reason, Heads.get(), status, fields);
    }

    @ParameterizedTest(name = "RFC 9111 3.5: with Authorization {0} is {1}")
    @CsvSource(
            delimiter = '|',
            nullValues = "stored",
            value = {
                "max-age=60                   | AUTHORIZATION",
                "max-age=60, proxy-revalidate | AUTHORIZATION",
                "max-age=60, public           | stored",
                "max-age=60, must-revalidate  | stored",
                "s-maxage=60                  | stored",
                "public, private, max-age=60  | PRIVATE"
            })
    void decidesForRequestsWithAuthorization(String control, NoStoreReason reason) {
        assertDecision(reason, Heads.get("Authorization: Basic eDp5"), 200, "Cache-Control: " + control);
    }

    @ParameterizedTest(name = "RFC 9111 3: an answer to {0} is not stored")
    @ValueSource(strings = {"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "M-SEARCH"})
    void onlyAnswersToGetAreStored(String method) {
        assertDecision(
                NoStoreReason.METHOD,
                Heads.request(method, "http://a.example/x"),
                200,
                "Cache-Control: public, max-age=60");
    }

    @Test
    void requestNoStoreForbidsStoringUnlessIgnored_RFC9111_5_2_1_5() {
        RequestHead request = Heads.get("Cache-Control: no-store");
        assertDecision(NoStoreReason.REQUEST_NO_STORE, request, 200, "Cache-Control: max-age=60");
        CacheSettings ignoring =
                CacheSettings.builder().ignoreClientNoCache(true).build();
        assertSame(
                Storability.STORABLE,
                Storability.of(request, Heads.response(200, "Cache-Control: max-age=60"), NOW, ignoring));
    }

    @Test
    void aGetWithContentIsNotStored() {
        String fields = "Cache-Control: max-age=60";
        assertDecision(NoStoreReason.REQUEST_CONTENT, Heads.get("Content-Length: 3"), 200, fields);
        assertDecision(NoStoreReason.REQUEST_CONTENT, Heads.get("Transfer-Encoding: chunked"), 200, fields);
        assertDecision(null, Heads.get("Content-Length: 0"), 200, fields);
    }

    @Test
    void settingsForbidStoring() {
        CacheSettings off = CacheSettings.builder().enabled(false).build();
        CacheSettings small = CacheSettings.builder().maxObjectBytes(10).build();
        String fields = "Cache-Control: max-age=60";
        assertDecision(NoStoreReason.DISABLED, Heads.get(), 200, fields, off);
        assertDecision(NoStoreReason.TOO_LARGE, Heads.get(), 200, fields + "^Content-Length: 11", small);
        assertDecision(null, Heads.get(), 200, fields + "^Content-Length: 10", small);
        assertDecision(null, Heads.get(), 200, fields, small);
        assertDecision(
                null, Heads.get(), 200, fields + "^Content-Length: 99999999999999999999", CacheSettings.DEFAULTS);
    }

    @ParameterizedTest(name = "required_headers {0}: {1} is {2}")
    @CsvSource(
            delimiter = '|',
            nullValues = "stored",
            value = {
                "NONE          | 200 | ETag: x               | stored",
                "LAST_MODIFIED | 200 | ETag: x               | REQUIRED_HEADERS",
                "LAST_MODIFIED | 200 | Last-Modified: {-60}  | stored",
                "LAST_MODIFIED | 200 | Expires: {60}         | stored",
                "LIFETIME      | 200 | Last-Modified: {-60}  | REQUIRED_HEADERS",
                "LIFETIME      | 200 | Expires: {60}         | stored",
                "LIFETIME      | 404 | Last-Modified: {-60}  | stored"
            })
    void requiredHeadersApplyTo200(
            StoringRules.RequiredHeaders required, int status, String fields, NoStoreReason reason) {
        CacheSettings settings =
                CacheSettings.builder().requiredHeaders(required).build();
        assertDecision(reason, Heads.get(), status, fields, settings);
    }

    @Test
    void reasonsHaveDistinctNamesInLowerCase() {
        assertEquals(
                NoStoreReason.values().length,
                Arrays.stream(NoStoreReason.values())
                        .map(NoStoreReason::text)
                        .filter(text -> text.matches("[a-z-]+"))
                        .collect(Collectors.toSet())
                        .size());
    }

    @Test
    void inOverloadResponsesWithoutALifetimeAreStoredForAMomentUnlessForbidden() {
        CacheSettings overload = CacheSettings.builder()
                .underLoad(new StaleRules.UnderLoad(1, 0, 2))
                .build();
        RequestHead get = Heads.get("");
        assertDecision(NoStoreReason.NO_LIFETIME, get, 200, "Cache-Control: max-age=0");
        assertDecision(null, get, 200, "Cache-Control: max-age=0", overload);
        assertDecision(null, get, 200, "Date: Thu, 01 Jan 2026 00:00:00 GMT", overload);
        assertDecision(NoStoreReason.NO_LIFETIME, get, 200, "Cache-Control: no-cache", overload);
        assertDecision(NoStoreReason.NO_STORE, get, 200, "Cache-Control: no-store", overload);
        assertDecision(NoStoreReason.PRIVATE, get, 200, "Cache-Control: private", overload);
        assertDecision(NoStoreReason.STATUS, get, 503, "Cache-Control: x", overload);
        assertDecision(NoStoreReason.NO_LIFETIME, get, 200, "Cache-Control: max-age=0, must-revalidate", overload);
    }

    @Test
    void inOverloadACookieIsNotKeptForOthersWithoutALifetime() {
        CacheSettings overload = CacheSettings.builder()
                .underLoad(new StaleRules.UnderLoad(1, 0, 2))
                .build();
        RequestHead get = Heads.get("");
        assertDecision(NoStoreReason.NO_LIFETIME, get, 200, "Set-Cookie: id=1", overload);
        RequestHead withCookie = Heads.get("Cookie: id=1");
        assertDecision(NoStoreReason.NO_LIFETIME, withCookie, 200, "Content-Type: text/html", overload);
        assertDecision(null, withCookie, 200, "Content-Type: image/png", overload);
        assertEquals(
                Storability.STORABLE,
                Storability.of(
                        get, Heads.response(200, "Set-Cookie: id=1", "Cache-Control: max-age=1"), NOW, overload));
    }

    @Test
    void inOverloadResponsesWithoutARequiredHeaderAreStoredUnlessTheirLifetimeIsLonger() {
        CacheSettings overload = CacheSettings.builder()
                .requiredHeaders(StoringRules.RequiredHeaders.LIFETIME)
                .underLoad(new StaleRules.UnderLoad(1, 0, 2))
                .build();
        RequestHead get = Heads.get("");
        String guessed = "Last-Modified: " + Heads.date(-1_000_000);
        assertDecision(null, get, 200, "Content-Type: text/html", overload);
        assertDecision(NoStoreReason.REQUIRED_HEADERS, get, 200, guessed, overload);
        assertDecision(NoStoreReason.REQUIRED_HEADERS, get, 200, "Cache-Control: no-cache", overload);
    }

    private static void assertDecision(NoStoreReason reason, RequestHead request, int status, String fields) {
        assertDecision(reason, request, status, fields, CacheSettings.DEFAULTS);
    }

    private static void assertDecision(
            NoStoreReason reason, RequestHead request, int status, String fields, CacheSettings settings) {
        Storability expected = reason == null ? Storability.STORABLE : new Storability.NotStorable(reason);
        assertEquals(expected, Storability.of(request, Heads.response(status, fields), NOW, settings));
    }
}
