package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.data.TlsAdmin;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests TLS settings per name: chosen by the name in the ClientHello, and enforced for the following requests. */
class NameSettingsTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("names");
    private static final TestAuthority OTHERS = new TestAuthority("others");
    private static final Made CLIENT = AUTHORITY.issue("alice");

    @TempDir
    Path directory;

    private RawOrigin origin;
    private ProxyServer proxy;
    private String originFields = "Cache-Control: no-store\r\n";

    @BeforeEach
    void writeFiles() throws IOException {
        origin = new RawOrigin(exchange -> exchange.ok(originFields, RawInput.latin1(exchange.head())));
        Files.writeString(directory.resolve("ca.pem"), AUTHORITY.rootPem());
        Files.writeString(directory.resolve("other.pem"), OTHERS.rootPem());
        for (String name : new String[] {"open", "asked", "strict", "foreign"}) {
            // One certificate covers all names, as a wildcard does: HTTP/2 lets clients use one connection for all of
            // them.
            Made made = AUTHORITY.issue(
                    name + ".example", "open.example", "asked.example", "strict.example", "foreign.example");
            Files.writeString(directory.resolve(name + "-site.pem"), made.chainPem() + made.keyPem());
        }
    }

    @AfterEach
    void close() throws IOException {
        if (proxy != null) {
            proxy.close();
        }
        origin.close();
    }

    private static String element(String name, String settings) {
        return "{certificate: " + name + "-site.pem, names: [" + name + ".example]" + settings + "}";
    }

    private void start(String general, String... elements) throws IOException {
        ConfigResult result = parse(general, elements);
        assertTrue(result.config() != null, result::text);
        proxy = ProxyServer.builder().config(result.config()).build();
        proxy.start();
    }

    private ConfigResult parse(String general, String... elements) {
        return ConfigLoader.parse(
                "listen: [{address: '127.0.0.1:0', tls: {}}, '127.0.0.1:0']\ntls: {certificates: ["
                        + String.join(", ", elements) + "]" + general + "}\nremap: [{map: /, to: '" + origin.url()
                        + "'}]",
                "millrace.yaml",
                directory,
                Map.of("log.access.enabled", "false", "worker.event_loops", "1", "cache.ram_size", "32MiB"));
    }

    /** Starts with four names, from one without client certificates to one with other authorities. */
    private void startPolicies() throws IOException {
        start(
                ", client_ca_file: ca.pem",
                element("open", ""),
                element("asked", ", client_certificates: request"),
                element("strict", ", client_certificates: require"),
                element("foreign", ", client_certificates: require, client_ca_file: other.pem"));
    }

    private SSLSocket dial(SSLContext client, String name, String... protocols) throws IOException {
        InetSocketAddress address = proxy.addresses().get(0);
        Socket plain = new Socket();
        plain.connect(address);
        plain.setSoTimeout(RawClient.WAIT_MILLIS);
        SSLSocket socket =
                (SSLSocket) client.getSocketFactory().createSocket(plain, "open.example", address.getPort(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(name)));
        parameters.setApplicationProtocols(protocols);
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    /** Returns the response to a request for a host on a connection that was made for a name. */
    private RawClient.Response get(SSLSocket socket, boolean http2, String host, String... more) throws Exception {
        if (http2) {
            List<String> fields = new ArrayList<>(List.of(request("GET", "/a")));
            fields.set(3, "https");
            fields.set(5, host);
            for (String line : more) {
                int colon = line.indexOf(':');
                fields.add(line.substring(0, colon).toLowerCase(Locale.ROOT));
                fields.add(line.substring(colon + 2));
            }
            Http2Client.Response response = new Http2Client(socket)
                    .headers(1, true, fields.toArray(String[]::new))
                    .response(1);
            return new RawClient.Response(response.status(), response.fields(), response.content());
        }
        StringBuilder lines = new StringBuilder();
        for (String line : more) {
            lines.append(line).append("\r\n");
        }
        return new RawClient(socket)
                .send("GET /a HTTP/1.1\r\nHost: " + host + "\r\n" + lines + "\r\n")
                .response();
    }

    @Test
    void theNameInTheHelloChoosesVersionsSuitesAndProtocols() throws Exception {
        start(
                "",
                element("open", ""),
                element("asked", ", max_version: TLSv1.2, ciphers: [TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256]"),
                element("strict", ", min_version: TLSv1.3, http2: false"));
        SSLContext client = AUTHORITY.clientContext(null);
        try (SSLSocket socket = dial(client, "open.example", "h2", "http/1.1")) {
            assertEquals("TLSv1.3", socket.getSession().getProtocol());
            assertEquals("h2", socket.getApplicationProtocol());
        }
        try (SSLSocket socket = dial(AUTHORITY.clientContext(null), "asked.example", "h2", "http/1.1")) {
            assertEquals("TLSv1.2", socket.getSession().getProtocol());
            assertEquals(
                    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                    socket.getSession().getCipherSuite());
            assertEquals("h2", socket.getApplicationProtocol());
        }
        try (SSLSocket socket = dial(AUTHORITY.clientContext(null), "strict.example", "h2", "http/1.1")) {
            assertEquals("", socket.getApplicationProtocol());
            assertEquals(200, get(socket, false, "strict.example").status());
        }
    }

    /** A name with a stricter policy than that of the handshake is not served, with any protocol. */
    @ParameterizedTest
    @CsvSource({
        "open, open, false, 200",
        "open, asked, false, 421",
        "open, strict, false, 421",
        "open, strict.example., false, 421",
        "open, STRICT.example:443, false, 421",
        "open, foreign, false, 421",
        "asked, strict, true, 421",
        "asked, open, false, 200",
        "strict, asked, true, 200",
        "strict, open, true, 200",
        "strict, strict, true, 200",
        "strict, foreign, true, 421",
        "unknown, strict, false, 421",
        "unknown, open, false, 200"
    })
    void hostsWithAStricterPolicyAreMisdirected(String sni, String host, boolean shows, int status) throws Exception {
        startPolicies();
        String authority = host.contains(".") ? host : host + ".example";
        for (boolean http2 : new boolean[] {false, true}) {
            SSLContext client = AUTHORITY.clientContext(shows ? CLIENT : null);
            try (SSLSocket socket = dial(client, sni + ".example", http2 ? "h2" : "http/1.1")) {
                long before = proxy.metrics().total(Counter.DENIED_CLIENT_CERTIFICATE);
                RawClient.Response response = get(socket, http2, authority);
                assertEquals(status, response.status(), http2 ? "HTTP/2" : "HTTP/1.1");
                boolean counted = status == 421 && !authority.endsWith(".");
                if (counted) {
                    assertEquals(before + 1, proxy.metrics().total(Counter.DENIED_CLIENT_CERTIFICATE));
                }
            }
        }
        assertEquals(status == 200 ? 2 : 0, origin.requests());
    }

    /** The check also applies to stored responses. */
    @Test
    void aHitOfAStricterNameIsMisdirectedToo() throws Exception {
        originFields = "Cache-Control: max-age=600\r\n";
        startPolicies();
        try (SSLSocket socket = dial(AUTHORITY.clientContext(CLIENT), "strict.example")) {
            assertEquals(200, get(socket, false, "strict.example").status());
        }
        try (SSLSocket socket = dial(AUTHORITY.clientContext(null), "open.example")) {
            RawClient client = new RawClient(socket);
            for (int i = 0; i < 2; i++) {
                client.send("GET /a HTTP/1.1\r\nHost: strict.example\r\n\r\n");
                assertEquals(421, client.response().status());
            }
            client.send("GET /a HTTP/1.1\r\nHost: open.example\r\n\r\n");
            assertEquals(200, client.response().status());
        }
    }

    /** CVE-2025-23419 between names of one address: openssl offers a session for any name. */
    @ParameterizedTest
    @CsvSource({"-tls1_2, open", "-tls1_2, asked", "-tls1_3, open", "-tls1_3, asked"})
    void aSessionOfAnotherNameOpensNoStricterOne(String version, String name) throws Exception {
        startPolicies();
        String session = directory.resolve("session").toString();
        String first = openssl(name, version, "-sess_out", session);
        assertTrue(first.contains("New, TLSv1.") && first.contains("HTTP/1.1 200 "), first);
        String same = openssl(name, version, "-sess_in", session);
        assertTrue(same.contains("Reused, TLSv1.") && same.contains("HTTP/1.1 200 "), same);
        String stricter = openssl("strict", version, "-sess_in", session);
        assertFalse(stricter.contains("Reused, TLSv1.") || stricter.contains("HTTP/1.1 200 "), stricter);
        CLIENT.write(directory, "alice");
        String known = openssl(
                "strict",
                version,
                "-cert",
                directory.resolve("alice.crt").toString(),
                "-cert_chain",
                directory.resolve("alice.crt").toString(),
                "-key",
                directory.resolve("alice.key").toString());
        assertTrue(known.contains("HTTP/1.1 200 "), known);
    }

    /** Returns the output of openssl for a request to a name. */
    private String openssl(String name, String... options) throws Exception {
        List<String> line = new ArrayList<>(List.of(
                "openssl",
                "s_client",
                "-ign_eof",
                "-connect",
                "127.0.0.1:" + proxy.addresses().get(0).getPort(),
                "-servername",
                name + ".example"));
        line.addAll(List.of(options));
        Path request = Files.writeString(
                directory.resolve("request"),
                "GET /a HTTP/1.1\r\nHost: " + name + ".example\r\nConnection: close\r\n\r\n");
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectInput(request.toFile())
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }

    @Test
    void originsGetTheSubjectAndNothingForged() throws Exception {
        start(
                ", client_ca_file: ca.pem, client_subject_field: X-Client-Subject",
                element("open", ""),
                element("asked", ", client_certificates: request"));
        String[] forged = {"X-Client-Subject: CN=eve", "x_client-SUBJECT: CN=eve", "x_client_subject: CN=eve"};
        for (boolean http2 : new boolean[] {false, true}) {
            for (String name : new String[] {"open", "asked"}) {
                for (Made made : new Made[] {null, CLIENT}) {
                    try (SSLSocket socket =
                            dial(AUTHORITY.clientContext(made), name + ".example", http2 ? "h2" : "http/1.1")) {
                        String head =
                                get(socket, http2, name + ".example", forged).text();
                        boolean told = name.equals("asked") && made != null;
                        assertFalse(head.contains("eve"), head);
                        assertEquals(told, head.contains("\r\nX-Client-Subject: CN=alice\r\n"), head);
                    }
                }
            }
        }
        try (RawClient plain = new RawClient(proxy.addresses().get(1))) {
            String head = plain.send(
                            "GET /a HTTP/1.1\r\nHost: open.example\r\n" + String.join("\r\n", forged) + "\r\n\r\n")
                    .response()
                    .text();
            assertFalse(head.toLowerCase(Locale.ROOT).contains("subject"), head);
        }
    }

    /** A response that varies by the field is for one client only; its key contains no part of the certificate. */
    @Test
    void aResponseThatVariesByTheSubjectIsNotStored() throws Exception {
        originFields = "Cache-Control: max-age=600\r\nVary: x-client-subject\r\n";
        start(
                ", client_ca_file: ca.pem, client_certificates: request, client_subject_field: X-Client-Subject",
                element("open", ""));
        for (int i = 0; i < 2; i++) {
            try (SSLSocket socket = dial(AUTHORITY.clientContext(CLIENT), "open.example")) {
                assertTrue(get(socket, false, "open.example").text().contains("CN=alice"));
            }
        }
        try (SSLSocket socket = dial(AUTHORITY.clientContext(null), "open.example")) {
            assertFalse(get(socket, false, "open.example").text().contains("CN=alice"));
        }
        assertEquals(3, origin.requests());
    }

    @ParameterizedTest
    @CsvSource({
        "'', open, max-age=600; includeSubDomains",
        "'', strict, max-age=31536000; includeSubDomains; preload",
        "'', asked, max-age=0",
        "'Strict-Transport-Security: max-age=7\r\n', open, max-age=7",
        "'strict-transport-security: max-age=7\r\n', strict, max-age=7"
    })
    void strictTransportSecurityOfEachName(String own, String name, String expected) throws Exception {
        originFields = "Cache-Control: max-age=600\r\n" + own;
        start(
                ", hsts: {max_age: 10m, include_subdomains: true}",
                element("open", ""),
                element("asked", ", hsts: {max_age: 0s}"),
                element("strict", ", hsts: {max_age: 365d, include_subdomains: true, preload: true}"));
        for (boolean http2 : new boolean[] {false, true}) {
            // A miss, followed by hits.
            for (int i = 0; i < 3; i++) {
                try (SSLSocket socket =
                        dial(AUTHORITY.clientContext(null), name + ".example", http2 ? "h2" : "http/1.1")) {
                    String head = get(socket, http2, name + ".example").head();
                    assertEquals(expected, RawClient.field(head, "strict-transport-security"), head);
                    assertEquals(2, head.toLowerCase(Locale.ROOT).split("strict-transport-security", -1).length, head);
                }
            }
        }
        try (RawClient plain = new RawClient(proxy.addresses().get(1))) {
            String head = plain.send("GET /a HTTP/1.1\r\nHost: " + name + ".example\r\n\r\n")
                    .response()
                    .head();
            assertEquals(own.isEmpty() ? null : "max-age=7", RawClient.field(head, "strict-transport-security"), head);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                ", client_certificates: require | tls.certificates[0].client_ca_file: missing",
                ", min_version: TLSv1.3, max_version: TLSv1.2 | min_version TLSv1.3 is newer than max_version TLSv1.2",
                ", hsts: {preload: true} | tls.certificates[0].hsts.max_age: missing",
                ", hsts: {max_age: 1d, preload: true} | needs include_subdomains: true and a max_age of at least 365d",
                ", hsts: {max_age: 11000d} | tls.certificates[0].hsts.max_age: 11000d is above the limit"
            })
    void reportsTheProblem(String settings, String problem) {
        String found = parse("", element("open", settings)).text();
        assertTrue(found.contains(problem), found);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Host", "x client", "Via"})
    void refusesFieldsThatCannotCarryTheSubject(String name) {
        String found = parse(", client_subject_field: '" + name + "'", element("open", ""))
                .text();
        assertTrue(found.contains("tls.client_subject_field: "), found);
    }

    @Test
    void operatorsSeeTheSettings() throws Exception {
        start(
                "",
                element("open", ""),
                element(
                        "strict",
                        ", client_certificates: request, client_ca_file: ca.pem, http2: false, hsts: {max_age: 1h}"));
        assertEquals(
                List.of(
                        List.of(),
                        List.of(
                                "client_certificates: request",
                                "client_ca_file: " + directory.resolve("ca.pem"),
                                "hsts: max-age=3600",
                                "http2: false")),
                new TlsAdmin(proxy.serverTls(), System::currentTimeMillis)
                        .certificates().stream().map(each -> each.settings()).toList());
    }

    /** A certificate with unusable settings is refused with the reason, and does not affect other certificates. */
    @Test
    void wrongSettingsOfANameTakeNoOtherDown() throws Exception {
        start("", element("open", ""), element("strict", ", ciphers: [NONE_SUCH]"));
        try (SSLSocket socket = dial(AUTHORITY.clientContext(null), "open.example")) {
            assertEquals(200, get(socket, false, "open.example").status());
        }
        List<String> problems = new TlsAdmin(proxy.serverTls(), System::currentTimeMillis)
                .certificates().stream()
                        .map(each -> String.valueOf(each.problem()))
                        .toList();
        assertTrue(problems.get(1).contains("ciphers: NONE_SUCH is not a cipher suite"), problems::toString);
    }
}
