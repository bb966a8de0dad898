package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.observe.RecordingLogger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the log lines about origins that cannot be reached. */
class OriginFaultsTest extends FetchFixture {
    private static final long NOW = Instant.parse("2026-11-28T12:00:00Z").toEpochMilli();

    private final RecordingLogger logger = new RecordingLogger();
    private final AtomicLong nanos = new AtomicLong();
    private final OriginFaults faults = new OriginFaults(logger, nanos::get, () -> NOW);

    @Override
    OriginClientBuilder configure(OriginClientBuilder builder) {
        return builder.faults(faults);
    }

    @Test
    void aRefusedConnectionNamesTheOriginAndTheRemedy() throws Exception {
        int port = freePort();
        Origin origin = Origin.http("127.0.0.1", port);
        assertEquals(Reason.CONNECT_REFUSED, fetchFailing(get(origin)).reason());
        fetchFailing(get(origin));
        assertEquals(1, logger.lines().size(), logger.lines()::toString);
        String line = logger.lines().get(0);
        assertTrue(
                line.startsWith("WARN no connection to an origin (connect-refused): http://127.0.0.1:" + port), line);
        assertTrue(line.endsWith("; start the origin, or correct its host and port in the rule"), line);
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "DNS             | name resolution: no address       | dns.name_servers or /etc/resolv.conf",
                "CONNECT_TIMEOUT | connecting took longer than 10 s  | the firewalls between this machine and the"
                        + " origin",
                "TLS             | TLS handshake: NotBefore: Fri     | which shows 2026-11-28T12:00:00Z: set the clock",
                "TLS             | TLS handshake: NotAfter: Fri      | which shows 2026-11-28T12:00:00Z: renew the",
                "TLS             | unable to find valid certification path | origin.tls.ca_file",
                "TLS             | No name matching a.example found  | see origin.tls for the name",
                "RESET           | the connection was closed         | see the log of the origin"
            })
    void everyReasonHasARemedy(Reason reason, String message, String remedy) {
        faults.report(reason, message);
        String line = logger.lines().get(0);
        assertTrue(line.contains(message + "; "), line);
        assertTrue(line.contains(remedy), line);
    }

    @Test
    void failuresThatAreNotOfTheOriginAreNotLogged() {
        faults.report(Reason.CANCELLED, "the client is closed");
        faults.report(Reason.MEMORY, "no memory");
        assertEquals(List.of(), logger.lines());
    }

    @Test
    void repetitionsAreCountedOnceAMinute() {
        for (int i = 0; i < 10; i++) {
            faults.report(Reason.DNS, "a");
        }
        nanos.set(60_000_000_000L);
        faults.report(Reason.DNS, "b");
        assertEquals(2, logger.lines().size());
        assertTrue(logger.lines().get(1).endsWith("(10 times since it was last logged)"), logger.lines()::toString);
    }
}
