package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.AdminServer;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.config.admin.AdminConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS of the admin API over real sockets: certificates, clients with certificates, and changes of files. */
class AdminTlsTest {
    private static final String TOKEN = "0123456789abcdef";
    private static final String REQUEST =
            "GET /metrics HTTP/1.1\r\nHost: admin.example:9090\r\nAuthorization: Bearer " + TOKEN + "\r\n\r\n";

    @TempDir
    Path directory;

    private TestCertificate certificate;
    private Path token;
    private AdminAccess access;
    private @Nullable AdminServer server;

    @BeforeEach
    void writeFiles() throws Exception {
        certificate = TestCertificate.in(Files.createDirectory(directory.resolve("one")));
        token = Files.writeString(directory.resolve("token"), TOKEN);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
    }

    private AdminConfig config(AdminConfig.@Nullable Tls tls) {
        return new AdminConfig(
                null, null, token, List.of(), tls, Duration.ofHours(1).toNanos());
    }

    private AdminConfig.Tls tls(@Nullable Path authorities, @Nullable Path revoked) {
        return new AdminConfig.Tls(certificate.certificate(), certificate.key(), authorities, revoked);
    }

    private void start(AdminConfig.@Nullable Tls tls) throws IOException {
        access = AdminAccess.of(config(tls));
        server = AdminServer.builder()
                .tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), access)
                .resource(new MetricsResource(() -> "up 1\n"))
                .start();
    }

    private InetSocketAddress address() {
        return server.tcpAddress();
    }

    private int status(RawClient client) throws IOException {
        try (client) {
            return client.send(REQUEST).response().status();
        }
    }

    @Test
    void answersOverTlsWithAnyHostOfTheCertificate() throws Exception {
        start(tls(null, null));
        assertEquals(200, status(certificate.client(address())));
    }

    @Test
    void dashboardOverTlsHasASecureCookieOfItsHost() throws Exception {
        access = AdminAccess.of(config(tls(null, null)));
        server = AdminServer.builder()
                .tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), access)
                .dashboard()
                .resource(new MetricsResource(() -> "up 1\n"))
                .start();
        String login = "{\"token\":\"" + TOKEN + "\"}";
        try (RawClient client = certificate.client(address())) {
            assertEquals(200, get(client, "/ui/").status());
            String post =
                    "POST /v1/session HTTP/1.1\r\nHost: admin.example:9090\r\nX-Millrace-Session: none\r\nContent-Length: "
                            + login.length() + "\r\nOrigin: ";
            assertEquals(
                    403,
                    client.send(post + "http://admin.example:9090\r\n\r\n" + login)
                            .response()
                            .status());
            RawClient.Response opened = client.send(post + "https://admin.example:9090\r\n\r\n" + login)
                    .response();
            String cookie = opened.field("set-cookie");
            assertTrue(cookie.startsWith("__Host-millrace-session-9090="), cookie);
            assertTrue(cookie.endsWith("; Path=/; HttpOnly; SameSite=Strict; Secure"), cookie);
            String value = cookie.substring(cookie.indexOf('=') + 1, cookie.indexOf(';'));
            String body = opened.text();
            String proof = "X-Millrace-Session: " + body.substring(body.indexOf("\"proof\":\"") + 9, body.length() - 2);
            assertEquals(
                    200,
                    get(client, "/metrics", "Cookie: __Host-millrace-session-9090=" + value, proof)
                            .status());
            assertEquals(
                    401,
                    get(client, "/metrics", "Cookie: millrace-session-9090=" + value, proof)
                            .status());
        }
    }

    private static RawClient.Response get(RawClient client, String target, String... fields) throws IOException {
        String more = fields.length == 0 ? "" : String.join("\r\n", fields) + "\r\n";
        return client.send("GET " + target + " HTTP/1.1\r\nHost: admin.example:9090\r\n" + more + "\r\n")
                .response();
    }

    @Test
    void clearTextOnATlsAddressGetsNoAnswer() throws Exception {
        start(tls(null, null));
        assertThrows(IOException.class, () -> status(new RawClient(address())));
    }

    @Test
    void tlsBeginsAndEndsWithoutARestart() throws Exception {
        start(null);
        assertEquals(403, status(new RawClient(address())), "the Host is unknown in clear text");
        assertEquals(List.of(), access.apply(config(tls(null, null))));
        assertEquals(200, status(certificate.client(address())));
        access.apply(config(null));
        assertEquals(403, status(new RawClient(address())));
    }

    @Test
    void aChangedCertificateIsInUseForNewConnections() throws Exception {
        start(tls(null, null));
        TestCertificate other = TestCertificate.in(Files.createDirectory(directory.resolve("two")));
        try (RawClient open = certificate.client(address())) {
            assertEquals(200, open.send(REQUEST).response().status());
            Files.copy(other.key(), certificate.key(), StandardCopyOption.REPLACE_EXISTING);
            access.rereadChangedFiles();
            assertEquals(200, status(certificate.client(address())), "a key without its certificate is not used");
            Files.copy(other.certificate(), certificate.certificate(), StandardCopyOption.REPLACE_EXISTING);
            access.rereadChangedFiles();
            assertEquals(200, status(other.client(address())));
            assertThrows(IOException.class, () -> status(certificate.client(address())));
            assertEquals(200, open.send(REQUEST).response().status(), "an open connection stays");
        }
    }

    @Test
    void unusableFilesLeaveTheVersionBefore() throws Exception {
        start(tls(null, null));
        Path none = directory.resolve("none.pem");
        List<String> problems = access.apply(config(new AdminConfig.Tls(none, none, null, null)));
        assertTrue(problems.get(0).contains(none.toString()), problems.toString());
        assertTrue(problems.get(0).endsWith("the version read before stays in use"), problems.toString());
        assertEquals(200, status(certificate.client(address())));
        IOException refused = assertThrows(
                IOException.class, () -> AdminAccess.of(config(new AdminConfig.Tls(none, none, null, null))));
        assertTrue(refused.getMessage().contains(none.toString()), refused.getMessage());
    }

    @Test
    void withAuthoritiesOnlyClientsWithACertificateAreServed() throws Exception {
        Path own = Files.createDirectory(directory.resolve("client"));
        TestCertificate client = TestCertificate.in(own);
        start(tls(client.certificate(), null));
        assertThrows(IOException.class, () -> status(certificate.client(address())));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys(own), trust(), null);
        var socket = context.getSocketFactory()
                .createSocket(address().getAddress(), address().getPort());
        assertEquals(200, status(new RawClient(socket)));
        List<String> problems = access.apply(config(tls(client.certificate(), client.certificate())));
        assertTrue(problems.get(0).contains("has no revocation list"), problems.toString());
        assertNull(access.find("another token"));
    }

    private static KeyManager[] keys(Path own) throws Exception {
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store(own.resolve("test.p12")), "changeit".toCharArray());
        return factory.getKeyManagers();
    }

    private TrustManager[] trust() throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(
                "test", store(directory.resolve("one/test.p12")).getCertificate("test"));
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(trusted);
        return factory.getTrustManagers();
    }

    private static KeyStore store(Path file) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, "changeit".toCharArray());
        }
        return store;
    }
}
