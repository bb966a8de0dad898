package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.AdminClientException.Kind;
import io.millrace.proxy.TestKeys;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests over TLS to a server of the JDK, with and without certificates of clients. */
class TlsClientTest {
    @TempDir
    static Path directory;

    private static TestKeys server;
    private static TestKeys client;

    @BeforeAll
    static void makeKeys() throws Exception {
        server = TestKeys.ofLocalhost(Files.createDirectory(directory.resolve("server")));
        client = TestKeys.ofLocalhost(Files.createDirectory(directory.resolve("client")));
    }

    /** A server that answers one request; close it. */
    private static final class Server implements AutoCloseable {
        private final SSLServerSocket listening;
        private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
        private final Thread thread;

        Server(String protocol, boolean needsCertificate, String response) throws Exception {
            listening = (SSLServerSocket) TlsClientTest.server
                    .server(client)
                    .getServerSocketFactory()
                    .createServerSocket(0, 5, InetAddress.getLoopbackAddress());
            listening.setNeedClientAuth(needsCertificate);
            listening.setEnabledProtocols(new String[] {protocol});
            thread = new Thread(() -> serve(response), "tls-server");
            thread.start();
        }

        private void serve(String response) {
            try (SSLSocket socket = (SSLSocket) listening.accept()) {
                InputStream in = socket.getInputStream();
                StringBuilder request = new StringBuilder();
                while (request.indexOf("\r\n\r\n") < 0) {
                    int next = in.read();
                    if (next < 0) {
                        return;
                    }
                    request.append((char) next);
                }
                requests.add(request.toString());
                socket.getOutputStream().write(response.getBytes(StandardCharsets.UTF_8));
                socket.getOutputStream().flush();
            } catch (IOException e) {
                // The client has refused the certificate, or the test is over.
            }
        }

        AdminAddress address(String host) {
            return AdminAddress.parse("https://" + host + ":" + listening.getLocalPort());
        }

        @Override
        public void close() throws IOException {
            listening.close();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static AdminClient client(AdminAddress address, @Nullable SSLContext context) {
        return new AdminClient(address, "s3cret", Duration.ofSeconds(30), context);
    }

    private static SSLContext context(boolean withCertificate) throws IOException {
        return new TlsFiles(
                        server.certificate(),
                        withCertificate ? client.certificate() : null,
                        withCertificate ? client.key() : null)
                .context();
    }

    @ParameterizedTest
    @CsvSource({"TLSv1.3, false, 10", "TLSv1.2, false, 10", "TLSv1.3, true, 200000", "TLSv1.2, true, 200000"})
    void readsAResponseOfAnyLength(String protocol, boolean needsCertificate, int length) throws Exception {
        String body = "x".repeat(length);
        try (Server admin = new Server(protocol, needsCertificate, ScriptedAdmin.response(200, body))) {
            AdminAddress address = admin.address("127.0.0.1");
            AdminResponse response = client(address, context(needsCertificate)).get("/v1/status");
            assertEquals(body, response.text());
            String request = admin.requests.poll(30, TimeUnit.SECONDS);
            assertTrue(request.contains("\r\nAuthorization: Bearer s3cret\r\n"), request);
            assertTrue(request.contains("\r\nHost: " + address.toString().substring(8) + "\r\n"), request);
        }
    }

    @Test
    void sendsALongRequest() throws Exception {
        try (Server admin = new Server("TLSv1.3", false, ScriptedAdmin.response(200, "{}"))) {
            String target = "/" + "y".repeat(60_000);
            assertEquals(
                    200,
                    client(admin.address("localhost"), context(false))
                            .get(target)
                            .status());
            assertTrue(admin.requests.poll(30, TimeUnit.SECONDS).startsWith("GET " + target + " HTTP/1.1\r\n"));
        }
    }

    @Test
    void anUnknownAuthorityIsRefusedBeforeAnythingIsSent() throws Exception {
        try (Server admin = new Server("TLSv1.3", false, ScriptedAdmin.response(200, "{}"))) {
            AdminClientException failure =
                    assertThrows(AdminClientException.class, () -> client(admin.address("127.0.0.1"), null)
                            .get("/v1/status"));
            assertEquals(Kind.UNTRUSTED, failure.kind());
            assertTrue(failure.message().startsWith("no TLS connection to https://127.0.0.1:"), failure.message());
            assertTrue(admin.requests.isEmpty());
        }
    }

    @Test
    void aCertificateForAnotherNameIsRefused() throws Exception {
        try (ServerSocketChannel listening = ServerSocketChannel.open()) {
            listening.bind(new InetSocketAddress("127.0.0.2", 0));
            int port = ((InetSocketAddress) listening.getLocalAddress()).getPort();
            SSLContext context = server.server(client);
            Thread relay = new Thread(() -> relay(listening, context), "relay");
            relay.start();
            AdminAddress address = new AdminAddress.Tcp("127.0.0.2", port, true);
            AdminClientException failure =
                    assertThrows(AdminClientException.class, () -> client(address, context(false))
                            .get("/"));
            assertEquals(Kind.UNTRUSTED, failure.kind());
            assertTrue(failure.message().contains("127.0.0.2"), failure.message());
            relay.join();
        }
    }

    /** Serves one TLS handshake on an address that is not in the certificate. */
    private static void relay(ServerSocketChannel listening, SSLContext context) {
        try (SSLSocket socket = (SSLSocket)
                context.getSocketFactory().createSocket(listening.accept().socket(), null, true)) {
            socket.setUseClientMode(false);
            assertTrue(socket.getInputStream().read() < 0);
        } catch (IOException e) {
            // The client has refused the certificate.
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void aMissingClientCertificateIsNamed(String protocol) throws Exception {
        try (Server admin = new Server(protocol, true, ScriptedAdmin.response(200, "{}"))) {
            AdminClientException failure =
                    assertThrows(AdminClientException.class, () -> client(admin.address("127.0.0.1"), context(false))
                            .get("/"));
            assertTrue(
                    failure.kind() == Kind.UNTRUSTED || failure.kind() == Kind.BROKEN_ANSWER,
                    failure.kind() + ": " + failure.message());
        }
    }

    @Test
    void aServerWithoutTlsIsNamed() throws Exception {
        try (ScriptedAdmin admin = ScriptedAdmin.onLoopback(ScriptedAdmin.End.CLOSE, "HTTP/1.1 400 Bad\r\n\r\n")) {
            AdminAddress address = AdminAddress.parse(admin.url().replace("http:", "https:"));
            AdminClientException failure = assertThrows(
                    AdminClientException.class,
                    () -> new AdminClient(address, null, Duration.ofMillis(500), context(false)).get("/"));
            assertTrue(failure.message().contains(address.toString()), failure.message());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "none.pem, '', '', none.pem: no such file",
        "empty.pem, '', '', empty.pem: contains no certificate",
        "'', server/CERTIFICATE.pem, server/CERTIFICATE.pem, 'server/CERTIFICATE.pem: no unencrypted private key in PKCS#8'",
        "'', server/CERTIFICATE.pem, none.pem, none.pem: no such file",
        "'', empty.pem, server/PRIVATE-KEY.pem, empty.pem: contains no certificate"
    })
    void unusableFilesAreNamed(String authorities, String certificate, String key, String message) throws IOException {
        Files.writeString(directory.resolve("empty.pem"), "");
        TlsFiles files = new TlsFiles(file(authorities), file(certificate), file(key));
        IOException failure = assertThrows(IOException.class, files::context);
        assertTrue(failure.getMessage().contains(message), failure.getMessage());
    }

    private static @Nullable Path file(String name) {
        return name.isEmpty() ? null : directory.resolve(name);
    }
}
