package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the worker's part in ACME, over real sockets; the test acts as the launcher. */
class AutomaticCertificatesTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("automatic");
    private static final String NEW = "new.example.com";

    @TempDir
    Path directory;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private AcmeFiles files;

    private InetSocketAddress start(Map<String, String> settings) throws IOException {
        files = new AcmeFiles(directory);
        for (Path each :
                new Path[] {files.tokens(), files.alpnCertificates(), files.requests(), files.certificates()}) {
            Files.createDirectories(each);
        }
        proxy.start(
                exchange -> exchange.ok("Cache-Control: max-age=60\r\n", "origin".getBytes(StandardCharsets.US_ASCII)),
                config -> {
                    ProxyConfig.Builder more = config.listenTls("127.0.0.1:0")
                            .set("tls.acme.names", "www.example.com")
                            .set("tls.acme.accept_terms", "true")
                            .set("tls.acme.storage", directory.toString())
                            .set("tls.unknown_name", "reject");
                    settings.forEach(more::set);
                    return more;
                });
        return proxy.proxy().addresses().get(1);
    }

    private String get(String method, String path) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(proxy.proxy().addresses().get(0));
            socket.setSoTimeout(20_000);
            String request = method + " " + path + " HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    private static void put(Path file, String content) throws IOException {
        Path unfinished = file.resolveSibling("." + file.getFileName());
        Files.writeString(unfinished, content);
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    }

    @Test
    void tokenIsAnsweredEvenWhereAResponseIsStoredForItsPath() throws IOException {
        start(Map.of());
        String path = "/.well-known/acme-challenge/token-1_A";
        assertTrue(get("GET", path).endsWith("origin"), "an unknown token is the origin's");
        assertTrue(get("GET", path).endsWith("origin"), "from the cache");
        put(files.tokens().resolve("token-1_A"), "token-1_A.thumbprint\n");
        String answer = get("GET", path);
        assertTrue(answer.startsWith("HTTP/1.1 200 ") && answer.endsWith("\r\n\r\ntoken-1_A.thumbprint"), answer);
        assertTrue(answer.contains("no-store"), answer);
        String head = get("HEAD", path);
        assertTrue(head.startsWith("HTTP/1.1 200 ") && head.endsWith("\r\n\r\n"), head);
        assertEquals(2, proxy.proxy().metrics().total(Counter.ACME_CHALLENGES_HTTP));
        Files.delete(files.tokens().resolve("token-1_A"));
        assertTrue(get("GET", path).endsWith("origin"));
    }

    @ParameterizedTest
    @CsvSource({"GET, ''", "GET, ../secret", "GET, ..%2Fsecret", "GET, a/b", "POST, token"})
    void everythingElseBelowThePathGoesToTheOrigin(String method, String token) throws IOException {
        start(Map.of());
        put(directory.resolve("challenges").resolve("secret"), "secret");
        put(files.tokens().resolve("token"), "token");
        String answer = get(method, "/.well-known/acme-challenge/" + token);
        assertTrue(answer.endsWith("origin"), answer);
    }

    @Test
    void tokensAreNotLookedForWithAnotherChallenge() throws IOException {
        start(Map.of("tls.acme.challenge", "tls-alpn-01"));
        put(files.tokens().resolve("token"), "token");
        assertTrue(get("GET", "/.well-known/acme-challenge/token").endsWith("origin"));
    }

    @Test
    void protocolOfTlsAlpn01GetsTheCertificateOfTheChallenge() throws IOException {
        InetSocketAddress address = start(Map.of("tls.acme.challenge", "tls-alpn-01"));
        Made held = AUTHORITY.issue("www.example.com");
        Made challenge = AUTHORITY.issue("www.example.com");
        put(files.certificates().resolve("www.example.com.pem"), held.chainPem() + held.keyPem());
        put(files.alpnCertificates().resolve("www.example.com"), challenge.chainPem() + challenge.keyPem());
        Awaitility.await().until(() -> isShown(address, held));
        try (SSLSocket socket = dialForChallenge(address)) {
            assertEquals(challenge.certificate(), socket.getSession().getPeerCertificates()[0]);
            assertEquals("acme-tls/1", socket.getApplicationProtocol());
        }
        Files.delete(files.alpnCertificates().resolve("www.example.com"));
        assertThrows(IOException.class, () -> dialForChallenge(address));
        assertEquals(held.certificate(), AUTHORITY.shown(address, "www.example.com"));
    }

    /** Performs a handshake like an issuer (RFC 8737 section 3). */
    private static SSLSocket dialForChallenge(InetSocketAddress address) throws IOException {
        SSLSocket socket = (SSLSocket)
                AUTHORITY.clientContext(null).getSocketFactory().createSocket(address.getAddress(), address.getPort());
        socket.setSoTimeout(20_000);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName("www.example.com")));
        parameters.setApplicationProtocols(new String[] {"acme-tls/1"});
        socket.setSSLParameters(parameters);
        try {
            socket.startHandshake();
        } catch (IOException e) {
            socket.close();
            throw e;
        }
        return socket;
    }

    private static boolean isShown(InetSocketAddress address, Made made) {
        try {
            return AUTHORITY.shown(address, "www.example.com").equals(made.certificate());
        } catch (IOException e) {
            return false;
        }
    }

    private InetSocketAddress onDemand(String wait) throws IOException {
        return start(Map.of("tls.acme.on_demand.ask", "http://127.0.0.1:1/", "tls.acme.on_demand.wait", wait));
    }

    private void awaitRequest() {
        Awaitility.await().until(() -> Files.exists(files.requests().resolve(NEW)));
    }

    @Test
    void handshakeWaitsForACertificateOnDemand() throws Exception {
        InetSocketAddress address = onDemand("60s");
        CompletableFuture<X509Certificate> shown = CompletableFuture.supplyAsync(() -> {
            try {
                return AUTHORITY.shown(address, NEW);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        awaitRequest();
        Made made = AUTHORITY.issue(NEW);
        put(files.certificates().resolve(NEW + ".pem"), made.chainPem() + made.keyPem());
        Files.delete(files.requests().resolve(NEW));
        assertEquals(made.certificate(), shown.get(30, TimeUnit.SECONDS));
    }

    @Test
    void refusedNameGetsTheAlertAndIsNotAskedForAgain() throws Exception {
        InetSocketAddress address = onDemand("60s");
        CompletableFuture<SSLException> refused = CompletableFuture.supplyAsync(
                () -> assertThrows(SSLException.class, () -> AUTHORITY.shown(address, NEW)));
        awaitRequest();
        Files.delete(files.requests().resolve(NEW));
        assertTrue(refused.get(30, TimeUnit.SECONDS).getMessage().contains("unrecognized_name"));
        assertThrows(SSLException.class, () -> AUTHORITY.shown(address, NEW));
        assertTrue(Files.notExists(files.requests().resolve(NEW)));
    }

    @Test
    void clientThatLeavesWhileItWaitsLeavesNothingBehind() throws Exception {
        InetSocketAddress address = onDemand("60s");
        CompletableFuture<Void> left = CompletableFuture.runAsync(() -> {
            try (SSLSocket socket = unconnectedTo(address)) {
                socket.setSoTimeout(100);
                assertThrows(IOException.class, socket::startHandshake);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        awaitRequest();
        left.get(30, TimeUnit.SECONDS);
        Made made = AUTHORITY.issue(NEW);
        put(files.certificates().resolve(NEW + ".pem"), made.chainPem() + made.keyPem());
        Files.delete(files.requests().resolve(NEW));
        assertEquals(made.certificate(), AUTHORITY.shown(address, NEW));
    }

    @Test
    void proxyThatIsClosedWhileAHandshakeWaitsKeepsNoBuffer() throws Exception {
        InetSocketAddress address = onDemand("60s");
        CompletableFuture<Void> left =
                CompletableFuture.runAsync(() -> assertThrows(IOException.class, () -> AUTHORITY.shown(address, NEW)));
        awaitRequest();
        proxy.restart();
        left.get(30, TimeUnit.SECONDS);
    }

    private static SSLSocket unconnectedTo(InetSocketAddress address) throws IOException {
        SSLSocket socket = (SSLSocket)
                AUTHORITY.clientContext(null).getSocketFactory().createSocket(address.getAddress(), address.getPort());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(NEW)));
        socket.setSSLParameters(parameters);
        return socket;
    }

    @Test
    void waitEndsWithoutTheLauncher() throws IOException {
        InetSocketAddress address = onDemand("100ms");
        assertThrows(SSLException.class, () -> AUTHORITY.shown(address, NEW));
    }

    @ParameterizedTest
    @CsvSource({"localhost", "www.example.123"})
    void namesThatNoIssuerTakesAreNotAskedFor(String name) throws IOException {
        InetSocketAddress address = onDemand("60s");
        assertThrows(IOException.class, () -> AUTHORITY.shown(address, name));
        try (Stream<Path> requests = Files.list(files.requests())) {
            assertEquals(0, requests.count());
        }
    }
}
