package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.data.TlsAdmin;
import io.millrace.proxy.admin.tls.CertificatesSource;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.tls.TlsConfig.UnknownName;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests certificates by name over real sockets. */
class CertificatesTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("listeners");
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("2050-01-01T00:00:00Z");

    @TempDir
    Path directory;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private ProxyConfig.Builder withDirectory(ProxyConfig.Builder config) {
        return config.listenTls("127.0.0.1:0")
                .certificate(ConfigValues.builder()
                        .set(SharedTlsKeys.DIRECTORY, directory)
                        .build())
                .set(SharedTlsKeys.CHECK_INTERVAL, Duration.ofMillis(100));
    }

    private InetSocketAddress start() throws IOException {
        proxy.start(
                exchange -> exchange.ok("Cache-Control: max-age=60\r\n", "hello".getBytes(StandardCharsets.US_ASCII)),
                this::withDirectory);
        return proxy.proxy().addresses().get(1);
    }

    private static String get(SSLSocket socket, String host) throws IOException {
        String request = "GET /a HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }

    @Test
    void eachNameGetsItsCertificateAndItsAnswer() throws IOException {
        Made one = AUTHORITY.issue("one.example");
        Made two = AUTHORITY.issue("*.two.example");
        one.write(directory, "1");
        two.write(directory, "2");
        InetSocketAddress address = start();
        assertEquals(one.certificate(), AUTHORITY.shown(address, "one.example"));
        assertEquals(two.certificate(), AUTHORITY.shown(address, "www.two.example"));
        assertEquals(two.certificate(), AUTHORITY.shown(address, "WWW.Two.example"), "names have no case");
        assertEquals(one.certificate(), AUTHORITY.shown(address, "other.example"), "the default");
        assertEquals(one.certificate(), AUTHORITY.shown(address, null), "the default, without a name");
        for (int i = 0; i < 2; i++) {
            try (SSLSocket socket = TestAuthority.dial(AUTHORITY.clientContext(null), address, "www.two.example")) {
                String answer = get(socket, "www.two.example");
                assertTrue(answer.startsWith("HTTP/1.1 200 ") && answer.endsWith("hello"), answer);
            }
        }
        assertEquals(1, proxy.proxy().metrics().total(Counter.REQUESTS_HIT));
    }

    @Test
    void unknownNamesAreRejectedWithTheirAlert() throws IOException {
        AUTHORITY.issue("one.example").write(directory, "1");
        proxy.start(
                exchange -> {}, config -> withDirectory(config).set(SharedTlsKeys.UNKNOWN_NAME, UnknownName.REJECT));
        InetSocketAddress address = proxy.proxy().addresses().get(1);
        SSLException refused = assertThrows(SSLException.class, () -> AUTHORITY.shown(address, "other.example"));
        assertTrue(refused.getMessage().contains("unrecognized_name"), refused::toString);
        assertEquals(1, proxy.proxy().metrics().total(Counter.CLIENT_CONNECTIONS_REFUSED_TLS));
        AUTHORITY.shown(address, "one.example");
        AUTHORITY.shown(address, null);
    }

    @Test
    void clientsGetTheKindOfKeyThatTheyUnderstand() throws IOException {
        Made ec = AUTHORITY.issue("www.example.com");
        Made rsa = AUTHORITY.issue(TestAuthority.rsaKeys(), START, END, "www.example.com");
        ec.write(directory, "ec");
        rsa.write(directory, "rsa");
        InetSocketAddress address = start();
        assertEquals(ec.certificate(), AUTHORITY.shown(address, "www.example.com"));
        for (String suite :
                List.of("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")) {
            try (SSLSocket socket = (SSLSocket) AUTHORITY
                    .clientContext(null)
                    .getSocketFactory()
                    .createSocket(address.getAddress(), address.getPort())) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setProtocols(new String[] {"TLSv1.2"});
                parameters.setCipherSuites(new String[] {suite});
                socket.setSSLParameters(parameters);
                socket.startHandshake();
                X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
                assertEquals(suite.contains("_RSA_") ? rsa.certificate() : ec.certificate(), shown);
            }
        }
    }

    @Test
    void aRenewedCertificateIsUsedWithoutAReloadAndOpenConnectionsRemain() throws IOException {
        Made before = AUTHORITY.issue("www.example.com");
        before.write(directory, "www");
        InetSocketAddress address = start();
        try (SSLSocket open = TestAuthority.dial(AUTHORITY.clientContext(null), address, "www.example.com")) {
            Made after = AUTHORITY.issue("www.example.com");
            Path fresh = Files.createDirectory(directory.resolve(".fresh"));
            after.write(fresh, "www");
            for (String name : List.of("www.key", "www.crt")) {
                Files.move(
                        fresh.resolve(name),
                        directory.resolve(name),
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
            }
            ProxyExtension.await("the new certificate", () -> shows(address, after));
            assertTrue(get(open, "www.example.com").startsWith("HTTP/1.1 200 "));
        }
    }

    private static boolean shows(InetSocketAddress address, Made made) {
        try {
            return made.certificate().equals(AUTHORITY.shown(address, "www.example.com"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void newHandshakesUseReloadedCertificates() throws IOException {
        Made one = AUTHORITY.issue("one.example");
        one.write(directory, "1");
        InetSocketAddress address = start();
        Path more = Files.createDirectory(directory.resolve(".more"));
        Made two = AUTHORITY.issue("two.example");
        two.write(more, "2");
        proxy.reload(config -> withDirectory(config)
                .certificate(ConfigValues.builder()
                        .set(SharedTlsKeys.DIRECTORY, more)
                        .build()));
        assertEquals(two.certificate(), AUTHORITY.shown(address, "two.example"));
        assertEquals(one.certificate(), AUTHORITY.shown(address, "one.example"));
    }

    @Test
    void anAddressWithACertificateOfItsOwnDoesNotStartWithoutIt() throws IOException {
        Made made = AUTHORITY.issue("www.example.com");
        Path certificate = made.write(directory, "www").certificate();
        Path key = Files.writeString(
                directory.resolve("other.key"), AUTHORITY.issue("x.example").keyPem());
        IOException refused = assertThrows(
                IOException.class,
                () -> proxy.start(exchange -> {}, config -> config.listen("127.0.0.1:0", certificate, key)));
        assertTrue(refused.getMessage().contains("other.key: the key does not belong"), refused::getMessage);
    }

    @Test
    void withoutAnyUsableCertificateHandshakesFailAndNothingElseDoes() throws IOException {
        InetSocketAddress address = start();
        assertThrows(IOException.class, () -> AUTHORITY.shown(address, "www.example.com"));
        assertFalse(proxy.proxy().addresses().isEmpty());
        Made made = AUTHORITY.issue("www.example.com");
        made.write(directory, "www");
        ProxyExtension.await("the new certificate", () -> {
            try {
                return made.certificate().equals(AUTHORITY.shown(address, "www.example.com"));
            } catch (IOException e) {
                return false;
            }
        });
    }

    @Test
    void operatorsSeeEveryCertificateItsStateAndItsProblem() throws Exception {
        AUTHORITY.issue("good.example").write(directory, "good");
        Instant soon = Instant.ofEpochMilli(ProxyExtension.START_MILLIS).plus(Duration.ofDays(13));
        AUTHORITY.issue(START, soon, "soon.example").write(directory, "soon");
        AUTHORITY
                .issue(START, Instant.parse("2021-01-01T00:00:00Z"), "past.example")
                .write(directory, "past");
        AUTHORITY.issue("bad.example").write(directory, "bad");
        Files.writeString(directory.resolve("bad.crt"), "rubbish");
        start();
        TlsAdmin admin = new TlsAdmin(proxy.proxy().serverTls(), () -> ProxyExtension.START_MILLIS);
        assertEquals(
                List.of("unusable", "valid", "expired", "expiring"),
                admin.certificates().stream()
                        .map(CertificatesSource.Certificate::state)
                        .toList());
        CertificatesSource.Certificate bad = admin.certificates().get(0);
        assertEquals(directory.resolve("bad.crt") + ": has no certificate in PEM (BEGIN CERTIFICATE)", bad.problem());
        String metrics = proxy.proxy().metricsText();
        for (String line : List.of(
                "millrace_tls_certificates{application=\"millrace\",state=\"valid\"} 1.0",
                "millrace_tls_certificates{application=\"millrace\",state=\"unusable\"} 1.0",
                "millrace_tls_certificate_faults_total{application=\"millrace\",reason=\"malformed\"} 1.0",
                "millrace_tls_certificate_faults_total{application=\"millrace\",reason=\"expired\"} 1.0")) {
            assertTrue(metrics.contains(line), () -> line + "\n" + metrics);
        }
        List<CertificatesSource.Certificate> checked = admin.check(directory.resolve("soon.crt"), null)
                .toCompletableFuture()
                .get()
                .certificates();
        assertEquals("expiring", checked.get(0).state());
        assertEquals(List.of("soon.example"), checked.get(0).names());
        assertEquals(
                4,
                admin.check(directory, null)
                        .toCompletableFuture()
                        .get()
                        .certificates()
                        .size());
        List<CertificatesSource.Certificate> mixed = admin.check(
                        directory.resolve("soon.crt"), directory.resolve("good.key"))
                .toCompletableFuture()
                .get()
                .certificates();
        assertEquals("unusable", mixed.get(0).state());
        assertTrue(
                proxy.proxy()
                        .metricsText()
                        .contains("millrace_tls_certificate_faults_total{application=\"millrace\",reason=\"mismatch\"}"
                                + " 0.0"),
                "a check is no fault of what is served");
    }

    @Test
    void aCertificateOfTheFutureNamesTheClock() throws Exception {
        Instant later = Instant.ofEpochMilli(ProxyExtension.START_MILLIS).plus(Duration.ofDays(1));
        AUTHORITY.issue(later, later.plus(Duration.ofDays(30)), "early.example").write(directory, "early");
        start();
        TlsAdmin admin = new TlsAdmin(proxy.proxy().serverTls(), () -> ProxyExtension.START_MILLIS);
        List<String> notes = admin.certificates().get(0).notes();
        String expected = "not valid before " + later + ", but the clock of this machine shows "
                + Instant.ofEpochMilli(ProxyExtension.START_MILLIS) + "; set the clock";
        assertTrue(notes.stream().anyMatch(note -> note.startsWith(expected)), notes::toString);
    }

    @Test
    void eachNameHasASeriesOfItsExpiry() throws IOException {
        AUTHORITY.issue("one.example", "www.one.example").write(directory, "1");
        AUTHORITY
                .issue(START, Instant.parse("2030-01-01T00:00:00Z"), "one.example")
                .write(directory, "2");
        AUTHORITY.issue("two.example").write(directory, "3");
        start();
        Map<String, Double> seconds = new TreeMap<>();
        for (String line : proxy.proxy().metrics().prometheusText().split("\n", -1)) {
            if (line.startsWith("millrace_tls_name_expiry_seconds{")) {
                String name = line.substring(line.indexOf("name=\"") + 6, line.lastIndexOf('"'));
                seconds.put(name, Double.parseDouble(line.substring(line.lastIndexOf(' '))));
            }
        }
        assertEquals(Set.of("one.example", "two.example"), seconds.keySet());
        Instant now = Instant.parse("2026-01-01T00:00:00Z");
        Duration one = Duration.between(now, Instant.parse("2030-01-01T00:00:00Z"));
        assertEquals((double) one.toSeconds(), seconds.get("one.example"), 5);
        assertEquals((double) Duration.between(now, END).toSeconds(), seconds.get("two.example"), 5);
    }
}
