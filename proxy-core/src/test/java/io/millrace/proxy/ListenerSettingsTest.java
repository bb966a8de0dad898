package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests versions, cipher suites, groups and client certificates of listening addresses, with openssl and Java clients.
 */
class ListenerSettingsTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("sites");
    private static final TestAuthority OTHER = new TestAuthority("others");
    private static final Made SITE = AUTHORITY.issue("one.example");
    private static final Made CLIENT = AUTHORITY.issue("client");

    @TempDir
    Path directory;

    private ProxyServer proxy;

    @BeforeEach
    void writeFiles() throws Exception {
        Files.writeString(directory.resolve("site.pem"), SITE.chainPem() + SITE.keyPem());
        Files.writeString(
                directory.resolve("ca.pem"),
                TestAuthority.pem("CERTIFICATE", AUTHORITY.root().getEncoded()));
    }

    @AfterEach
    void close() {
        if (proxy != null) {
            proxy.close();
        }
    }

    private ConfigResult parse(String listen, String tls) {
        return ConfigLoader.parse(
                "listen: [" + listen + "]\ntls: {certificates: [{certificate: site.pem}]" + tls
                        + "}\nremap: [{redirect: /, to: 'http://o/'}]",
                "millrace.yaml",
                directory,
                Map.of("log.access.enabled", "false", "worker.event_loops", "1", "cache.ram_size", "32MiB"));
    }

    private void start(String tls, String... listeners) throws IOException {
        StringBuilder listen = new StringBuilder();
        for (String each : listeners) {
            listen.append("{address: '127.0.0.1:0', tls: {").append(each).append("}}, ");
        }
        ConfigResult result = parse(listen.toString(), tls);
        assertTrue(result.config() != null, result::text);
        proxy = ProxyServer.builder().config(result.config()).build();
        proxy.start();
    }

    /** Returns the output of openssl for a handshake with the address of that number. */
    private String openssl(int listener, String... options) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                "openssl",
                "s_client",
                "-connect",
                "127.0.0.1:" + proxy.addresses().get(listener).getPort(),
                "-servername",
                "one.example");
        builder.command().addAll(List.of(options));
        Process process = builder.redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(20, TimeUnit.SECONDS));
        return output;
    }

    private boolean connect(int listener, SSLContext client, String protocol) throws Exception {
        return ResumingClient.connect(client, proxy.addresses().get(listener), protocol);
    }

    @Test
    void versionsSuitesAndGroupsOfEachAddress() throws Exception {
        start(
                ", max_version: TLSv1.2",
                "",
                "min_version: TLSv1.3, max_version: TLSv1.3",
                "ciphers: [TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256], groups: [P-384]");
        assertTrue(openssl(0).contains("New, TLSv1.2"), () -> "general settings");
        assertTrue(openssl(1).contains("New, TLSv1.3"));
        assertTrue(openssl(1, "-tls1_2").contains("Cipher is (NONE)"));
        String third = openssl(2);
        assertTrue(third.contains("ECDHE-ECDSA-CHACHA20-POLY1305"), third);
        assertTrue(third.contains("P-384") || third.contains("secp384r1"), third);
        assertTrue(openssl(2, "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256").contains("Cipher is (NONE)"));
    }

    @ParameterizedTest
    @CsvSource({"request, true, true, true", "require, false, true, false", "off, true, true, true"})
    void clientCertificates(String policy, boolean without, boolean valid, boolean unknown) throws Exception {
        start("", "client_certificates: " + policy + ", client_ca_file: ca.pem");
        for (String protocol : new String[] {"TLSv1.2", "TLSv1.3"}) {
            assertEquals(without, serves(AUTHORITY.clientContext(null), protocol), protocol);
            assertEquals(valid, serves(AUTHORITY.clientContext(CLIENT), protocol), protocol);
            // Java's client sends no certificate whose issuer the server does not name.
            assertEquals(unknown, serves(AUTHORITY.clientContext(OTHER.issue("client")), protocol), protocol);
        }
        Made stranger = OTHER.issue("client");
        stranger.write(directory, "stranger");
        String output = openssl(
                0,
                "-tls1_2",
                "-cert",
                directory.resolve("stranger.crt").toString(),
                "-key",
                directory.resolve("stranger.key").toString());
        assertEquals(policy.equals("off"), output.contains("Verify return code") && !output.contains("alert"), output);
        if (!policy.equals("off")) {
            ProxyExtension.await("the count", () -> proxy.metrics().total(Counter.TLS_FAILURES_CLIENT_CERTIFICATE) > 0);
        }
        assertTrue(proxy.metrics().total(Counter.TLS_HANDSHAKES_1_3) > 0);
    }

    /** openssl writes the revocation list. A changed list is used without a reload, also for earlier sessions. */
    @Test
    void aClientThatIsRevokedWhileTheProxyServesIsRefused() throws Exception {
        CLIENT.write(directory, "client");
        run(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "30",
                "-keyout",
                "own.key",
                "-out",
                "own.pem",
                "-subj",
                "/CN=own authority");
        Files.writeString(directory.resolve("index.txt"), "");
        Files.writeString(directory.resolve("number"), "01");
        Files.writeString(
                directory.resolve("ca.cnf"),
                "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ncrlnumber=number\nserial=number\ndefault_md=sha256\n"
                        + "default_crl_days=30\npolicy=p\nnew_certs_dir=.\ndefault_days=30\n[p]\ncommonName=supplied\n");
        run(
                "openssl",
                "req",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-keyout",
                "c.key",
                "-out",
                "c.csr",
                "-subj",
                "/CN=client");
        String[] authority = {"openssl", "ca", "-config", "ca.cnf", "-cert", "own.pem", "-keyfile", "own.key", "-batch"
        };
        run(authority, "-in", "c.csr", "-out", "c.pem", "-notext");
        run(authority, "-gencrl", "-out", "crl.pem");
        start(
                ", check_interval: 100ms",
                "client_certificates: require, client_ca_file: own.pem, client_revocation_file: crl.pem");
        assertTrue(isShownTo());
        run(authority, "-revoke", "c.pem");
        run(authority, "-gencrl", "-out", "crl.pem");
        ProxyExtension.await("the revocation list", () -> {
            try {
                return !isShownTo();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    private boolean isShownTo() throws Exception {
        return !openssl(
                        0,
                        "-tls1_2",
                        "-cert",
                        directory.resolve("c.pem").toString(),
                        "-key",
                        directory.resolve("c.key").toString())
                .contains("alert");
    }

    private void run(String[] words, String... more) throws Exception {
        List<String> line = new ArrayList<>(List.of(words));
        line.addAll(List.of(more));
        run(line.toArray(String[]::new));
    }

    private void run(String... words) throws Exception {
        Process process = new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }

    private boolean serves(SSLContext client, String protocol) throws Exception {
        try {
            connect(0, client, protocol);
            return true;
        } catch (SSLException e) {
            return false;
        }
    }

    /** CVE-2025-23419: a session without a client certificate opens no address that requires one. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aSessionIsNotResumedPastTheClientCertificate(String protocol) throws Exception {
        start(", client_ca_file: ca.pem", "", "client_certificates: require", "", "client_certificates: request");
        SSLContext client = AUTHORITY.clientContext(null);
        connect(0, client, protocol);
        assertTrue(connect(2, client, protocol), "resumed where the policy is the same");
        assertThrows(SSLException.class, () -> connect(1, client, protocol));
        SSLContext asked = AUTHORITY.clientContext(null);
        connect(3, asked, protocol);
        assertTrue(connect(3, asked, protocol), "resumed where a certificate is only asked for");
        assertThrows(SSLException.class, () -> connect(1, asked, protocol));
        SSLContext known = AUTHORITY.clientContext(CLIENT);
        connect(1, known, protocol);
        assertTrue(connect(1, known, protocol), "resumed with a certificate");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{address: ':1', tls: {client_certificates: require}} | client_ca_file: missing",
                "{address: ':1', tls: {min_version: TLSv1.3, max_version: TLSv1.2}} | min_version TLSv1.3 is newer than max_version TLSv1.2",
                "{address: ':1', tls: {min_version: TLSv1.1}} | TLSv1.1 is below the limit of TLSv1.2"
            })
    void reportsTheProblem(String listen, String problem) {
        String found = parse(listen, "").text();
        assertTrue(found.contains(problem), found);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ciphers: [NONE_SUCH] | NONE_SUCH is not a cipher suite",
                "client_certificates: require, client_ca_file: none.pem | none.pem: no such file",
                "client_certificates: require, client_ca_file: ca.pem, client_revocation_file: ca.pem | ca.pem"
            })
    void doesNotStartWithSettingsThatCannotBeUsed(String tls, String problem) {
        IOException refused = assertThrows(IOException.class, () -> start("", tls));
        assertTrue(refused.getMessage().contains(problem), refused.getMessage());
    }
}
