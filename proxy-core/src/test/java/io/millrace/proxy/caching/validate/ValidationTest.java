package io.millrace.proxy.caching.validate;

import static io.millrace.proxy.caching.Heads.NOW;
import static io.millrace.proxy.caching.Heads.NOW_SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ValidationTest {

    /** The origin answers 100 s after the response was stored. */
    private static final long LATER = NOW + 100_000;

    @Test
    void sendsTheStoredValidatorsInPlaceOfTheClientsConditions_RFC9111_4_3_1() {
        StoredHead stored = Heads.stored("ETag: W/\"a\"^Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT");
        FieldSection.Builder fields = FieldSection.builder()
                .addAll(Heads.fields(
                        "Foo: 1^If-None-Match: \"x\"^If-Modified-Since: {0}^If-Match: \"y\"^Range: bytes=0-"
                                + "^If-Unmodified-Since: {0}^If-Range: \"z\"^if-none-match: \"w\""));
        assertTrue(Validation.replaceConditions(stored, fields));
        assertEquals(
                "Foo: 1\nIf-None-Match: W/\"a\"\nIf-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT\n",
                fields.build().toString());
    }

    @ParameterizedTest(name = "Last-Modified: {0}, then {1}: confirmed {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "Friday, 06-Nov-26 08:49:37 GMT | Friday, 06-Nov-26 08:49:37 GMT | true",
                "Friday, 06-Nov-26 08:49:37 GMT | Fri, 06 Nov 2026 08:49:37 GMT  | true",
                "Friday, 06-Nov-26 08:49:37 GMT | Sat, 06 Nov 1926 08:49:37 GMT  | false",
                "Sunday, 06-Nov-94 08:49:37 GMT | Sun, 06 Nov 1994 08:49:37 GMT  | true",
                "Friday, 06-Nov-26 08:49:37 GMT | Friday, 06-Nov-26 08:49:38 GMT | false"
            })
    void yearsOfTwoDigitsConfirmInTheCenturyOfTheResponse(String before, String after, boolean confirmed) {
        StoredHead stored = Heads.stored("Last-Modified: " + before);
        assertEquals(confirmed, Validation.isConfirmed(stored, Heads.fields("Last-Modified: " + after), LATER));
    }

    @Test
    void withoutValidatorTheRequestIsUnconditional() {
        FieldSection.Builder fields = FieldSection.builder().addAll(Heads.fields("If-None-Match: \"x\""));
        assertFalse(Validation.replaceConditions(Heads.stored("Last-Modified: never"), fields));
        assertEquals(0, fields.size());
    }

    @Test
    void a304ReplacesFieldsOfTheSameNameAndKeepsTheOthers_RFC9111_3_2() {
        StoredHead stored = Heads.stored(
                "ETag: \"a\"^Cache-Control: max-age=1^X-A: 1^x-a: 2^X-Kept: k^Content-Length: 36^Content-Encoding: br");
        StoredHead fresh = freshened(
                stored,
                "Date: {99}^ETag: \"a\"^cache-control: max-age=3600^X-A: 3^X-New: n^Content-Length: 10"
                        + "^Content-Encoding: gzip^Content-Range: bytes 0-1/2^Connection: x-hop^X-Hop: h^Age: 7");
        assertEquals(
                "X-Kept: k\nContent-Encoding: br\nDate: " + Heads.date(99)
                        + "\nETag: \"a\"\ncache-control: max-age=3600\nX-A: 3\nX-New: n\nContent-Length: 36\n",
                fresh.fields().toString());
        assertEquals(36, fresh.contentLength());
        assertEquals(3600, fresh.lifetimeSeconds());
        assertEquals(7, fresh.currentAgeSeconds(LATER));
        assertEquals(LATER, fresh.responseTimeMillis());
        assertEquals(NOW_SECONDS + 99, fresh.dateSeconds());
        assertTrue(fresh.isFresh(LATER));
    }

    @ParameterizedTest(name = "304 with {1} for {0}: stored {2}, the client that asked gets {3}")
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "max-age=1                              | Set-Cookie: a=1                                    | -       | a=1, -",
                "max-age=1^Set-Cookie: a=0              | Set-Cookie: a=1                                    | a=1, -  | a=1, -",
                "max-age=1^Set-Cookie: a=0              | X: y                                               | a=0, -  | a=0, -",
                "max-age=1^Set-Cookie: a=0              | Cache-Control: no-cache^Set-Cookie: a=1            | -       | a=1, -",
                "max-age=1, private=\"x-user\"          | X-User: b                                          | -       | -, b",
                "max-age=1, no-cache=\"x-user\"         | X-User: b^Set-Cookie: a=1                          | -       | a=1, b",
                "max-age=1^X-User: a                    | Cache-Control: max-age=1, private=x-user^X-User: b | -       | -, b",
                "max-age=1, private=\"x-user\"          | Connection: x-user, set-cookie^X-User: b^Set-Cookie: a=1 | - | a=1, -",
                "max-age=1                              | X-User: b                                          | -, b    | -, b"
            })
    void fieldsForOneClientAreNotMerged(String before, String update, String stored, String answered) {
        StoredHead old = Heads.stored("ETag: \"a\"^Cache-Control: " + before);
        RequestHead head = Heads.request("HEAD", "http://a.example/x");
        for (Validation.Outcome outcome : List.of(
                freshen(old, update),
                Validation.ofHead(head, old, Heads.bare(200, update), LATER, LATER, CacheSettings.DEFAULTS))) {
            Validation.Freshened freshened = assertInstanceOf(Validation.Freshened.class, outcome);
            assertEquals(stored == null ? "-, -" : stored, ofOneClient(freshened.head()));
            assertEquals(answered, ofOneClient(freshened.answer()));
        }
    }

    private static String ofOneClient(StoredHead head) {
        String cookie = head.fields().get(FieldName.SET_COOKIE);
        String user = head.fields().get(FieldName.of("X-User"));
        return (cookie == null ? "-" : cookie) + ", " + (user == null ? "-" : user);
    }

    @Test
    void a304RenewsAPinAndNeverShortensIt() {
        CacheSettings pinning = CacheSettings.builder().pinSeconds(300).build();
        StoredHead stored = StoredHead.of(Heads.get(), Heads.response(200, "ETag: \"a\""), NOW, NOW, pinning);
        assertEquals(NOW_SECONDS + 300, stored.pinnedUntilSeconds());
        assertEquals(NOW_SECONDS + 400, freshenedUnder(pinning, stored));
        assertEquals(NOW_SECONDS + 300, freshenedUnder(CacheSettings.DEFAULTS, stored));
        assertEquals(NOW_SECONDS + 300, stored.withContentLength(5).pinnedUntilSeconds());
        assertEquals(
                StoredHead.NEVER_EXPIRES,
                StoredHead.of(
                                Heads.get(),
                                Heads.response(200, "ETag: \"a\""),
                                NOW,
                                NOW,
                                CacheSettings.builder()
                                        .pinSeconds(Long.MAX_VALUE / 2)
                                        .build())
                        .pinnedUntilSeconds());
    }

    private static long freshenedUnder(CacheSettings settings, StoredHead stored) {
        return Validation.freshen(Heads.get(), stored, Heads.response(304, "ETag: \"a\""), LATER, LATER, settings)
                        instanceof Validation.Freshened freshened
                ? freshened.head().pinnedUntilSeconds()
                : -1;
    }

    @Test
    void a304WithoutDateDatesFromItsReceipt_RFC9110_6_6_1() {
        StoredHead fresh = freshened(Heads.stored("ETag: \"a\"^Cache-Control: max-age=60"), "ETag: \"a\"");
        assertEquals(NOW_SECONDS + 100, fresh.dateSeconds());
        assertEquals(0, fresh.currentAgeSeconds(LATER));
        assertTrue(fresh.isFresh(LATER));
    }

    @Test
    void theHeuristicIsAppliedAnew_RFC9111_4_2_2() {
        StoredHead stored = Heads.stored("Last-Modified: {-100000}");
        assertEquals(10_010, freshened(stored, "Date: {100}").lifetimeSeconds());
    }

    @ParameterizedTest(name = "RFC 9111 4.3.4: a 304 with {1} for {0}: {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "ETag: \"a\"                       | ETag: \"a\"                         | freshened",
                "ETag: \"a\"                       | ETag: \"b\"                         | etag",
                "ETag: \"a\"                       | ETag: W/\"a\"                       | freshened",
                "ETag: W/\"a\"                     | ETag: W/\"a\"                       | freshened",
                "ETag: W/\"a\"                     | ETag: \"a\"                         | freshened",
                "ETag: W/\"a\"                     | ETag: W/\"b\"                       | etag",
                "ETag: \"a\"                       | X: y                                | freshened",
                "ETag: \"a\"^Last-Modified: {-9}   | Last-Modified: {-8}                 | freshened",
                "Last-Modified: {-9}               | Last-Modified: {-9}                 | freshened",
                "Last-Modified: {-9}               | Last-Modified: {-8}                 | last-modified",
                "Last-Modified: {-9}               | X: y                                | freshened",
                "Last-Modified: {-9}               | ETag: \"a\"^Last-Modified: {-9}     | etag",
                "Last-Modified: {-9}               | ETag: W/\"a\"^Last-Modified: {-9}   | freshened",
                "Last-Modified: {-9}               | ETag: W/\"a\"^Last-Modified: {-8}   | last-modified"
            })
    void onlyTheSameRepresentationIsFreshened(String response, String notModified, String expected) {
        assertEquals(expected, textOf(freshen(Heads.stored(response), notModified)));
    }

    @ParameterizedTest(name = "RFC 9111 3: after a 304 with {0} the response is stored no longer")
    @ValueSource(strings = {"Cache-Control: no-store", "Cache-Control: private", "Vary: *"})
    void a304MayForbidStoring(String fields) {
        Validation.Unstorable outcome = assertInstanceOf(
                Validation.Unstorable.class, freshen(Heads.stored("ETag: \"a\"^Cache-Control: max-age=1"), fields));
        assertEquals("\"a\"", outcome.head().entityTag());
        assertTrue(outcome.isRemoved());
    }

    @Test
    void a304ToARequestWithAuthorizationLeavesTheStoredResponseAsItWas_RFC9111_3_5() {
        Validation.Unstorable outcome = assertInstanceOf(
                Validation.Unstorable.class,
                Validation.freshen(
                        Heads.get("Authorization: x"),
                        Heads.stored("ETag: \"a\"^Cache-Control: max-age=1"),
                        Heads.bare(304),
                        LATER,
                        LATER,
                        CacheSettings.DEFAULTS));
        assertFalse(outcome.isRemoved());
    }

    @Test
    void newVaryNamesTakeTheValuesOfTheValidatingRequest_RFC9111_4_1() {
        RequestHead request = Heads.get("Foo: 2");
        Validation.Freshened outcome = assertInstanceOf(
                Validation.Freshened.class,
                Validation.freshen(
                        request,
                        Heads.stored("ETag: \"a\""),
                        Heads.bare(304, "Vary: Foo"),
                        LATER,
                        LATER,
                        CacheSettings.DEFAULTS));
        assertTrue(outcome.head().selects(request.fields()));
        assertFalse(outcome.head().selects(Heads.fields("Foo: 1")));
    }

    @ParameterizedTest(name = "RFC 9111 4.3.5: HEAD answered {0} with {1}: {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "200 | ETag: \"a\"^Content-Length: 10   | freshened",
                "200 | ETag: \"a\"                      | freshened",
                "200 | X: y                             | freshened",
                "200 | ETag: \"b\"^Content-Length: 10   | etag",
                "200 | ETag: \"a\"^Content-Length: 11   | content-length",
                "404 | ETag: \"b\"                      | unaffected",
                "304 | ETag: \"a\"                      | unaffected"
            })
    void headUpdatesTheStoredResponse(int status, String fields, String expected) {
        StoredHead stored = Heads.stored("ETag: \"a\"^Content-Length: 10");
        RequestHead head = Heads.request("HEAD", "http://a.example/x");
        assertEquals(
                expected,
                textOf(Validation.ofHead(
                        head, stored, Heads.bare(status, fields), LATER, LATER, CacheSettings.DEFAULTS)));
    }

    @Test
    void freshenedHeadSurvivesTheCodecAndAnotherValidation() {
        StoredHead once = freshened(Heads.stored("ETag: \"a\"^X: 1^Content-Length: 3"), "X: 2");
        StoredHead twice = freshened(once, "X: 3");
        assertEquals("3", twice.fields().get(FieldName.of("X")));
        assertEquals(3, twice.contentLength());
        assertEquals(4, twice.fields().size());
    }

    private static StoredHead freshened(StoredHead stored, String notModified) {
        return assertInstanceOf(Validation.Freshened.class, freshen(stored, notModified))
                .head();
    }

    private static Validation.Outcome freshen(StoredHead stored, String notModified) {
        return Validation.freshen(
                Heads.get(), stored, Heads.bare(304, notModified), LATER, LATER, CacheSettings.DEFAULTS);
    }

    private static String textOf(Validation.Outcome outcome) {
        if (outcome instanceof Validation.Mismatched mismatched) {
            return mismatched.reason().text();
        }
        return outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }
}
