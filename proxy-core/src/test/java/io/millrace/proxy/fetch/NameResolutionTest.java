package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.dns.DnsSettings;
import io.millrace.proxy.dns.ScriptedNameServer;
import io.millrace.proxy.dns.ScriptedNameServer.Service;
import io.millrace.proxy.fetch.OriginFailure.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests lookups by name servers on loopback that behave in invalid ways. */
class NameResolutionTest extends FetchFixture {
    private static final String OK = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    private static final int NXDOMAIN = 3;

    private ScriptedNameServer server;
    private ScriptedNameServer other;
    private ScriptedOrigin origin;
    private volatile DnsSettings dns;
    private boolean isAskingForServices;

    @Override
    OriginClientBuilder configure(OriginClientBuilder builder) {
        try {
            server = new ScriptedNameServer();
            other = new ScriptedNameServer();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        dns = settings(List.of(server.address()), List.of(), Map.of());
        return builder.dns(() -> dns);
    }

    private DnsSettings settings(
            List<InetSocketAddress> servers, List<DnsSettings.Zone> zones, Map<String, List<InetAddress>> hosts) {
        return new DnsSettings(
                servers,
                zones,
                hosts,
                false,
                TimeUnit.MILLISECONDS.toNanos(200),
                TimeUnit.SECONDS.toNanos(60),
                TimeUnit.SECONDS.toNanos(120),
                TimeUnit.SECONDS.toNanos(60),
                TimeUnit.SECONDS.toNanos(60),
                TimeUnit.SECONDS.toNanos(60),
                100,
                100,
                isAskingForServices);
    }

    @BeforeEach
    void openOrigin() throws Exception {
        origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK));
    }

    @AfterEach
    void closeServers() throws Exception {
        origin.close();
        server.close();
        other.close();
    }

    private RecordedResponse fetch(String host) throws Exception {
        return fetch(get(Origin.http(host, origin.port())));
    }

    private OriginFailure failing(String host) throws Exception {
        OriginFailure failure = fetchFailing(get(Origin.http(host, origin.port())));
        assertEquals(Reason.DNS, failure.reason(), failure.message());
        // The event loop processes other work in the meantime.
        assertEquals(200, fetch("127.0.0.1").head.status());
        return failure;
    }

    @Test
    void aNameIsAskedForOnceWithinItsTimeToLive() throws Exception {
        server.has("found.test", 0, "127.0.0.1");
        for (int i = 0; i < 3; i++) {
            fetch("found.test");
        }
        assertEquals(3, origin.connectionsAccepted());
        assertEquals(List.of("found.test"), server.asked());
    }

    @Test
    void aNameThatDoesNotExistIsDnsAndIsAskedForOnce() throws Exception {
        failing("absent.test");
        failing("absent.test");
        assertEquals(1, Collections.frequency(server.asked(), "absent.test"));
    }

    @Test
    void aNameWithoutAddressesIsDnsAndIsAskedForOnce() throws Exception {
        server.has("empty.test", 60);
        failing("empty.test");
        failing("empty.test");
        assertEquals(1, Collections.frequency(server.asked(), "empty.test"));
    }

    @Test
    void aServerThatDoesNotAnswerIsDnsAndIsAskedAgain() throws Exception {
        server.ignores("silent.test");
        failing("silent.test");
        server.has("silent.test", 60, "127.0.0.1");
        assertEquals(200, fetch("silent.test").head.status());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 5})
    void aServerThatCannotOrWillNotAnswerIsDnsAndIsAskedAgain(int responseCode) throws Exception {
        server.on("refused.test", query -> List.of(query.code(responseCode)));
        failing("refused.test");
        server.has("refused.test", 60, "127.0.0.1");
        assertEquals(200, fetch("refused.test").head.status());
    }

    @Test
    void theNextServerIsQueriedAfterATimeout() throws Exception {
        dns = settings(List.of(server.address(), other.address()), List.of(), Map.of());
        server.ignores("found.test");
        other.has("found.test", 60, "127.0.0.1");
        assertEquals(200, fetch("found.test").head.status());
    }

    @Test
    void anAnswerToAnotherQueryIsIgnored() throws Exception {
        server.on(
                "spoofed.test", query -> List.of(query.withOtherId(60, "127.0.0.9"), query.addresses(60, "127.0.0.1")));
        assertEquals(200, fetch("spoofed.test").head.status());
    }

    @Test
    void anAnswerForAnotherNameIsIgnored() throws Exception {
        server.on("other.test", query -> List.of(query.forOtherName(60, "127.0.0.1")));
        failing("other.test");
    }

    @Test
    void unreadableMessagesAreNoAnswers() throws Exception {
        server.on("garbage.test", query -> List.of(query.garbage()));
        failing("garbage.test");
    }

    @Test
    void anAnswerTooLongForADatagramIsSentByTcpAndItsFirstAddressesAreUsed() throws Exception {
        String[] addresses = IntStream.range(0, 2_000)
                .mapToObj(i -> i == 0 ? "127.0.0.1" : "127.1." + i / 250 + "." + (1 + i % 250))
                .toArray(String[]::new);
        server.has("huge.test", 60, addresses);
        assertEquals(200, fetch("huge.test").head.status());
    }

    @Test
    void aSlowServerDelaysNoQueriesToOtherServers() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        dns = new DnsSettings(
                List.of(server.address()),
                List.of(),
                Map.of(),
                false,
                TimeUnit.SECONDS.toNanos(60),
                TimeUnit.SECONDS.toNanos(60),
                TimeUnit.SECONDS.toNanos(120),
                TimeUnit.SECONDS.toNanos(60),
                0,
                0,
                100,
                100,
                isAskingForServices);
        server.on("slow.test", query -> {
            try {
                assertTrue(released.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return List.of(query.addresses(60, "127.0.0.1"));
        });
        RecordedResponse slow = new RecordedResponse();
        start(get(Origin.http("slow.test", origin.port())), slow);
        for (int i = 0; i < 20; i++) {
            assertEquals(200, fetch("127.0.0.1").head.status());
        }
        assertFalse(slow.complete);
        released.countDown();
        assertEquals(200, slow.awaitComplete().head.status());
    }

    @Test
    void aZoneHasNameServersOfItsOwn() throws Exception {
        dns = settings(
                List.of(server.address()),
                List.of(
                        new DnsSettings.Zone("test", List.of(server.address())),
                        new DnsSettings.Zone("inner.test", List.of(other.address()))),
                Map.of());
        other.has("www.inner.test", 60, "127.0.0.1");
        other.has("inner.test", 60, "127.0.0.1");
        server.has("notinner.test", 60, "127.0.0.1");
        assertEquals(200, fetch("www.Inner.test").head.status());
        assertEquals(200, fetch("inner.test").head.status());
        assertEquals(200, fetch("notinner.test").head.status());
        assertEquals(List.of("www.inner.test", "inner.test"), other.asked());
        assertEquals(List.of("notinner.test"), server.asked());
    }

    @Test
    void otherSettingsHoldFromTheNextNameOn() throws Exception {
        server.on("moved.test", query -> List.of(query.code(NXDOMAIN)));
        failing("moved.test");
        other.has("moved.test", 60, "127.0.0.1");
        dns = settings(List.of(other.address()), List.of(), Map.of());
        assertEquals(200, fetch("moved.test").head.status());
    }

    @Test
    void addressesLocalhostAndHostsOfTheFileAreNotAskedFor() throws Exception {
        dns = settings(
                List.of(server.address()), List.of(), Map.of("file.test", List.of(InetAddress.getLoopbackAddress())));
        fetch("127.0.0.1");
        fetch("localhost");
        fetch("file.test");
        assertEquals(List.of(), server.asked());
    }

    private void askForServices() {
        isAskingForServices = true;
        dns = settings(List.of(server.address()), List.of(), Map.of());
    }

    private OriginRequest toService(String host) {
        return get(Origin.http(host, 1).withSrv());
    }

    private static Service at(int priority, int port, String host) {
        return new Service(priority, 1, port, host);
    }

    @Test
    void rfc2782_aServiceIsWhereItsRecordSays() throws Exception {
        askForServices();
        server.hasServices("shop.test", 60, at(1, origin.port(), "www.Shop.test"));
        server.has("www.shop.test", 60, "127.0.0.1");
        assertEquals(200, fetch(toService("shop.test")).head.status());
        assertEquals(200, fetch(toService("shop.test")).head.status());
        assertEquals(List.of("_http._tcp.shop.test", "www.shop.test"), server.asked());
    }

    @Test
    void rfc2782_theNextPriorityIsAskedWhereTheFirstDoesNotAnswer() throws Exception {
        askForServices();
        server.hasServices(
                "shop.test",
                60,
                at(3, origin.port(), "good.test"),
                at(1, origin.port(), "unknown.test"),
                at(2, 1, "refusing.test"));
        server.has("good.test", 60, "127.0.0.1");
        server.has("refusing.test", 60, "127.0.0.1");
        assertEquals(200, fetch(toService("shop.test")).head.status());
        assertEquals(
                List.of("_http._tcp.shop.test", "unknown.test", "refusing.test", "good.test"),
                server.asked().stream().distinct().toList());
    }

    @Test
    void withoutAServiceRecordTheNamesOwnAddressServes() throws Exception {
        askForServices();
        server.has("plain.test", 60, "127.0.0.1");
        OriginRequest request = get(Origin.http("plain.test", origin.port()).withSrv());
        assertEquals(200, fetch(request).head.status());
        assertEquals(List.of("_http._tcp.plain.test", "plain.test"), server.asked());
        assertEquals(200, fetch(request).head.status());
        assertEquals(2, server.asked().size());
    }

    @Test
    void theAddressOfTheNameIsUsedWithoutAnAnswerForTheService() throws Exception {
        askForServices();
        server.ignores("_http._tcp.plain.test");
        server.has("plain.test", 60, "127.0.0.1");
        OriginRequest request = get(Origin.http("plain.test", origin.port()).withSrv());
        assertEquals(200, fetch(request).head.status());
        int before = server.asked().size();
        assertEquals(200, fetch(request).head.status());
        assertEquals(before, server.asked().size());
    }

    @Test
    void rfc2782_aServiceWhoseTargetIsADotIsNowhere() throws Exception {
        askForServices();
        server.hasServices("none.test", 60, at(0, 0, "."));
        server.has("none.test", 60, "127.0.0.1");
        OriginFailure failure =
                fetchFailing(get(Origin.http("none.test", origin.port()).withSrv()));
        assertEquals(Reason.DNS, failure.reason());
        assertTrue(failure.message().contains("says that the service does not exist"), failure.message());
    }

    @Test
    void aServiceWhoseHostsHaveNoAddressIsDns() throws Exception {
        askForServices();
        server.hasServices("lost.test", 60, at(1, 80, "unknown.test"), at(2, 80, "unknown2.test"));
        assertEquals(Reason.DNS, fetchFailing(toService("lost.test")).reason());
    }

    @Test
    void serviceRecordsAreNotQueriedWithAPort_orByDefault() throws Exception {
        server.has("plain.test", 60, "127.0.0.1");
        assertEquals(
                200,
                fetch(get(Origin.http("plain.test", origin.port()).withSrv()))
                        .head
                        .status());
        askForServices();
        assertEquals(200, fetch("plain.test").head.status());
        assertEquals(List.of("plain.test", "plain.test"), server.asked());
    }

    /** The dot marks a complete name (RFC 1034 s3.1). */
    @Test
    void aNameThatEndsWithADotMayBeAService() throws Exception {
        askForServices();
        server.hasServices("shop.test", 60, at(1, origin.port(), "www.shop.test"));
        server.has("www.shop.test", 60, "127.0.0.1");
        assertEquals(200, fetch(toService("shop.test.")).head.status());
    }

    @Test
    void aNameThatCannotBeAskedForIsNoServiceAndDns() throws Exception {
        askForServices();
        assertEquals(
                Reason.DNS, fetchFailing(toService("x".repeat(64) + ".test")).reason());
    }
}
