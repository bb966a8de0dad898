package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests fields about the client's TLS connection in the access log. */
class TlsLogTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("log");
    private static final String TEMPLATE = "%<cqpv> %<cqssl> %<cqssv> %<cqssc> %<cssn> \"%<client_subject>\"";

    @TempDir
    Path directory;

    private ProxyServer proxy;

    @AfterEach
    void close() {
        if (proxy != null) {
            proxy.close();
        }
    }

    private void start(String format) throws IOException {
        Made site = AUTHORITY.issue("one.example");
        Files.writeString(directory.resolve("site.pem"), site.chainPem() + site.keyPem());
        Files.writeString(directory.resolve("ca.pem"), AUTHORITY.rootPem());
        ConfigResult result = ConfigLoader.parse(
                "listen: [{address: '127.0.0.1:0', tls: {}}, '127.0.0.1:0']\n"
                        + "tls: {certificates: [{certificate: site.pem}], client_certificates: request,"
                        + " client_ca_file: ca.pem}\nremap: [{redirect: /, to: 'http://o/'}]\n"
                        + "log: {access: {enabled: true, path: access.log, format: '" + format + "'}}",
                "millrace.yaml",
                directory,
                Map.of("worker.event_loops", "1", "cache.ram_size", "32MiB"));
        assertTrue(result.config() != null, result::text);
        proxy = ProxyServer.builder().config(result.config()).build();
        proxy.start();
    }

    private List<String> lines(int count) {
        ProxyExtension.await("the log has " + count + " lines", () -> read().size() >= count);
        return read();
    }

    private List<String> read() {
        Path file = directory.resolve("access.log");
        try {
            return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.US_ASCII) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void get(SSLContext client, InetSocketAddress address) throws IOException {
        try (SSLSocket socket = TestAuthority.dial(client, address, "one.example")) {
            socket.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: one.example\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().readAllBytes();
        }
    }

    /** A resumed session has the certificate of its first handshake. */
    @ParameterizedTest
    @CsvSource({
        "TLSv1.2, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "TLSv1.3, TLS_AES_128_GCM_SHA256",
    })
    void theLogShowsTheHandshakeAlsoOfAResumedSession(String version, String suite) throws Exception {
        start(TEMPLATE);
        SSLContext client = AUTHORITY.clientContext(AUTHORITY.issue("alice"));
        ResumingClient.connect(client, proxy.addresses().get(0), version);
        assertTrue(ResumingClient.connect(client, proxy.addresses().get(0), version));
        for (String line : lines(2)) {
            assertTrue(
                    line.startsWith("HTTP/1.1 1 " + version + " TLS_") && line.endsWith(" one.example \"CN=alice\""),
                    line);
            assertEquals(suite.length() > 24, line.contains("TLS_ECDHE_"), line);
        }
    }

    @Test
    void missingValuesAreADash() throws Exception {
        start(TEMPLATE);
        SSLContext client = AUTHORITY.clientContext(null);
        get(client, proxy.addresses().get(0));
        assertTrue(lines(1).get(0).endsWith(" one.example \"-\""), () -> lines(1).get(0));
        try (RawClient plain = new RawClient(proxy.addresses().get(1))) {
            plain.get("/", "Connection: close\r\n").response();
        }
        assertEquals("HTTP/1.1 0 - - - \"-\"", lines(2).get(1));
    }

    /** A subject with line breaks and bytes beyond ASCII cannot forge log lines. */
    @Test
    void aSubjectIsPrintableAscii() throws Exception {
        start("json");
        get(
                AUTHORITY.clientContext(AUTHORITY.issue("é\r\nX: y\", \"z")),
                proxy.addresses().get(0));
        String line = lines(1).get(0);
        assertTrue(line.contains("\"tls\":\"TLSv1.3\",\"cipher\":\"TLS_"), line);
        assertTrue(line.contains(",\"sni\":\"one.example\",\"client_subject\":\"CN="), line);
        assertTrue(line.contains("\\\\C3\\\\A9") && line.contains("\\\\0D\\\\0A"), line);
        assertFalse(line.contains("\\u00"), line);
    }
}
