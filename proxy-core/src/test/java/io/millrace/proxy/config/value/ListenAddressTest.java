package io.millrace.proxy.config.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ListenAddressTest {
    @ParameterizedTest
    @CsvSource({":8080, , 8080", "127.0.0.1:0, 127.0.0.1, 0", "'[::1]:65535', ::1, 65535", "'[::]:80', ::, 80"})
    void readsAddresses(String text, String ip, int port) throws InvalidValueException {
        ListenAddress address = ListenAddress.parse(text);
        assertEquals(new ListenAddress(ip, port), address);
        assertEquals(text, address.toString());
    }

    @ParameterizedTest
    @CsvSource({"unix:/run/http.sock, /run/http.sock", "unix:/run//a/../http.sock, /run/http.sock"})
    void readsUnixSocketsOfListeners(String text, String path) throws InvalidValueException {
        ListenAddress address = ListenAddress.parseListener(text);
        assertEquals(new ListenAddress(null, 0, Path.of(path)), address);
        assertEquals("unix:" + path, address.toString());
        assertEquals(new ListenAddress(null, 80), ListenAddress.parseListener(":80"));
    }

    @Test
    void refusesUnixSocketsElsewhereAndPathsThatNoSocketCanHave() {
        assertThrows(InvalidValueException.class, () -> ListenAddress.parse("unix:/run/http.sock"));
        for (String path : List.of("", "relative.sock", "/run/", "/" + "x".repeat(107), "/a\0b")) {
            assertThrows(InvalidValueException.class, () -> ListenAddress.parseListener("unix:" + path), path);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "8080, :8080",
        "'*:80', :80",
        "localhost:80, 127.0.0.1:80",
        "example.com:80,",
        ":65536,",
        "::1:80,",
        "'[::g]:80',",
        "1.2.3.4,",
        "256.1.1.1:80,",
        "'',"
    })
    void refusesOtherThings(String text, String suggestion) {
        InvalidValueException problem = assertThrows(InvalidValueException.class, () -> ListenAddress.parse(text));
        assertEquals(suggestion, problem.suggestion(), problem.problem());
    }
}
