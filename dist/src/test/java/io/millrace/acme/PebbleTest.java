package io.millrace.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.acme.ChallengeAnswers;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.AcmeKeys;
import io.millrace.system.Pebble;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the ACME client with pebble and a clock that the test sets. Requires pebble, pebble-challtestsrv and openssl.
 */
@Tag("nightly")
class PebbleTest {
    private static final String NAME = "www.example.com";

    @TempDir
    Path directory;

    private final AtomicLong aheadMillis = new AtomicLong();
    private HttpServer http;
    private Pebble pebble;
    private AcmeService service;

    @BeforeEach
    void start() throws Exception {
        Pebble.assumeInstalled();
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext(ChallengeAnswers.PATH, exchange -> {
            String token = exchange.getRequestURI().getPath().substring(ChallengeAnswers.PATH.length());
            byte[] answer = Files.readAllBytes(new AcmeFiles(storage()).tokens().resolve(token));
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        http.start();
    }

    private void issuer(Map<String, String> environment) throws Exception {
        pebble = Pebble.start(directory, http.getAddress().getPort(), 1, environment);
    }

    @AfterEach
    void stop() {
        if (service != null) {
            service.close();
        }
        if (http != null) {
            http.stop(0);
        }
        if (pebble != null) {
            pebble.close();
        }
    }

    private void serve(AcmeConfig config) {
        service = new AcmeService(
                () -> config,
                this::nowMillis,
                (settings, storage) -> new AcmeIssuer(settings, storage, this::nowMillis),
                Runnable::run);
    }

    private long nowMillis() {
        return System.currentTimeMillis() + aheadMillis.get();
    }

    /** Advances the clock and runs the service. */
    private void pass(long seconds) {
        aheadMillis.addAndGet(seconds * 1000);
        service.tick();
        service.tick();
    }

    @Test
    void issuesWhereHalfOfAllNoncesAreRefused() throws Exception {
        issuer(Map.of("PEBBLE_WFE_NONCEREJECT", "50"));
        serve(config(NAME, Map.of()));
        pass(0);
        assertEquals("", record().error());
        assertEquals(
                List.of(List.of(2, NAME)),
                List.copyOf(AcmeIssuer.leaf(certificate()).getSubjectAlternativeNames()));
    }

    @Test
    void renewsWhenTheIssuerAdvisesIt() throws Exception {
        issuer(Map.of());
        serve(config(NAME, Map.of()));
        pass(0);
        String first = certificate();
        Instant window = Instant.ofEpochSecond(nowMillis() / 1000 + 7200);
        pebble.advise(first, window, window.plusSeconds(600));
        // Renewal information is requested every six hours.
        pass(6 * 3600 + 1);
        pass(1);
        assertEquals("", record().error());
        assertNotEquals(first, certificate());
        assertTrue(pebble.log().contains("is a replacement of"), "the order names the certificate that it replaces");
    }

    @Test
    void issuerThatIsDownForADayIsUsedAgain() throws Exception {
        issuer(Map.of());
        serve(config(NAME, Map.of()));
        pass(0);
        String first = certificate();
        pebble.kill();
        pass(61 * 86_400);
        assertEquals("failing", record().state(nowMillis() / 1000));
        for (int hour = 0; hour < 24; hour++) {
            pass(3600);
        }
        assertEquals(first, certificate());
        assertTrue(record().failures() > 3 && record().failures() < 20, record()::text);
        // The restarted issuer no longer knows the account.
        pebble.startIssuer();
        pass(6 * 3600);
        pass(6 * 3600);
        assertEquals("", record().error());
        assertNotEquals(first, certificate());
    }

    @ParameterizedTest
    @CsvSource({
        "blocked.example.org, forbidden by policy",
        "elsewhere.example.com, could not verify the name by http-01",
        "*.example.com, does not offer http-01"
    })
    void refusedNameIsReportedWithTheIssuersReason(String name, String reason) throws Exception {
        issuer(Map.of());
        pebble.pointElsewhere("elsewhere.example.com", "127.0.0.77");
        serve(config(name, Map.of()));
        pass(0);
        assertEquals("failing", record().state(nowMillis() / 1000));
        assertTrue(record().error().contains(reason), record()::error);
        try (Stream<Path> tokens = Files.list(new AcmeFiles(storage()).tokens())) {
            assertEquals(0, tokens.count(), "no answer stays behind");
        }
    }

    @Test
    void wildcardIsVerifiedByTheHook() throws Exception {
        issuer(Map.of());
        Path hook = Files.writeString(directory.resolve("hook"), pebble.hook());
        Files.setPosixFilePermissions(hook, PosixFilePermissions.fromString("rwx------"));
        serve(config("*.example.com", Map.of("tls.acme.challenge", "dns-01", "tls.acme.dns_hook", hook.toString())));
        pass(0);
        assertEquals("", record().error());
        assertEquals("valid", record().state(nowMillis() / 1000));
    }

    private Path storage() {
        return directory.resolve("acme");
    }

    private String certificate() throws IOException {
        return Files.readString(storage().resolve("certificates").resolve(NAME + ".pem"));
    }

    private AcmeRecord record() throws IOException {
        return AcmeRecord.all(new AcmeFiles(storage())).get(0);
    }

    private AcmeConfig config(String name, Map<String, String> settings) {
        ProxyConfig.Builder builder = ProxyConfig.builder()
                .set("tls.acme.names", name)
                .set("tls.acme.accept_terms", "true")
                .set("tls.acme.ca_file", pebble.caFile().toString())
                .acmeIssuer(ConfigValues.builder()
                        .set(AcmeKeys.DIRECTORY, pebble.url())
                        .build());
        settings.forEach(builder::set);
        return builder.build().acme().storedIn(storage());
    }
}
