package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests automatic certificates of the packed product, with pebble as the issuer. */
class FirstHttpsSiteTest {
    private static final String NAME = "www.example.com";
    private static final String NEW = "ok.example.com";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    @TempDir
    Path directory;

    private final int http = FreePorts.next();
    private final int https = FreePorts.next();
    private @Nullable Pebble pebble;

    @BeforeEach
    void check() {
        Pebble.assumeInstalled();
        origin.on("/", exchange -> exchange.answer(200, "a response", "Cache-Control: max-age=600"));
        origin.on(
                "/may",
                exchange -> exchange.answer(exchange.request().target().contains("domain=ok.") ? 200 : 403, ""));
    }

    @AfterEach
    void stop() {
        if (pebble != null) {
            pebble.close();
        }
    }

    private Pebble issuer(Map<String, String> environment) throws IOException {
        Pebble started = Pebble.start(directory, http, https, environment);
        pebble = started;
        return started;
    }

    /** The command of the guide, with other addresses and another issuer. */
    @Test
    void oneCommandServesAFirstSiteOverHttps() throws Exception {
        Pebble issuer = issuer(Map.of());
        MillraceProcess proxy = product.launch()
                .port(http)
                .origin(origin.url())
                .arguments("--domain", NAME, "--email", "ops@example.com", "--accept-terms")
                .arguments("--https", "127.0.0.1:" + https)
                .set("tls.acme.issuers", "[{directory: '" + issuer.url() + "'}]")
                .set("tls.acme.ca_file", issuer.caFile().toString())
                .set("tls.check_interval", "1s")
                .start();
        X509Certificate first = awaitCertificate(proxy, NAME);
        assertTrue(plain().startsWith("HTTP/1.1 301 ") && plain().contains("https://www.example.com/"), plain());
        assertTrue(proxy.millctl("tls", "list").succeeds().out().contains("automatic: " + NAME));
        issuer.kill();
        Command failed = proxy.millctl("tls", "renew", NAME);
        assertTrue(failed.exitCode() == 1 && failed.err().contains("no new certificate"), failed::toString);
        assertEquals(first, shown(NAME));
    }

    private MillraceProcess start(String acme) throws IOException {
        Pebble issuer = Objects.requireNonNull(pebble);
        Path file = Files.writeString(directory.resolve("millrace.yaml"), """
                listen: ["127.0.0.1:%d", {address: "127.0.0.1:%d", tls: {}}]
                tls:
                  check_interval: 1s
                  unknown_name: reject
                  acme: {names: [%s], accept_terms: true, ca_file: %s, issuers: [{directory: "%s"}], %s}
                remap: [{map: /, to: "%s/"}]
                """.formatted(
                        http, https, NAME, issuer.caFile(), issuer.url(), acme, origin.url()));
        return product.launch().listeningByFile(http).config(file).shortWarmUp().start();
    }

    @Test
    @Tag("nightly")
    void namesAreVerifiedByHandshakes() throws Exception {
        issuer(Map.of("PEBBLE_WFE_NONCEREJECT", "50"));
        awaitCertificate(start("challenge: tls-alpn-01"), NAME);
    }

    @Test
    @Tag("nightly")
    void namesAreVerifiedByRecords() throws Exception {
        Pebble issuer = issuer(Map.of());
        Path hook = Files.writeString(directory.resolve("hook"), issuer.hook());
        Files.setPosixFilePermissions(hook, PosixFilePermissions.fromString("rwx------"));
        awaitCertificate(start("challenge: dns-01, dns_hook: " + hook), NAME);
    }

    @Test
    @Tag("nightly")
    void firstHandshakeForAPermittedNameWaitsForItsCertificate() throws Exception {
        issuer(Map.of());
        MillraceProcess proxy = start("on_demand: {ask: '" + origin.url() + "/may', wait: 60s}");
        awaitCertificate(proxy, NAME);
        assertEquals(List.of(List.of(2, NEW)), List.copyOf(shown(NEW).getSubjectAlternativeNames()));
        SSLException refused = assertThrows(SSLException.class, () -> shown("no.example.com"));
        assertTrue(String.valueOf(refused.getMessage()).contains("unrecognized_name"), refused::getMessage);
    }

    @Test
    @Tag("nightly")
    void rollDuringAnOrderDoesNotDisturbIt() throws Exception {
        // The issuer waits up to 15 s before it verifies a name.
        issuer(Map.of("PEBBLE_VA_NOSLEEP", "0", "PEBBLE_VA_SLEEPTIME", "10"));
        MillraceProcess proxy = start("challenge: http-01");
        Path tokens = proxy.state().resolve("acme/challenges/http-01");
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            try (var files = Files.list(tokens)) {
                return files.findAny().isPresent();
            }
        });
        proxy.millctl("server", "restart").succeeds();
        awaitCertificate(proxy, NAME);
    }

    @Test
    @Tag("nightly")
    void storageThatIsGoneLeavesCertificatesInUse() throws Exception {
        issuer(Map.of());
        Path storage = directory.resolve("storage");
        MillraceProcess proxy = start("storage: " + storage);
        X509Certificate first = awaitCertificate(proxy, NAME);
        Files.move(storage, directory.resolve("away"));
        Command failed = proxy.millctl("tls", "renew", NAME);
        assertTrue(failed.err().contains("storage cannot be used"), failed::toString);
        await().atMost(Duration.ofSeconds(30))
                .until(() -> proxy.millctl("tls", "list").out().contains("unreadable"));
        assertEquals(first, shown(NAME));
        Files.move(directory.resolve("away"), storage);
        proxy.millctl("tls", "renew", NAME).succeeds();
        await().atMost(Duration.ofSeconds(30)).until(() -> !shown(NAME).equals(first));
    }

    /** Two launchers order one certificate, which both use. */
    @Test
    @Tag("nightly")
    void launchersShareAStorage() throws Exception {
        issuer(Map.of());
        Path storage = directory.resolve("storage");
        int otherHttp = FreePorts.next();
        int otherHttps = FreePorts.next();
        CompletableFuture<MillraceProcess> second = CompletableFuture.supplyAsync(() -> {
            try {
                Pebble issuer = Objects.requireNonNull(pebble);
                Path file = Files.writeString(directory.resolve("second.yaml"), """
                        listen: ["127.0.0.1:%d", {address: "127.0.0.1:%d", tls: {}}]
                        tls:
                          check_interval: 1s
                          unknown_name: reject
                          acme: {names: [%s], accept_terms: true, ca_file: %s, issuers: [{directory: "%s"}], storage: %s}
                        remap: [{map: /, to: "%s/"}]
                        """.formatted(
                                otherHttp, otherHttps, NAME, issuer.caFile(), issuer.url(), storage, origin.url()));
                return product.launch().listeningByFile(otherHttp).config(file).start();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        MillraceProcess first = start("storage: " + storage);
        X509Certificate certificate = awaitCertificate(first, NAME);
        second.join();
        await().atMost(Duration.ofSeconds(40))
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> shown(NAME, otherHttps).equals(certificate));
        first.millctl("tls", "renew", NAME).succeeds();
        await().atMost(Duration.ofSeconds(40))
                .until(() -> !shown(NAME, otherHttps).equals(certificate));
        assertNotEquals(certificate, shown(NAME, otherHttps));
    }

    private X509Certificate awaitCertificate(MillraceProcess proxy, String name) throws Exception {
        try {
            await().atMost(Duration.ofSeconds(60))
                    .ignoreExceptionsInstanceOf(IOException.class)
                    .until(() -> shown(name) != null);
        } catch (RuntimeException e) {
            throw new AssertionError(proxy.describe(), e);
        }
        return shown(name);
    }

    /** Returns the response on the plain port to a client behind a port mapping, whose URL has the standard port. */
    private String plain() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), http)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write(("GET / HTTP/1.1\r\nHost: " + NAME + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private X509Certificate shown(String name) throws Exception {
        return shown(name, https);
    }

    /** Sends one request; returns the certificate that the server presents for a name. */
    private static X509Certificate shown(String name, int port) throws Exception {
        AtomicReference<X509Certificate> seen = new AtomicReference<>();
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Recording(seen)}, null);
        Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, name, port, true)) {
            socket.setSoTimeout(60_000);
            socket.startHandshake();
            socket.getOutputStream()
                    .write(("GET / HTTP/1.1\r\nHost: " + name + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            assertTrue(answer.startsWith("HTTP/1.1 200 ") && answer.endsWith("a response"), answer);
            return seen.get();
        }
    }

    /** Trusts every certificate: the test compares certificates itself. */
    private record Recording(AtomicReference<X509Certificate> seen) implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
            seen.set(chain[0]);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
