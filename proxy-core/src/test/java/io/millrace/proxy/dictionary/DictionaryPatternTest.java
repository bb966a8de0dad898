package io.millrace.proxy.dictionary;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.http.TargetUri;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the URL patterns of dictionaries. */
class DictionaryPatternTest {
    private static final TargetUri BASE = url("https://site.example/app/v1/main.js?build=1");

    private static TargetUri url(String text) {
        return (TargetUri) TargetUri.parseAbsolute(text);
    }

    @ParameterizedTest
    @CsvSource({
        "/js/*, /js/a.js, true",
        "/js/*, /js/, true",
        "/js/*, /js, false",
        "/js/*, /css/a.css, false",
        "/js/*, /js/a/b.js?x=1, true",
        "/app/*/main.js, /app/v2/main.js, true",
        "/app/*/main.js, /app/v2/other.js, false",
        "/app/*/main.js, /app/v2/mainXjs, false",
        "/app/:version/main.js, /app/v2/main.js, true",
        "/app/:version/main.js, /app/a/b/main.js, false",
        "/app/:version?/main.js, /app/main.js, true",
        "/app/:parts+/main.js, /app/a/b/main.js, true",
        "/app/:parts+/main.js, /app/main.js, false",
        "/app/:parts*/main.js, /app/main.js, true",
        "/app/*?, /app, true",
        "/a{.min}?.js, /a.js, true",
        "/a{.min}?.js, /a.min.js, true",
        "/a{.min}?.js, /a.max.js, false",
        "/a{-:part}*.js, /a-b-c.js, true",
        "/a\\*.js, /a*.js, true",
        "/a\\*.js, /ab.js, false",
        "/a?v=*, /a?v=2, true",
        "/a?v=*, /a, false",
        "/a\\?v=*, /a, false",
        "/item/:id?v=1, /item/7v=1, true",
        "/item/:id\\?v=1, /item/7?v=1, false",
        "*.js, /app/v1/other.js, true",
        "*.js, /other.js, false",
        "main.js, /app/v1/main.js, true",
        "?lang=*, /app/v1/main.js?lang=en, true",
        "?lang=*, /app/v1/main.js?build=1, false",
        "'', /app/v1/main.js?build=1, true",
        "'', /app/v1/main.js, false",
        "https://site.example/js/*, /js/a.js, true",
        "https://site.example, /anything?x, true",
        "/Js/*, /js/a.js, false",
        "/a+b, /a+b, none",
        "/a.c, /abc, false"
    })
    void matchesAsTheStandardSays(String match, String path, String expected) {
        DictionaryPattern pattern = DictionaryPattern.of(match, BASE);
        if (expected.equals("none")) {
            assertNull(pattern);
            return;
        }
        assertNotNull(pattern, match);
        assertEquals(Boolean.valueOf(expected), pattern.matches(url("https://site.example" + path)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/js/(.*)",
                "/js/:name(\\d+)",
                "/js/{a",
                "/js/a}",
                "/js/*#top",
                "/js/\\",
                "https://other.example/js/*",
                "http://site.example/js/*",
                "https://site.example:8443/js/*",
                "https://site.example.evil/js/*",
                "//site.example/js/*",
                "https://*/js/*"
            })
    void refusesOtherPatterns(String match) {
        assertNull(DictionaryPattern.of(match, BASE));
    }

    /** Each wildcard and each repetition multiplies the states of the matcher. */
    @ParameterizedTest
    @CsvSource({
        "/*a*a*a*a*a*a*a*a, true",
        "/*a*a*a*a*a*a*a*a*, false",
        "/*a*a*a*a*a*a*a*a?b, true",
        "/*a*a*a*a?b=*a*a*a*, true",
        "/*a*a*a*a?b=*a*a*a*a*, false",
        "/:a/:b/:c/:d/:e/:f/:g/:h, true",
        "/:a/:b/:c/:d/:e/:f/:g/:h/:i, false",
        "/{a}+{a}+{a}+{a}+, true",
        "/{a}+{a}+{a}+{a}+*, false",
        "/:a*/:b+/*, true",
        "/{a}?{a}?{a}?{a}?{a}?{a}?{a}?{a}?{a}?, false",
        "/{a}{a}{a}{a}{a}{a}{a}{a}{a}*, true"
    })
    void limitsTheWildcards(String match, boolean isValid) {
        assertEquals(isValid, DictionaryPattern.of(match, BASE) != null);
    }

    /** An event loop waits for the comparison, whose time grows with pattern and URL. */
    @ParameterizedTest
    @CsvSource({
        "1, 2047, true",
        "1, 2048, false",
        "60, 2047, true",
        "70, 2047, false",
        "130, 900, true",
        "160, 900, false"
    })
    void limitsTheUrl(int letters, int urlLength, boolean matches) {
        DictionaryPattern pattern = DictionaryPattern.of("/*" + "a".repeat(letters), BASE);
        assertNotNull(pattern);
        assertEquals(matches, pattern.matches(url("https://site.example/" + "a".repeat(urlLength))));
    }

    @ParameterizedTest
    @ValueSource(ints = {1025})
    void refusesLongPatterns(int length) {
        assertNull(DictionaryPattern.of("/" + "a".repeat(length - 1), BASE));
    }
}
