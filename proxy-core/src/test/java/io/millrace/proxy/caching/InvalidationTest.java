package io.millrace.proxy.caching;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class InvalidationTest {

    @ParameterizedTest(name = "RFC 9111 4.4: a successful {0} invalidates its target")
    @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "PURGE"})
    void unsafeAndUnknownMethodsInvalidate(String method) {
        assertEquals("http://a.example/d/x", invalid(method, 200, ""));
        assertEquals("http://a.example/d/x", invalid(method, 303, ""));
    }

    @ParameterizedTest(name = "RFC 9111 4.4: {0} invalidates nothing")
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS", "TRACE"})
    void safeMethodsDoNot(String method) {
        assertEquals("", invalid(method, 200, "Location: /y"));
    }

    @ParameterizedTest(name = "RFC 9111 4.4: a {0} invalidates nothing")
    @ValueSource(ints = {100, 400, 404, 500, 503})
    void errorsDoNot(int status) {
        assertEquals("", invalid("POST", status, "Location: /y"));
    }

    @ParameterizedTest(name = "RFC 9111 4.4: {0} invalidates also {1}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "Location: y                               | http://a.example/d/y",
                "Location: http://A.example:80/z           | http://a.example/z",
                "Content-Location: ../z                    | http://a.example/z",
                "Location: /y^Content-Location: /z         | http://a.example/y http://a.example/z",
                "Location: http://b.example/y              | ~~",
                "Location: https://a.example/y             | ~~",
                "Location: http://a.example:81/y           | ~~",
                "Location: //a.example/y                   | http://a.example/y",
                "Location: mailto:x                        | ~~"
            })
    void locationsOfTheSameOriginToo(String fields, String more) {
        assertEquals(("http://a.example/d/x " + more).strip(), invalid("POST", 201, fields));
    }

    @Test
    void connectInvalidatesNothing() {
        TargetUri tunnel = (TargetUri) TargetUri.parse(
                Method.CONNECT,
                "a.example:443",
                FieldSection.builder().add("Host", "a").build(),
                1,
                false);
        RequestHead request = RequestHead.of("CONNECT", tunnel, FieldSection.EMPTY);
        assertEquals(List.of(), Invalidation.of(request, Heads.response(200)));
    }

    private static String invalid(String method, int status, String fields) {
        return Invalidation.of(Heads.request(method, "http://a.example/d/x"), Heads.response(status, fields)).stream()
                .map(TargetUri::asString)
                .collect(Collectors.joining(" "));
    }
}
