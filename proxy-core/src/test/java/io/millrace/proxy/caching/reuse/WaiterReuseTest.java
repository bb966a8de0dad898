package io.millrace.proxy.caching.reuse;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.settings.RequestRules;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.RequestHead;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WaiterReuseTest {

    @ParameterizedTest(name = "RFC 9111 4: [{0}] for a waiter with [{1}] is {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "Cache-Control: max-age=60                    | ~~                              | shared",
                "Cache-Control: max-age=60                    | Cookie: a=b                     | shared",
                "Cache-Control: max-age=60                    | Range: bytes=0-1                | shared",
                "Last-Modified: {-99}                         | ~~                              | shared",
                "Cache-Control: private, max-age=60           | ~~                              | not-storable",
                "Cache-Control: no-store                      | ~~                              | not-storable",
                "Cache-Control: max-age=60^Vary: *            | ~~                              | not-storable",
                "X: y                                         | ~~                              | not-storable",
                "Cache-Control: max-age=60, private=\"x\"     | ~~                              | restricted",
                "Cache-Control: max-age=60, no-cache=\"x\"    | ~~                              | restricted",
                "Cache-Control: no-cache^ETag: \"a\"          | ~~                              | restricted",
                "Cache-Control: max-age=60^Set-Cookie: a=b    | ~~                              | set-cookie",
                "Cache-Control: public, s-maxage=60^Set-Cookie: a=b | ~~                        | set-cookie",
                "Cache-Control: max-age=0^ETag: \"a\"         | ~~                              | stale",
                "Cache-Control: max-age=60^Age: 60            | ~~                              | stale",
                "Cache-Control: max-age=60^Vary: Foo          | Foo: 1                          | vary",
                "Cache-Control: max-age=60^Vary: Foo          | Bar: 1                          | shared",
                "Cache-Control: max-age=60                    | Cache-Control: no-cache         | waiter-cache-control",
                "Cache-Control: max-age=60                    | Pragma: no-cache                | waiter-cache-control",
                "Cache-Control: max-age=60                    | Cache-Control: no-store         | waiter-cache-control",
                "Cache-Control: max-age=60                    | Cache-Control: max-age=0        | waiter-cache-control",
                "Cache-Control: max-age=60^Age: 9             | Cache-Control: max-age=8        | waiter-cache-control",
                "Cache-Control: max-age=60^Age: 9             | Cache-Control: max-age=9        | shared",
                "Cache-Control: max-age=60                    | Cache-Control: min-fresh=61     | waiter-cache-control",
                "Cache-Control: max-age=60                    | Content-Length: 1               | method",
                "Cache-Control: max-age=60                    | Authorization: x                | shared"
            })
    void decides(String response, String waiter, String expected) {
        assertEquals(expected, textOf(Heads.get(waiter), Heads.get(), response));
    }

    @Test
    void theLeadersAuthorizationKeepsTheResponse_RFC9111_3_5() {
        RequestHead leader = Heads.get("Authorization: x");
        assertEquals("not-storable", textOf(Heads.get("Authorization: x"), leader, "Cache-Control: max-age=60"));
        assertEquals("shared", textOf(Heads.get(), leader, "Cache-Control: max-age=60, public"));
    }

    @ParameterizedTest(name = "with reuse_with_authorization if_allowed {0} answers a waiter with Authorization: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "max-age=60                  | authorization",
                "max-age=60, public          | shared",
                "s-maxage=60                 | shared",
                "s-maxage=60, must-revalidate | authorization"
            })
    void waiterWithAuthorizationGetsAnAnswerThatAllowsIt(String control, String expected) {
        CacheSettings allowed = CacheSettings.builder()
                .authorizedReuse(RequestRules.AuthorizedReuse.IF_ALLOWED)
                .build();
        assertEquals(
                expected,
                textOf(FollowerReuse.of(
                        Heads.get("Authorization: x"),
                        Heads.get(),
                        Heads.response(200, "Cache-Control: " + control),
                        NOW,
                        allowed)));
    }

    @Test
    void guessForALeaderWithCookiesIsNoLifetimeForWaiters() {
        String modified = "Last-Modified: {-99}^Content-Type: text/html";
        assertEquals("stale", textOf(Heads.get(), Heads.get("Cookie: a=1"), modified));
        assertEquals("shared", textOf(Heads.get("Cookie: a=1"), Heads.get(), modified));
    }

    @Test
    void fieldThatAnOperatorDoesNotShareKeepsTheResponse() {
        CacheSettings settings = CacheSettings.builder()
                .unsharedFields(List.of(FieldName.of("X-User")))
                .build();
        for (String user : List.of("X-User", "X-Other")) {
            assertEquals(
                    user.equals("X-User") ? "restricted" : "shared",
                    textOf(FollowerReuse.of(
                            Heads.get(),
                            Heads.get(),
                            Heads.response(200, "Cache-Control: max-age=60", user + ": bob"),
                            NOW,
                            settings)));
        }
    }

    @Test
    void headWaitsForGetButNotTheOtherWayRound() {
        RequestHead head = Heads.request("HEAD", "http://a.example/x");
        RequestHead post = Heads.request("POST", "http://a.example/x");
        assertEquals("shared", textOf(head, Heads.get(), "Cache-Control: max-age=60"));
        assertEquals("not-storable", textOf(Heads.get(), head, "Cache-Control: max-age=60"));
        assertEquals("method", textOf(post, Heads.get(), "Cache-Control: max-age=60"));
    }

    @Test
    void errorsWithoutLifetimeAreNotShared() {
        assertEquals(
                "not-storable",
                textOf(FollowerReuse.of(Heads.get(), Heads.get(), Heads.response(503), NOW, CacheSettings.DEFAULTS)));
    }

    private static String textOf(RequestHead waiter, RequestHead leader, String response) {
        return textOf(FollowerReuse.of(waiter, leader, Heads.response(200, response), NOW, CacheSettings.DEFAULTS));
    }

    private static String textOf(FollowerReuse decision) {
        return decision instanceof FollowerReuse.NotShared not ? not.reason().text() : "shared";
    }
}
