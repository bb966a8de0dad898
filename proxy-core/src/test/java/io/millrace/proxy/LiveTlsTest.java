package io.millrace.proxy;

import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Certificates of addresses that speak TLS, changed while they serve. */
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

    /** The common name of the certificate that a client gets; the alert where it gets none. */
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

    /** An hour is longer than the test lasts. */
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

    /** A client resumes the session of its last connection where the file still has the key. */
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
