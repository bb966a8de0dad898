package io.millrace.proxy.config.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
