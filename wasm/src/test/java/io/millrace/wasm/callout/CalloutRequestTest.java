package io.millrace.wasm.callout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the translation of calls. Texts have one character for each byte, as those of the ABI. */
class CalloutRequestTest {
    private static final URI UPSTREAM = URI.create("http://127.0.0.1:9000");

    private static HttpRequest request(String path, String method, String name, String value) {
        return CalloutRequest.of(
                UPSTREAM, List.of(":authority", "a", ":path", path, ":method", method, name, value), new byte[0]);
    }

    @ParameterizedTest
    @CsvSource({
        "/a?b=1, /a?b=1",
        "/x?q=a|b, /x?q=a%7Cb",
        "/{a}|^`?{b}|^`, /%7Ba%7D%7C%5E%60?%7Bb%7D%7C%5E%60",
        "/\"<a>\\?\"<b>\\, /%22%3Ca%3E%5C?%22%3Cb%3E%5C",
        "/[a]?b[]=1, /%5Ba%5D?b[]=1",
        "/%?%, /%25?%25",
        "/%2?a=%2, /%252?a=%252",
        "/%zz?a=100%&b=%4g, /%25zz?a=100%25&b=%254g",
        "/%2f%C3?a=%5b%5D, /%2f%C3?a=%5b%5D",
        "/caf\u00c3\u00a9, /caf%C3%A9",
        "/caf\u00e9?q=\u0080\u00ff, /caf%E9?q=%80%FF",
        "/caf%C3%A9, /caf%C3%A9",
    })
    void bytesOfThePathAreEncodedOnce(String path, String sent) {
        assertEquals(UPSTREAM + sent, request(path, "GET", "x", "1").uri().toString());
    }

    @Test
    void printableValuesAreUnchanged() {
        assertEquals(
                "a ~\t!",
                request("/", "GET", "x", "a ~\t!").headers().firstValue("x").orElse(""));
    }

    /** The log has the message, so that it must not have secrets of clients, nor differ for each of them. */
    @ParameterizedTest
    @CsvSource({
        "/secret, GET, x, secret\u00c3\u00a9",
        "/secret, GET, x, secret\u007f",
        "/secret, GET, x, secret\u0001a",
        "/secret, GET, secret name, 1",
        "/secret, secret method, x, 1",
        "/secret path, GET, x, 1",
        "/secret\u007f, GET, x, 1",
        "/secret#a, GET, x, 1",
        "secret, GET, x, 1",
    })
    void theReasonOfARefusalHasNoPartOfTheRequest(String path, String method, String name, String value) {
        IllegalArgumentException fault =
                assertThrows(IllegalArgumentException.class, () -> request(path, method, name, value));
        assertFalse(String.valueOf(fault.getMessage()).contains("secret"), fault::getMessage);
    }
}
