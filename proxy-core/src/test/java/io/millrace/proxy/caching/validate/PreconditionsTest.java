package io.millrace.proxy.caching.validate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.RequestHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PreconditionsTest {

    @ParameterizedTest(name = "RFC 9110 13.1.2, 8.8.3.2: If-None-Match {1} against ETag {0} is {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "\"a\"      | \"a\"                       | NOT_MODIFIED",
                "\"a\"      | W/\"a\"                     | NOT_MODIFIED",
                "W/\"a\"    | \"a\"                       | NOT_MODIFIED",
                "W/\"a\"    | W/\"a\"                     | NOT_MODIFIED",
                "\"a\"      | \"b\"                       | PROCEED",
                "\"a\"      | \"A\"                       | PROCEED",
                "\"a\"      | \"x\", \"a\"                | NOT_MODIFIED",
                "\"a\"      | \"x\",\"y\" , W/\"a\", \"z\"| NOT_MODIFIED",
                "\"a,b\"    | \"x\", \"a,b\"              | NOT_MODIFIED",
                "\"b\"      | \"a, \"b\" ,c\"             | PROCEED",
                "\"a\\\"    | \"x\\\", \"a\\\"            | NOT_MODIFIED",
                "\"a\"      | *                           | NOT_MODIFIED",
                "-          | *                           | NOT_MODIFIED",
                "-          | \"a\"                       | PROCEED",
                "\"a\"      | ~~                          | PROCEED",
                "\"a\"      | a                           | PROCEED",
                "a          | a                           | NOT_MODIFIED",
                "\"\"       | \"\"                        | NOT_MODIFIED",
                "\"a\u00fc\"| \"a\u00fc\"                 | NOT_MODIFIED",
                "\"a\"      | w/\"a\"                     | PROCEED"
            })
    void ifNoneMatchComparesWeakly(String tag, String list, Preconditions.Outcome expected) {
        StoredHead stored = Heads.stored(tag.equals("-") ? "X: no tag" : "ETag: " + tag);
        assertEquals(expected, Preconditions.evaluate(Heads.get("If-None-Match: " + list), stored));
    }

    @Test
    void ifNoneMatchListsMaySpanLines_RFC9110_5_2() {
        assertEquals(
                Preconditions.Outcome.NOT_MODIFIED,
                Preconditions.evaluate(
                        Heads.get("If-None-Match: \"x\"^If-None-Match: \"a\""), Heads.stored("ETag: \"a\"")));
    }

    @ParameterizedTest(name = "RFC 9110 13.1.1: If-Match {1} against ETag {0} is {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "\"a\"   | \"a\"          | PROCEED",
                "\"a\"   | \"x\", \"a\"   | PROCEED",
                "\"a\"   | *              | PROCEED",
                "\"a\"   | W/\"a\"        | FAILED",
                "W/\"a\" | W/\"a\"        | FAILED",
                "W/\"a\" | \"a\"          | FAILED",
                "\"a\"   | \"b\"          | FAILED",
                "\"a\"   | ~~             | FAILED"
            })
    void ifMatchComparesStrongly(String tag, String list, Preconditions.Outcome expected) {
        assertEquals(expected, Preconditions.evaluate(Heads.get("If-Match: " + list), Heads.stored("ETag: " + tag)));
    }

    @ParameterizedTest(name = "RFC 9110 13.1.3, 13.1.4, RFC 9111 4.3.2: {1} against {0} is {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "Last-Modified: {-100} | If-Modified-Since: {-100}                          | NOT_MODIFIED",
                "Last-Modified: {-100} | If-Modified-Since: {-99}                           | NOT_MODIFIED",
                "Last-Modified: {-100} | If-Modified-Since: {-101}                          | PROCEED",
                "Last-Modified: {-100} | If-Modified-Since: yesterday                       | PROCEED",
                "Last-Modified: {-100} | If-Modified-Since: {-100}^If-Modified-Since: {-99} | PROCEED",
                "X: no Last-Modified   | If-Modified-Since: {0}                             | NOT_MODIFIED",
                "X: no Last-Modified   | If-Modified-Since: {-1}                            | PROCEED",
                "Last-Modified: {-100} | If-Unmodified-Since: {-100}                        | PROCEED",
                "Last-Modified: {-100} | If-Unmodified-Since: {-99}                         | PROCEED",
                "Last-Modified: {-100} | If-Unmodified-Since: {-101}                        | FAILED",
                "Last-Modified: {-100} | If-Unmodified-Since: never                         | PROCEED",
                "X: no Last-Modified   | If-Unmodified-Since: {-101}                        | PROCEED"
            })
    void datesCompareWithLastModified(String response, String request, Preconditions.Outcome expected) {
        assertEquals(expected, Preconditions.evaluate(Heads.get(request), Heads.stored(response)));
    }

    @ParameterizedTest(name = "RFC 9110 13.2.2: {0} is {1}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "If-None-Match: \"a\"^If-Modified-Since: {-999}      | NOT_MODIFIED",
                "If-None-Match: \"b\"^If-Modified-Since: {0}         | PROCEED",
                "If-Match: \"a\"^If-Unmodified-Since: {-999}         | PROCEED",
                "If-Match: \"b\"^If-Unmodified-Since: {0}            | FAILED",
                "If-Match: \"b\"^If-None-Match: \"a\"                | FAILED",
                "If-Match: \"a\"^If-None-Match: \"a\"                | NOT_MODIFIED",
                "If-Unmodified-Since: {-999}^If-None-Match: \"a\"    | FAILED",
                "If-Unmodified-Since: {0}^If-Modified-Since: {0}     | NOT_MODIFIED",
                "Range: bytes=0-0^If-None-Match: \"a\"               | NOT_MODIFIED"
            })
    void evaluatesInOrder(String request, Preconditions.Outcome expected) {
        StoredHead stored = Heads.stored("ETag: \"a\"", "Last-Modified: {-100}");
        assertEquals(expected, Preconditions.evaluate(Heads.get(request), stored));
    }

    @Test
    void ignoredForOtherMethodsAndForStoredErrorsAndRedirects_RFC9110_13_2_1() {
        RequestHead get = Heads.get("If-None-Match: \"a\"^If-Match: \"b\"");
        RequestHead options = Heads.request("OPTIONS", "http://a.example/x", "If-None-Match: \"a\"");
        assertEquals(Preconditions.Outcome.PROCEED, Preconditions.evaluate(options, Heads.stored("ETag: \"a\"")));
        for (int status : new int[] {301, 404, 410, 503}) {
            StoredHead stored = Heads.stored(Heads.response(status, "ETag: \"a\"", "Cache-Control: max-age=60"));
            assertEquals(Preconditions.Outcome.PROCEED, Preconditions.evaluate(get, stored));
        }
        RequestHead head = Heads.request("HEAD", "http://a.example/x", "If-None-Match: \"a\"");
        assertEquals(Preconditions.Outcome.NOT_MODIFIED, Preconditions.evaluate(head, Heads.stored("ETag: \"a\"")));
    }

    @ParameterizedTest(name = "RFC 9110 13.1.5: If-Range {1} against {0} is {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "ETag: \"a\"                            | \"a\"     | true",
                "ETag: \"a\"                            | \"b\"     | false",
                "ETag: W/\"a\"                          | W/\"a\"   | false",
                "ETag: \"a\"                            | W/\"a\"   | false",
                "ETag: \"a\"                            | *         | false",
                "ETag: \"a\"                            | ~~        | false",
                "Last-Modified: {-100}                  | {-100}    | true",
                "Last-Modified: {-1}                    | {-1}      | true",
                "Last-Modified: {0}                     | {0}       | false",
                "Last-Modified: {-100}                  | {-99}     | false",
                "Last-Modified: {-100}                  | \"a\"     | false",
                "X: y                                   | {0}       | false",
                "ETag: \"a\"^Last-Modified: {-100}      | {-100}    | true",
                "Content-Encoding: br^Last-Modified: {-100} | {-100} | true",
                "Vary: Accept-Encoding^Last-Modified: {-100} | {-100} | true",
                "Vary: Accept-Encoding^Content-Encoding: br^Last-Modified: {-100} | {-100} | true",
                "Vary: Accept-Encoding^Content-Encoding: br^ETag: \"a\" | \"a\" | true"
            })
    void ifRangeComparesStrongly(String response, String value, boolean expected) {
        assertEquals(expected, Preconditions.allowsRange(Heads.get("If-Range: " + value), Heads.stored(response)));
    }

    @Test
    void rangesNeedNoIfRange() {
        assertTrue(Preconditions.allowsRange(Heads.get("Range: bytes=0-0"), Heads.stored("X: y")));
        assertFalse(
                Preconditions.allowsRange(Heads.get("If-Range: \"a\"^If-Range: \"a\""), Heads.stored("ETag: \"a\"")));
    }
}
