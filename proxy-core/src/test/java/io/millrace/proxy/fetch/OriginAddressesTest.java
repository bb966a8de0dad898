package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What reaches the resolver and what does not. */
class OriginAddressesTest extends FetchFixture {

    private List<String> resolve(String host) throws Exception {
        OriginAddresses addresses = new OriginAddresses(
                loop, new ScriptedResolver(loop, Map.of("a.test", List.of("192.0.2.1", "2001:db8::1"))));
        return addresses.resolve(host).get().stream()
                .map(InetAddress::getHostAddress)
                .toList();
    }

    @Test
    void addressesAreThemselves() throws Exception {
        assertEquals(List.of("192.0.2.7"), resolve("192.0.2.7"));
        assertEquals(List.of("2001:db8:0:0:0:0:0:7"), resolve("2001:db8::7"));
    }

    @Test
    void rfc6761Section6_3_localhostIsLoopback() throws Exception {
        List<String> loopback = List.of("127.0.0.1", "0:0:0:0:0:0:0:1");
        assertEquals(loopback, resolve("localhost"));
        assertEquals(loopback, resolve("LocalHost"));
        assertEquals(loopback, resolve("a.localhost"));
    }

    @Test
    void namesAreResolvedToAllTheirAddresses() throws Exception {
        assertEquals(List.of("192.0.2.1", "2001:db8:0:0:0:0:0:1"), resolve("a.test"));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> resolve("b.test"));
        assertInstanceOf(UnknownHostException.class, failure.getCause());
    }
}
