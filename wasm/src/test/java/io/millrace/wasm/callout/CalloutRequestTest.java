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
        "/secret%, GET, x, 1",
        "/secret#a, GET, x, 1",
        "secret, GET, x, 1",
    })
    void theReasonOfARefusalHasNoPartOfTheRequest(String path, String method, String name, String value) {
        IllegalArgumentException fault =
                assertThrows(IllegalArgumentException.class, () -> request(path, method, name, value));
        assertFalse(String.valueOf(fault.getMessage()).contains("secret"), fault::getMessage);
    }
}
