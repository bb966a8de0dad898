package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.millrace.proxy.tls.TlsOrigin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests TLS to origins: accepted certificates, client certificates, and files that change or are faulty. */
class OriginTlsTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("origins");
    private static final TestAuthority OTHER = new TestAuthority("others");

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private TlsOrigin origin;
    private int paths;

    @BeforeEach
    void writeAuthorities() throws Exception {
        write("ca.pem", AUTHORITY);
        write("other.pem", OTHER);
    }

    @AfterEach
    void closeOrigin() throws IOException {
        if (origin != null) {
            origin.close();
        }
    }

    private void write(String file, TestAuthority authority) throws Exception {
        Path fresh = Files.writeString(
                directory.resolve(file + ".new"),
                TestAuthority.pem("CERTIFICATE", authority.root().getEncoded()));
        Files.move(fresh, directory.resolve(file), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private void start(Made own, String tls) throws Exception {
        start(own, tls, "");
    }

    private void start(Made own, String tls, String rules) throws Exception {
        origin = new TlsOrigin(AUTHORITY, own);
        String text = "listen: ['127.0.0.1:0']\ntls: {check_interval: 100ms}\norigin: {tls: {" + tls + "}}\nremap: ["
                + rules + "{map: /, to: 'https://localhost:" + origin.port() + "/'}]";
        ConfigResult result = ConfigLoader.parse(
                text, "millrace.yaml", directory, Map.of("log.access.enabled", "false", "worker.event_loops", "1"));
        assertTrue(result.config() != null, result::text);
        proxy.start(request -> request.awaitClose(), fresh -> result.config().toBuilder());
    }

    private int status() throws IOException {
        return proxy.get("/" + paths++).status();
    }

    @ParameterizedTest
    @CsvSource({
        "on,    200, 502, 502",
        "chain, 200, 200, 502",
        "name,  200, 502, 200",
        "warn,  200, 200, 200",
        "off,   200, 200, 200"
    })
    void verifiesByTheSetting(String verify, int trusted, int otherName, int otherIssuer) throws Exception {
        try (TlsOrigin misnamed = new TlsOrigin(AUTHORITY, AUTHORITY.issue("else.example"));
                TlsOrigin unknown = new TlsOrigin(AUTHORITY, OTHER.issue("localhost"))) {
            start(
                    AUTHORITY.issue("localhost"),
                    "ca_file: ca.pem, verify: " + verify,
                    "{map: /misnamed/, to: 'https://localhost:" + misnamed.port() + "/'}, {map: /unknown/, to: "
                            + "'https://localhost:" + unknown.port() + "/'}, ");
            assertEquals(trusted, status());
            assertEquals(otherName, proxy.get("/misnamed/").status());
            assertEquals(otherIssuer, proxy.get("/unknown/").status());
        }
    }

    /** The origin closes each connection, and the second connection resumes the session of the first one. */
    @Test
    void resumesSessions() throws Exception {
        start(AUTHORITY.issue("localhost"), "ca_file: ca.pem");
        for (int i = 0; i < 4; i++) {
            assertEquals(200, status());
        }
        assertEquals(4, origin.requests());
        assertEquals(1, origin.fullHandshakes());
    }

    @Test
    void usesAFileThatChangedWithoutReload() throws Exception {
        start(AUTHORITY.issue("localhost"), "ca_file: other.pem");
        assertEquals(502, status());
        write("other.pem", AUTHORITY);
        ProxyExtension.await("the authorities", this::isAnswered);
        // A faulty version has no effect.
        Files.writeString(directory.resolve("other.pem"), "nothing");
        write("ca.pem", OTHER);
        assertEquals(200, status());
    }

    /** The system's trust store is never used in place of a missing file. */
    @Test
    void failsWithoutItsFilesUntilTheyAreThere() throws Exception {
        start(AUTHORITY.issue("localhost"), "ca_file: late.pem");
        assertEquals(502, status());
        assertEquals(0, origin.fullHandshakes());
        write("late.pem", AUTHORITY);
        ProxyExtension.await("the authorities", this::isAnswered);
    }

    private boolean isAnswered() {
        try {
            return status() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "origin: {tls: {key: k.pem}} | origin.tls.certificate: missing; set the certificate that this key belongs to",
                "origin: {tls: {min_version: 1.4}} | '1.4' is none of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3",
                "origin: {tls: {verify: maybe}} | 'maybe' is none of on, off, name, chain, warn",
                "origin: {tls: {ca_file: none.pem}} | none.pem: no such file",
                "origin: {tls: {ca_file: ca.pem, verify: off}} | origin.tls.ca_file: is not used: verify is off"
            })
    void reportsTheProblem(String text, String problem) {
        String found = ConfigLoader.parse(
                        text + "\nlisten: [':1']\nremap: [{map: /, to: http://o/}]", "m.yaml", directory, Map.of())
                .text();
        assertTrue(found.contains(problem), found);
    }
}
