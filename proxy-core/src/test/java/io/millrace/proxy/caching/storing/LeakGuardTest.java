package io.millrace.proxy.caching.storing;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.KeyRules;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LeakGuardTest {
    private static final String COOKIE = "Cookie: session=1";

    private static RequestHead request(String path, String... fields) {
        return Heads.request("GET", "http://a.example" + path, fields);
    }

    private static boolean finds(String path, String requestFields, int status, String responseFields) {
        return LeakGuard.finds(
                request(path, lines(requestFields)),
                Heads.response(status, lines(responseFields)),
                CacheSettings.DEFAULTS);
    }

    private static String[] lines(String fields) {
        return fields.isEmpty() ? new String[0] : fields.split("\\^");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/account/x.css",
                "/account/x.CSS",
                "/account%2Fx.js",
                "/account;x.css",
                "/account.php;x.css",
                "/account.php/x.png",
                "/account%3Bx.css",
                "/account%23x.css",
                "/account%00x.woff2",
                "/account/x.css;v=1",
                "/account/.css",
                "/account/x.css?y=1",
                "/account/x.pdf"
            })
    void findsAPageAtTheUrlOfAFile(String path) {
        assertTrue(finds(path, COOKIE, 200, "Content-Type: text/html; charset=utf-8^Cache-Control: max-age=60"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/account",
                "/",
                "/x.css/",
                "/x.css/y",
                "/css",
                "/x.html",
                "/x.json",
                "/x.xml",
                "/x.txt",
                "/x.cssx",
                "/x.",
                "/x.php?y=.css",
                "/a.css;b/c",
                "/x.verylongextension"
            })
    void findsNoPageAtAnotherUrl(String path) {
        assertFalse(finds(path, COOKIE, 200, "Content-Type: text/html^Cache-Control: max-age=60"));
    }

    @ParameterizedTest(name = "{0}; {1}: {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "Cookie: a=b               | Content-Type: text/html                                          | true",
                "Authorization: Basic eDp5 | Content-Type: text/html^Cache-Control: must-revalidate           | true",
                "Cookie: a=b               | Content-Type: TEXT/HTML                                          | true",
                "Cookie: a=b               | Content-Type: application/xhtml+xml                              | true",
                "Cookie: a=b               | Content-Type: application/json                                   | true",
                "Cookie: a=b               | Content-Type: application/hal+json; charset=utf-8                | true",
                "X: y                      | Content-Type: text/html^Set-Cookie: a=b                          | true",
                "X: y                      | Content-Type: text/html^Set-Cookie: a=b^Vary: Cookie             | true",
                "Cookie: a=b               | Content-Type: text/html^Cache-Control: max-age=60                | true",
                "Cookie: a=b               | Content-Type: text/html^CDN-Cache-Control: stale-if-error=5      | true",
                "Cookie: a=b^Authorization: x | Content-Type: text/html^Vary: Cookie                          | true",
                "X: y                      | Content-Type: text/html                                          | false",
                "Cookie: a=b               | Content-Type: text/css                                           | false",
                "Cookie: a=b               | Content-Type: text/htmlx                                         | false",
                "Cookie: a=b               | Content-Type: application/notjson                                | false",
                "Cookie: a=b               | Content-Type: html                                               | false",
                "Cookie: a=b               | Content-Type: text/                                              | false",
                "Cookie: a=b               | X: y                                                             | false",
                "Cookie: a=b               | Content-Type: text/html^Cache-Control: public, max-age=60        | false",
                "Cookie: a=b               | Content-Type: text/html^Cache-Control: s-maxage=60               | false",
                "Cookie: a=b               | Content-Type: text/html^CDN-Cache-Control: max-age=60            | false",
                "Cookie: a=b               | Content-Type: text/html^Vary: Accept, Cookie                     | false",
                "Authorization: x          | Content-Type: text/html^Vary: Authorization                      | false"
            })
    void readsTypeCredentialsAndPermission(String request, String response, boolean found) {
        assertEquals(found, finds("/account/x.css", request, 200, response));
    }

    /** Scripts are also made of data, and JSON is read by a script only. */
    @Test
    void jsonIsNoContradictionToAScript() {
        assertFalse(finds("/cart.js", COOKIE, 200, "Content-Type: application/json"));
        assertTrue(finds("/cart.js", COOKIE, 200, "Content-Type: text/html"));
    }

    /** Errors and redirections of missing files are pages, and the same for all clients. */
    @ParameterizedTest
    @ValueSource(ints = {301, 302, 307, 403, 404, 410, 500, 503})
    void errorsAndRedirectionsAreNotFound(int status) {
        assertFalse(finds("/x.css", COOKIE, status, "Content-Type: text/html^Cache-Control: max-age=60"));
    }

    @ParameterizedTest
    @EnumSource(StoringRules.LeakGuardLevel.class)
    void levelDecidesAboutStoring(StoringRules.LeakGuardLevel level) {
        CacheSettings settings = CacheSettings.builder().leakGuard(level).build();
        assertEquals(
                level == StoringRules.LeakGuardLevel.ON ? NoStoreReason.LEAK_GUARD : null,
                Storability.ofResponse(
                        request("/account/x.css", COOKIE),
                        Heads.response(200, "Content-Type: text/html", "Cache-Control: max-age=60"),
                        NOW,
                        settings));
    }

    /** The usual victim: a rule gives every .css a lifetime, whatever its fields say. */
    @Test
    void forcedLifetimesAndIgnoredDirectivesDoNotPermitSharing() {
        CacheSettings settings = CacheSettings.builder()
                .forced(new LifetimeRules.Forced(-1, 86_400))
                .ignoreServerNoCache(true)
                .build();
        assertEquals(
                NoStoreReason.LEAK_GUARD,
                Storability.ofResponse(
                        request("/account/x.css", COOKIE),
                        Heads.response(200, "Content-Type: text/html", "Cache-Control: no-store"),
                        NOW,
                        settings));
    }

    @Test
    void keysWithAllCookiesPermitStoring() {
        CacheSettings settings = CacheSettings.builder()
                .key(new KeyRules(
                        KeyRules.UNCHANGED.query(), null, Variance.of(List.of(FieldName.COOKIE), List.of()), -1, false))
                .build();
        assertFalse(LeakGuard.finds(
                request("/account/x.css", COOKIE), Heads.response(200, "Content-Type: text/html"), settings));
    }

    /** A response that would not be stored anyway has its own reason, so that the metric counts leaks only. */
    @Test
    void otherReasonsComeFirst() {
        assertEquals(
                NoStoreReason.PRIVATE,
                Storability.ofResponse(
                        request("/account/x.css", COOKIE),
                        Heads.response(200, "Content-Type: text/html", "Cache-Control: private"),
                        NOW,
                        CacheSettings.DEFAULTS));
    }

    /** The stored page came from a request without credentials, and the 304 confirms this page. */
    @Test
    void validationWithCredentialsKeepsAPageThatWasStored() {
        ResponseHead page = Heads.response(200, "Content-Type: text/html", "Cache-Control: max-age=60", "ETag: \"a\"");
        assertTrue(
                Validation.freshen(
                                request("/wiki/File:A.jpg", COOKIE),
                                Heads.stored(page),
                                Heads.response(304, "ETag: \"a\""),
                                NOW,
                                NOW,
                                CacheSettings.DEFAULTS)
                        instanceof Validation.Freshened);
    }

    private static List<String> corpus(String file) throws IOException {
        List<String> pairs = new ArrayList<>();
        try (InputStream in = Objects.requireNonNull(LeakGuardTest.class.getResourceAsStream("/leak-guard/" + file))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n", -1)) {
                if (!line.isEmpty() && !line.startsWith("#")) {
                    pairs.add(line);
                }
            }
        }
        return pairs;
    }

    private static List<String> found(List<String> pairs, String... fields) {
        List<String> found = new ArrayList<>();
        for (String pair : pairs) {
            String[] parts = pair.split(" ", 2);
            FieldSection.Builder response = FieldSection.builder().add("Cache-Control", "max-age=60");
            if (parts.length > 1) {
                response.add("Content-Type", parts[1]);
            }
            ResponseHead head = ResponseHead.of(200, "OK", response.build());
            if (LeakGuard.finds(request(parts[0], fields), head, CacheSettings.DEFAULTS)) {
                found.add(pair);
            }
        }
        return found;
    }

    /** The rate of false positives in the design notes: none of the files, also with cookies of a logged-in client. */
    @Test
    void noFileOfTheBenignCorpusIsFound() throws IOException {
        List<String> files = corpus("files.txt");
        assertTrue(files.size() >= 130, () -> "" + files.size());
        assertEquals(List.of(), found(files, COOKIE));
        assertEquals(List.of(), found(files, "Authorization: Basic eDp5"));
    }

    /** Pages named like files are found with credentials only. The first client without them fills the cache. */
    @Test
    void pagesNamedLikeFilesAreStoredForClientsWithoutCredentials() throws IOException {
        List<String> pages = corpus("pages.txt");
        assertEquals(List.of(), found(pages));
        assertEquals(pages, found(pages, COOKIE));
    }

    @Test
    void extensionIsInLowerCase() {
        assertEquals("css", LeakGuard.staticExtension(Heads.target("http://a.example/A.CSS")));
        assertNull(LeakGuard.staticExtension(Heads.target("http://a.example/")));
    }
}
