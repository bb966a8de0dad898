package io.millrace.proxy.access;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.IpAddress;
import io.netty.util.NetUtil;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which hosts of a group are this proxy: it has the addresses 10.0.0.1 and fd00::1, and the name cache1. */
class SelfDetectionTest {
    private static boolean isSelf(String listen, String host, int port) {
        OwnAddresses own = new OwnAddresses(() -> Set.of(ip("10.0.0.1"), ip("fd00::1")));
        own.read();
        ProxyConfig config = ProxyConfig.builder().listen(listen).build();
        return new SelfDetection(config.listeners(), own, "cache1").test(new RuleUrl("http", host, port, "/"));
    }

    private static IpAddress ip(String text) {
        return IpAddress.of(NetUtil.createByteArrayFromIpAddressString(text));
    }

    @ParameterizedTest
    @CsvSource({
        ":8080, 10.0.0.1, 8080, true",
        ":8080, [fd00::1], 8080, true",
        ":8080, 127.0.0.1, 8080, true",
        ":8080, [::1], 8080, true",
        ":8080, cache1, 8080, true",
        ":8080, localhost, 8080, true",
        ":80, cache1, -1, true",
        ":8080, cache1, -1, false",
        ":8080, cache2, 8080, false",
        ":8080, 10.0.0.2, 8080, false",
        ":8080, 10.0.0.1, 8081, false",
        "0.0.0.0:8080, 10.0.0.1, 8080, true",
        "10.0.0.1:8080, 10.0.0.1, 8080, true",
        "10.0.0.1:8080, 127.0.0.1, 8080, false",
        "127.0.0.1:8080, 10.0.0.1, 8080, false",
        "127.0.0.1:8080, cache1, 8080, false",
        "127.0.0.1:8080, localhost, 8080, true",
        "10.0.0.1:8080, cache1, 8080, true",
        "10.0.0.1:8080, localhost, 8080, false",
    })
    void isWhereItsPortAndAddressReachAListener(String listen, String host, int port, boolean expected) {
        assertEquals(expected, isSelf(listen, host, port));
    }
}
