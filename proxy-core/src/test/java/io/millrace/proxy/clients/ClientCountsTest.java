package io.millrace.proxy.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.clients.ClientCounts.Kind;
import io.millrace.proxy.clients.ClientCounts.Result;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.observe.RecordingLogger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientCountsTest {
    private static final IpAddress ONE = new IpAddress(0, 0xffff_0000_0001L);
    private static final IpAddress TWO = new IpAddress(0, 0xffff_0000_0002L);

    private final ClientCounts counts = new ClientCounts();

    private static IpAddress ip(String text) throws UnknownHostException {
        return IpAddress.of(InetAddress.getByName(text).getAddress());
    }

    @Test
    void eachClientHasALimitOfItsOwnForEachKind() {
        assertEquals(Result.ADDED, counts.tryAdd(Kind.REQUESTS, ONE, 2));
        assertEquals(Result.ADDED, counts.tryAdd(Kind.REQUESTS, ONE, 2));
        assertEquals(Result.REFUSED, counts.tryAdd(Kind.REQUESTS, ONE, 2));
        assertEquals(Result.ADDED, counts.tryAdd(Kind.TUNNELS, ONE, 1));
        assertEquals(Result.ADDED, counts.tryAdd(Kind.REQUESTS, TWO, 2));
        assertEquals(2, counts.count(Kind.REQUESTS, ONE));
        counts.remove(Kind.REQUESTS, ONE);
        assertEquals(Result.ADDED, counts.tryAdd(Kind.REQUESTS, ONE, 2));
    }

    @Test
    void clientsWithoutRequestsAreRemoved() {
        for (Kind kind : Kind.values()) {
            counts.tryAdd(kind, ONE, 1);
        }
        assertEquals(1, counts.clients());
        for (Kind kind : Kind.values()) {
            assertEquals(1, counts.clients());
            counts.remove(kind, ONE);
        }
        assertEquals(0, counts.clients());
        assertThrows(IllegalStateException.class, () -> counts.remove(Kind.REQUESTS, ONE));
    }

    @Test
    void theTableIsBounded() {
        ClientCounts small = new ClientCounts(64);
        int counted = 0;
        for (int i = 0; i < 1000; i++) {
            Result result = small.tryAdd(Kind.REQUESTS, new IpAddress(i + 1L, 0), 1);
            assertNotEquals(Result.REFUSED, result);
            counted += result == Result.ADDED ? 1 : 0;
        }
        assertEquals(counted, small.clients());
        assertTrue(counted <= 64 && counted > 32, counted + " counted");
    }

    /** Threads that add and remove for a few clients never exceed the limit, and no count remains. */
    @Test
    void limitHoldsBetweenThreads() throws Exception {
        AtomicInteger[] now = {new AtomicInteger(), new AtomicInteger()};
        AtomicInteger most = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 50_000; i++) {
                    int which = i & 1;
                    IpAddress client = which == 0 ? ONE : TWO;
                    if (counts.tryAdd(Kind.REQUESTS, client, 2) == Result.ADDED) {
                        most.accumulateAndGet(now[which].incrementAndGet(), Math::max);
                        now[which].decrementAndGet();
                        counts.remove(Kind.REQUESTS, client);
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertTrue(most.get() <= 2, () -> most + " at the same time");
        assertEquals(0, counts.clients());
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 192.0.2.1",
        "2001:db8:1:2:3:4:5:6, 2001:db8:1:2:0:0:0:0",
        "127.0.0.1,",
        "::1,",
        "10.1.2.3,",
        "2001:db8:ffff::1,",
    })
    void clientOfAnAddress(String address, String client) throws Exception {
        AddressSet exempt = AddressSet.parse("127.0.0.0/8", "::1", "10.0.0.0/8", "2001:db8:ffff::/48");
        IpAddress counted = new ClientLimits(1, 1, 1, exempt).client(ip(address));
        if (client == null) {
            assertNull(counted);
        } else {
            assertEquals(ip(client), counted);
            assertEquals(client, counted.toText());
        }
    }

    @Test
    void refusalsHaveOneLineAMinuteWithAnAddress() {
        RecordingLogger logger = new RecordingLogger();
        AtomicLong clock = new AtomicLong();
        ClientAdmission admission = new ClientAdmission(logger, clock::get);
        assertEquals(Result.ADDED, admission.admit(Kind.TUNNELS, ONE, 1));
        for (int i = 0; i < 3; i++) {
            assertEquals(Result.REFUSED, admission.admit(Kind.TUNNELS, ONE, 1));
        }
        clock.addAndGet(60_000_000_000L);
        admission.admit(Kind.TUNNELS, ONE, 1);
        String said = "WARN a client is refused, because it has reached limits.per_client.tunnels: 1 from 0.0.0.1";
        assertEquals(List.of(said, said + " (3 times since it was last logged)"), logger.lines());
        assertEquals(Result.NOT_COUNTED, admission.admit(Kind.TUNNELS, ONE, 0));
        assertEquals(Result.NOT_COUNTED, admission.admit(Kind.TUNNELS, null, 1));
    }
}
