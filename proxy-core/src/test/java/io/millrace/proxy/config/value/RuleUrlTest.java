package io.millrace.proxy.config.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RuleUrlTest {
    @ParameterizedTest
    @CsvSource({
        "http://cdn.example.com/js/, http, cdn.example.com, -1, /js/",
        "HTTP://CDN.Example.com/JS/, http, cdn.example.com, -1, /JS/",
        "https://a:8443, https, a, 8443, /",
        "http://[2001:DB8::1]:80/x, http, [2001:db8::1], 80, /x",
        "http://[::1], http, [::1], -1, /",
        "http://127.0.0.1:9000/a/b, http, 127.0.0.1, 9000, /a/b"
    })
    void readsUrls(String text, String scheme, String host, int port, String path) throws InvalidValueException {
        RuleUrl expected = new RuleUrl(scheme, host, port, path);
        assertEquals(expected, RuleUrl.parseFrom(text));
        assertEquals(expected, RuleUrl.parseTo(text));
    }

    @Test
    void readsAPathForEveryHost() throws InvalidValueException {
        assertEquals(new RuleUrl(null, null, -1, "/js/"), RuleUrl.parseFrom("/js/"));
        assertThrows(InvalidValueException.class, () -> RuleUrl.parseTo("/js/"));
    }

    @ParameterizedTest
    @CsvSource({"www.example.com/js, http://www.example.com/js", "htp://a/, http", "http://a#f, http://a"})
    void suggestsSimilarNames(String text, String suggestion) {
        InvalidValueException problem = assertThrows(InvalidValueException.class, () -> RuleUrl.parseTo(text));
        assertEquals(suggestion, problem.suggestion());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "http://",
                "http:///path",
                "http://:80/",
                "http://user@host/",
                "http://a:0/",
                "http://a:65536/",
                "http://a:x/",
                "http://a b/",
                "http://a/b c",
                "http://a/%",
                "http://a/%4x",
                "http://a/ä",
                "http://[::1/",
                "http://[1.2.3.4]/",
                "ftp://a/",
                "//a/b"
            })
    void rejectsInvalidUrls(String text) {
        assertTrue(assertThrows(InvalidValueException.class, () -> RuleUrl.parseFrom(text))
                        .problem()
                        .length()
                > 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://a/", "https://a:8443/x/", "http://[::1]:80/", "/js"})
    void isWrittenAsItIsRead(String text) throws InvalidValueException {
        assertEquals(text, RuleUrl.parseFrom(text).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://a/x?q=1", "http://a/?q=$1&r=a/b?c", "http://a/?%20"})
    void onlyTargetsOfRulesHaveAQuery(String text) throws InvalidValueException {
        assertEquals(text, RuleUrl.parseTo(text).toString());
        assertThrows(InvalidValueException.class, () -> RuleUrl.parseFrom(text));
        assertThrows(InvalidValueException.class, () -> RuleUrl.parseOrigin(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://a/?q#f", "http://a/?%4x", "http://a/?a b", "http://a/?a|b"})
    void queryIsAValidUrlQuery(String text) {
        assertThrows(InvalidValueException.class, () -> RuleUrl.parseTo(text));
    }

    @Test
    void aSlashInAQueryBeginsNoPath() throws InvalidValueException {
        assertEquals(new RuleUrl("http", "a", 8080, "/", "next=/b"), RuleUrl.parseTo("http://a:8080?next=/b"));
    }
}
