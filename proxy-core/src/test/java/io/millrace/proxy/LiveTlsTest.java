package io.millrace.proxy;

import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.millrace.proxy.tls.ocsp.OcspServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of certificates. */
class LiveTlsTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("live");
    private static final Made ONE = AUTHORITY.issue("one.example");
    private static final Made TWO = AUTHORITY.issue("two.example");

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    @BeforeEach
    void writeCertificates() throws IOException {
        Files.createDirectory(directory.resolve("1"));
        Files.createDirectory(directory.resolve("2"));
        ONE.write(directory.resolve("1"), "c");
        TWO.write(directory.resolve("2"), "c");
        Files.writeString(directory.resolve("two.pem"), TWO.chainPem() + TWO.keyPem());
    }

    private LiveProxy file(String tls) {
        return live.in(directory)
                .file("listen: ['127.0.0.1:0', {address: '127.0.0.1:0', tls: {}}]\ntls: {" + tls + "}");
    }

    /** Returns the common name of the certificate that a client receives, or the alert. */
    private String shown(String name) throws IOException {
        try {
            X509Certificate shown =
                    AUTHORITY.shown(live.proxy().proxy().addresses().get(1), name);
            return shown.getSubjectX500Principal().getName();
        } catch (SSLException e) {
            return "refused";
        }
    }

    @LiveKey("tls.certificates")
    void certificates() throws Exception {
        file("certificates: [{certificate: 1/c.crt, key: 1/c.key}<|, {certificate: two.pem}>]")
                .turns("CN=one.example", "CN=two.example", () -> shown("two.example"));
    }

    @LiveKey("tls.certificates[].certificate")
    void certificate() throws Exception {
        file("certificates: [{certificate: <1/c.crt|two.pem>, key: <1|2>/c.key}]")
                .turns("CN=one.example", "CN=two.example", () -> shown("two.example"));
    }

    @LiveKey("tls.certificates[].key")
    void key() throws Exception {
        file("certificates: [{certificate: 1/c.crt, key: 1/c.key}, {certificate: 2/c.crt, key: <1|2>/c.key}]")
                .turns("CN=one.example", "CN=two.example", () -> shown("two.example"));
    }

    @LiveKey("tls.certificates[].directory")
    void directory() throws Exception {
        file("certificates: [{directory: <1|2>}]")
                .turns("CN=one.example", "CN=two.example", () -> shown("two.example"));
    }

    @LiveKey("tls.certificates[].names")
    void names() throws Exception {
        file("certificates: [{directory: 1}, {directory: 2, names: ['<x|y>.example']}]")
                .turns("CN=one.example", "CN=two.example", () -> shown("y.example"));
    }

    /** Returns the output of openssl for a handshake with a name. OpenSSL before 3.2 writes {@code CN = name}. */
    private String agreed(String name, String... options) throws Exception {
        Process process = new ProcessBuilder(Stream.concat(
                                Stream.of(
                                        "openssl",
                                        "s_client",
                                        "-connect",
                                        "127.0.0.1:"
                                                + live.proxy()
                                                        .proxy()
                                                        .addresses()
                                                        .get(1)
                                                        .getPort(),
                                        "-servername",
                                        name),
                                Stream.of(options))
                        .toList())
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output.replace("CN = ", "CN=");
    }

    private boolean agrees(String text, String... options) throws Exception {
        return agreed("one.example", options).contains(text);
    }

    @LiveKey("tls.certificates[].min_version")
    void minVersionOfNames() throws Exception {
        file("certificates: [{directory: 1, min_version: <TLSv1.2|TLSv1.3>}]")
                .turns(true, false, () -> agrees("New, TLSv1.2", "-tls1_2"));
    }

    @LiveKey("tls.certificates[].max_version")
    void maxVersionOfNames() throws Exception {
        file("certificates: [{directory: 1, max_version: <TLSv1.2|TLSv1.3>}]")
                .turns(false, true, () -> agrees("New, TLSv1.3"));
    }

    @LiveKey("tls.certificates[].ciphers")
    void ciphersOfNames() throws Exception {
        file("certificates: [{directory: 1, ciphers: [TLS_ECDHE_ECDSA_WITH_AES_<128_GCM_SHA256|256_GCM_SHA384>]}]")
                .turns(true, false, () -> agrees("ECDHE-ECDSA-AES128-GCM-SHA256", "-tls1_2"));
    }

    @LiveKey("tls.certificates[].groups")
    void groupsOfNames() throws Exception {
        file("certificates: [{directory: 1, groups: [<P-384|x25519>]}]")
                .turns(false, true, () -> agrees("X25519", "-groups", "X25519"));
    }

    private void writeAuthorities() throws IOException {
        Files.writeString(directory.resolve("ca.pem"), AUTHORITY.rootPem());
        Files.writeString(directory.resolve("other.pem"), new TestAuthority("other").rootPem());
    }

    @LiveKey("tls.certificates[].client_certificates")
    void clientCertificatesOfNames() throws Exception {
        writeAuthorities();
        file("certificates: [{directory: 1, client_ca_file: ca.pem, client_certificates: <off|request>}]")
                .turns(false, true, () -> agrees("Acceptable client certificate CA names", "-tls1_2"));
    }

    @LiveKey("tls.certificates[].client_ca_file")
    void clientAuthoritiesOfNames() throws Exception {
        writeAuthorities();
        file("certificates: [{directory: 1, client_ca_file: <ca|other>.pem, client_certificates: request}]")
                .turns(true, false, () -> agrees("client certificate CA names\nCN=live root", "-tls1_2"));
    }

    /**
     * openssl has no list of this authority. An empty file is not a list, so the certificate is refused with its
     * settings.
     */
    @LiveKey("tls.certificates[].client_revocation_file")
    void clientRevocationsOfNames() throws Exception {
        writeAuthorities();
        Files.writeString(directory.resolve("a.crl"), "");
        Files.writeString(directory.resolve("b.crl"), "");
        file("certificates: [{directory: 1, client_ca_file: ca.pem, client_certificates: request,"
                        + " client_revocation_file: <a|b>.crl}]")
                .turns(true, false, () -> live.proxy().proxy().serverTls().report().lines().stream()
                        .anyMatch(line -> String.valueOf(line.problem()).contains("a.crl: has no revocation list")));
    }

    private String security() throws IOException {
        try (SSLSocket socket = TestAuthority.dial(
                AUTHORITY.clientContext(null), live.proxy().proxy().addresses().get(1), "one.example")) {
            return new RawClient(socket)
                    .send("GET /" + System.nanoTime() + " HTTP/1.1\r\nHost: one.example\r\n\r\n")
                    .response()
                    .field("strict-transport-security");
        }
    }

    @LiveKey("tls.certificates[].hsts.max_age")
    void securityOfNames() throws Exception {
        file("certificates: [{directory: 1, hsts: {max_age: <1m|2m>}}]")
                .turns("max-age=60", "max-age=120", this::security);
    }

    @LiveKey("tls.certificates[].hsts.include_subdomains")
    void subdomainsOfNames() throws Exception {
        file("certificates: [{directory: 1, hsts: {max_age: 1m, include_subdomains: <false|true>}}]")
                .turns("max-age=60", "max-age=60; includeSubDomains", this::security);
    }

    @LiveKey("tls.certificates[].hsts.preload")
    void preloadOfNames() throws Exception {
        file("certificates: [{directory: 1, hsts: {max_age: 365d, include_subdomains: true, preload: <false|true>}}]")
                .turns(
                        "max-age=31536000; includeSubDomains",
                        "max-age=31536000; includeSubDomains; preload",
                        this::security);
    }

    @LiveKey("tls.certificates[].ocsp_stapling")
    void staplesOfNames() throws Exception {
        try (OcspServer responder = new OcspServer()) {
            Made made = AUTHORITY.issueWithResponder(responder.url(), false, TestAuthority.ecKeys(), "stapled.example");
            made.write(directory, "stapled");
            responder.answerFor(AUTHORITY, made, Instant.ofEpochMilli(ProxyExtension.START_MILLIS));
            file("certificates: [{certificate: stapled.crt, key: stapled.key, ocsp_stapling: <true|false>}]")
                    .turns(true, false, () -> {
                        if (!live.isChanged()) {
                            Awaitility.await("the staple").until(() -> isStapled("stapled.example"));
                        }
                        return isStapled("stapled.example");
                    });
        }
    }

    private boolean isStapled(String name) throws Exception {
        return agreed(name, "-status").contains("OCSP Response Status: successful");
    }

    @LiveKey("tls.certificates[].http2")
    void http2OfNames() throws Exception {
        file("certificates: [{directory: 1, http2: <true|false>}]")
                .turns(true, false, () -> agrees("ALPN protocol: h2", "-alpn", "h2"));
    }

    @LiveKey("tls.client_subject_field")
    void clientSubjectField() throws Exception {
        writeAuthorities();
        live.echoes();
        file("certificates: [{directory: 1, client_ca_file: ca.pem, client_certificates: request}],"
                        + " client_subject_field: X-<One|Two>")
                .turns("X-One: CN=alice", "X-Two: CN=alice", () -> {
                    SSLContext client = AUTHORITY.clientContext(AUTHORITY.issue("alice"));
                    try (SSLSocket socket = TestAuthority.dial(
                            client, live.proxy().proxy().addresses().get(1), "one.example")) {
                        return new RawClient(socket)
                                .send("GET /a HTTP/1.1\r\nHost: one.example\r\n\r\n")
                                .response()
                                .text()
                                .lines()
                                .filter(line -> line.contains("alice"))
                                .findFirst()
                                .orElse("");
                    }
                });
    }

    @LiveKey("tls.default_certificate")
    void defaultCertificate() throws Exception {
        file("certificates: [{directory: 1}, {directory: 2}], default_certificate: <one|two>.example")
                .turns("CN=one.example", "CN=two.example", () -> shown(null));
    }

    @LiveKey("tls.unknown_name")
    void unknownName() throws Exception {
        file("certificates: [{directory: 1}], unknown_name: <default|reject>")
                .turns("CN=one.example", "refused", () -> shown("unknown.example"));
    }

    /** An hour is longer than the test. */
    @LiveKey("tls.check_interval")
    void checkInterval() throws Exception {
        file("certificates: [{directory: 1}], check_interval: <1h|100ms>")
                .turns("CN=one.example", "CN=two.example", () -> {
                    if (live.isChanged()) {
                        TWO.write(directory.resolve("1"), "c");
                        ProxyExtension.await("the certificate", () -> {
                            try {
                                return shown(null).equals("CN=two.example");
                            } catch (IOException e) {
                                return false;
                            }
                        });
                    }
                    return shown(null);
                });
    }

    /** A client resumes the session of its last connection if the file still contains the key. */
    @LiveKey("tls.ticket_keys_file")
    void ticketKeysFile() throws Exception {
        Files.write(directory.resolve("a.keys"), new byte[48]);
        byte[] other = new byte[48];
        other[0] = 1;
        Files.write(directory.resolve("b.keys"), other);
        SSLContext client = AUTHORITY.clientContext(null);
        file("certificates: [{directory: 1}], ticket_keys_file: <a|b>.keys").turns(true, false, () -> {
            if (!live.isChanged()) {
                isResumed(client);
            }
            return isResumed(client);
        });
    }

    private boolean isResumed(SSLContext client) throws IOException {
        try (SSLSocket socket =
                TestAuthority.dial(client, live.proxy().proxy().addresses().get(1), "one.example")) {
            boolean resumed = socket.getSession().getValue("seen") != null;
            socket.getSession().putValue("seen", "yes");
            socket.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: one.example\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().readAllBytes();
            return resumed;
        }
    }
}
