package io.millrace.proxy.config.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests local addresses of connections: their text, and the choice by the remote address. */
class SourceAddressTest {
    private static InetAddress address(String text) {
        return NetUtil.createInetAddressFromIpAddressString(text);
    }

    @Test
    void theRemoteAddressDeterminesTheFamily() throws Exception {
        SourceAddress both = SourceAddress.of(List.of("2001:db8::7", "192.0.2.7"));
        assertEquals("192.0.2.7, 2001:db8::7", both.toString());
        assertEquals(new InetSocketAddress(address("192.0.2.7"), 0), both.towards(address("198.51.100.1")));
        assertEquals(new InetSocketAddress(address("2001:db8::7"), 0), both.towards(address("2001:db8::1")));
        SourceAddress four = SourceAddress.of(List.of("192.0.2.7"));
        assertNull(four.towards(address("2001:db8::1")));
        assertNull(SourceAddress.NONE.towards(address("198.51.100.1")));
        assertEquals(SourceAddress.NONE, SourceAddress.of(List.of()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "192.0.2.7 192.0.2.8 | '192.0.2.8' is a second address of its family; the limit is one IPv4 and one IPv6 address",
                "name.example | 'name.example' is not an address of this machine such as 192.0.2.7 or 2001:db8::7",
                "fe80::1%eth0 | 'fe80::1%eth0' is a link-local address, but connections to origins use no zones; write an address"
                        + " without a zone such as 2001:db8::7",
                "fe80::1 | 'fe80::1' is a link-local address, but connections to origins use no zones; write an address"
                        + " without a zone such as 2001:db8::7",
                "2001:db8::7%1 | '2001:db8::7%1' has a zone, but connections to origins use no zones; write an address"
                        + " without a zone such as 2001:db8::7",
                "224.0.0.1 | '224.0.0.1' is not an address of this machine such as 192.0.2.7 or 2001:db8::7"
            })
    void otherTextsAreRefused(String texts, String problem) {
        InvalidValueException refused =
                assertThrows(InvalidValueException.class, () -> SourceAddress.of(List.of(texts.split(" "))));
        assertEquals(problem, refused.problem());
    }
}
