package io.millrace.proxy.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.http.IpAddress;
import io.netty.util.NetUtil;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the permitted destinations of forwarded requests. */
class DestinationsTest {
    private static IpAddress ip(String text) {
        return IpAddress.of(NetUtil.createByteArrayFromIpAddressString(text));
    }

    private static Destinations destinations(String allowed) {
        ProxyConfig.Builder config = ProxyConfig.builder();
        if (!allowed.isEmpty()) {
            config.set("forward_proxy.allow_destinations", allowed);
        }
        OwnAddresses own = new OwnAddresses(() -> Set.of(ip("203.1.1.1"), ip("2a00::1")));
        own.read();
        return new Destinations(config.build().forwardProxy(), own, Set.of(8080));
    }

    @ParameterizedTest
    @CsvSource({
        "1.1.1.1, true",
        "9.255.255.255, true",
        "10.0.0.0, false",
        "11.0.0.0, true",
        "100.63.255.255, true",
        "100.64.0.0, false",
        "100.127.255.255, false",
        "100.128.0.0, true",
        "126.255.255.255, true",
        "128.0.0.0, true",
        "169.254.0.0, false",
        "172.15.255.255, true",
        "172.16.0.0, false",
        "172.32.0.0, true",
        "192.0.0.192, false",
        "192.167.255.255, true",
        "192.168.255.255, false",
        "198.17.255.255, true",
        "198.19.0.0, false",
        "198.20.0.0, true",
        "223.255.255.255, true",
        "224.0.0.0, false",
        "240.0.0.1, false",
        "168.63.129.15, true",
        "168.63.129.16, false",
        "2606:4700::1111, true",
        "::, false",
        "::1, false",
        "::2, false",
        "fc00::, false",
        "fdff::1, false",
        "fe7f::1, true",
        "fe80::1, false",
        "fec0::1, false",
        "ff02::1, false",
        "2001:db8::1, false",
        "2001:10::1, false",
        "2001:1f:ffff::1, false",
        "2001:2f:ffff::1, false",
        "2001:30::1, true",
        "3ffe::1, true",
        "3fff:fff::1, false",
        "3fff:1000::1, true",
        "5eff::1, true",
        "5f00::1, false",
        "5f01::1, true",
        "100::1, false",
        "64:ff9b::101:101, true",
        "64:ff9b::a00:1, false",
        "64:ff9b:1::101:101, false",
        "2002:a00:1::1, false",
        "2002:101:101::1, true",
        "::ffff:10.0.0.1, false",
        "::ffff:1.1.1.1, true",
        "2001:0:1::fefe:fefe, true",
        "2001:0:1::f5ff:fffe, false"
    })
    void privateAndReservedAddressesAreDeniedInAllTheirForms(String address, boolean allowed) {
        assertEquals(allowed, destinations("").allow(ip(address), 443), address);
    }

    @Test
    void allowedDestinationsPrecedeDeniedOnes() {
        Destinations some = destinations("10.1.0.0/16, fd00:1::/32");
        assertTrue(some.allow(ip("10.1.2.3"), 443));
        assertTrue(some.allow(ip("64:ff9b::a01:203"), 443));
        assertFalse(some.allow(ip("10.2.2.3"), 443));
        assertTrue(some.allow(ip("fd00:1::1"), 443));
        assertFalse(some.allow(ip("fd00:2::1"), 443));
    }

    @Test
    void ownListeningAddressesAreNever() {
        Destinations all = destinations("all");
        for (String own : new String[] {
            "203.1.1.1",
            "2a00::1",
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "::",
            "0.0.0.0",
            "64:ff9b::cb01:101",
            "::ffff:203.1.1.1"
        }) {
            assertFalse(all.allow(ip(own), 8080), own);
            assertTrue(all.allow(ip(own), 8081), own);
        }
        assertTrue(all.allow(ip("203.1.1.2"), 8080));
    }

    @Test
    void anAddressThatThisMachineGetsWhileItRunsIsItsOwn() {
        Set<IpAddress> machine = new HashSet<>();
        OwnAddresses own = new OwnAddresses(() -> Set.copyOf(machine));
        own.read();
        Destinations destinations =
                new Destinations(ProxyConfig.builder().build().forwardProxy(), own, Set.of(8080));
        assertTrue(destinations.allow(ip("203.1.1.1"), 8080));
        machine.add(ip("203.1.1.1"));
        own.read();
        assertFalse(destinations.allow(ip("203.1.1.1"), 8080));
    }
}
