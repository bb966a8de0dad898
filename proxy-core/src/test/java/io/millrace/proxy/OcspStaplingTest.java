package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.data.TlsAdmin;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.tls.OpenSslResponder;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests staples from OpenSSL's responder to OpenSSL's client through the proxy. */
class OcspStaplingTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("staples");
    private static final String STAPLED = "OCSP Response Status: successful";
    private static final String NONE = "OCSP response: no response sent";

    @TempDir
    Path directory;

    private int port;
    private Path root;
    private OpenSslResponder responder;
    private ProxyServer proxy;

    @BeforeEach
    void prepare() throws IOException {
        port = OpenSslResponder.freePort();
        root = Files.writeString(directory.resolve("root.pem"), AUTHORITY.rootPem());
    }

    @AfterEach
    void close() {
        if (proxy != null) {
            proxy.close();
        }
        if (responder != null) {
            responder.close();
        }
    }

    private Made site(String name, boolean mustStaple) throws IOException {
        Made made = AUTHORITY.issueWithResponder(
                "http://127.0.0.1:" + port + "/", mustStaple, TestAuthority.ecKeys(), name);
        Files.writeString(directory.resolve(name + ".pem"), made.chainPem() + made.keyPem());
        return made;
    }

    private void start(String listen, String certificates) throws IOException {
        ConfigResult result = ConfigLoader.parse(
                "listen: [{address: '127.0.0.1:0', tls: {" + listen + "}}]\ntls: {certificates: [" + certificates
                        + "]}\nremap: [{redirect: /, to: 'http://o/'}]",
                "millrace.yaml",
                directory,
                Map.of("log.access.enabled", "false", "worker.event_loops", "1", "cache.ram_size", "32MiB"));
        assertTrue(result.config() != null, result::text);
        proxy = ProxyServer.builder()
                .config(result.config())
                .tlsState(directory.resolve("state"))
                .build();
        proxy.start();
    }

    private String ask(String name, String... more) throws IOException {
        return OpenSslResponder.status(proxy.addresses().get(0).getPort(), name, root, more);
    }

    private void awaitStaple(String name) {
        Awaitility.await("the staple").atMost(30, TimeUnit.SECONDS).until(() -> ask(name)
                .contains(STAPLED));
    }

    @ParameterizedTest
    @CsvSource({"-tls1_2", "-tls1_3"})
    void clientGetsAVerifiedStaple(String version) throws IOException {
        responder = OpenSslResponder.start(AUTHORITY, directory, port, 'V', 60, site("www.example.com", true));
        start("", "{certificate: www.example.com.pem}");
        awaitStaple("www.example.com");
        String output = ask("www.example.com", version);
        assertTrue(output.contains(STAPLED) && output.contains("Cert Status: good"), output);
        assertTrue(output.contains("Verify return code: 0 (ok)"), output);
    }

    @Test
    void certificateOfAnAddressIsStapledToo() throws IOException {
        responder = OpenSslResponder.start(AUTHORITY, directory, port, 'V', 60, site("own.example", false));
        start("certificate: own.example.pem, key: own.example.pem", "");
        awaitStaple("own.example");
    }

    @Test
    void resumedHandshakeCarriesNone() throws IOException {
        responder = OpenSslResponder.start(AUTHORITY, directory, port, 'V', 60, site("www.example.com", false));
        start("", "{certificate: www.example.com.pem}");
        awaitStaple("www.example.com");
        String session = directory.resolve("session").toString();
        ask("www.example.com", "-tls1_2", "-sess_out", session);
        String resumed = ask("www.example.com", "-tls1_2", "-sess_in", session);
        assertTrue(resumed.contains("Reused, TLSv1.2"), resumed);
        assertFalse(resumed.contains(STAPLED), resumed);
    }

    @Test
    void settingsTurnItOffByNameAndByAddress() throws IOException {
        Made on = site("on.example", false);
        Made off = site("off.example", false);
        responder = OpenSslResponder.start(AUTHORITY, directory, port, 'V', 60, on, off);
        start("", "{certificate: on.example.pem}, {certificate: off.example.pem, ocsp_stapling: false}");
        awaitStaple("on.example");
        assertTrue(ask("off.example").contains(NONE));
        proxy.close();
        start(
                "ocsp_stapling: false",
                "{certificate: on.example.pem}, {certificate: off.example.pem, ocsp_stapling: true}");
        awaitStaple("off.example");
        assertTrue(ask("on.example").contains(NONE));
    }

    @Test
    void stapleOutlivesARestartWithoutTheResponder() throws IOException {
        responder = OpenSslResponder.start(AUTHORITY, directory, port, 'V', 60, site("www.example.com", true));
        start("", "{certificate: www.example.com.pem}");
        awaitStaple("www.example.com");
        proxy.close();
        responder.close();
        start("", "{certificate: www.example.com.pem}");
        assertTrue(ask("www.example.com").contains(STAPLED), "at the first handshake");
    }

    @Test
    void handshakesContinueWithoutAStapleAndTheReasonIsReported() throws IOException {
        responder = OpenSslResponder.start(AUTHORITY, directory, port, 'R', 60, site("www.example.com", true));
        start("", "{certificate: www.example.com.pem}");
        TlsAdmin admin = new TlsAdmin(proxy.serverTls(), System::currentTimeMillis);
        Awaitility.await("the refusal")
                .atMost(30, TimeUnit.SECONDS)
                .until(() -> admin.certificates().get(0).staple().problem() != null);
        assertEquals("missing", admin.certificates().get(0).staple().state());
        assertTrue(admin.certificates().get(0).staple().required());
        assertTrue(admin.certificates().get(0).staple().problem().contains("revoked"));
        String output = ask("www.example.com");
        assertTrue(output.contains(NONE) && output.contains("Verify return code: 0 (ok)"), output);
        assertTrue(proxy.metricsText()
                .contains("millrace_ocsp_answers_total{application=\"millrace\",result=\"revoked\"} 1"));
    }
}
