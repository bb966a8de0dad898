package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The ACME test issuer pebble with the name server of pebble-challtestsrv, where all names have the address 127.0.0.1.
 *
 * <p>Both programs are in PATH or in {@code ~/go/bin}. Confined to one thread.
 */
public final class Pebble implements AutoCloseable {
    /** A name that the issuer refuses. */
    public static final String BLOCKED = "blocked.example.org";

    private static final String PROGRAM = "pebble";
    private static final String NAME_SERVER = "pebble-challtestsrv";

    private final Path directory;
    private final int port = FreePorts.next();
    private final int management = FreePorts.next();
    private final int dns = FreePorts.next();
    private final int dnsManagement = FreePorts.next();
    private final Map<String, String> environment = new HashMap<>();
    private final List<Process> started = new ArrayList<>();
    private @Nullable Process issuer;

    private Pebble(Path directory) {
        this.directory = directory;
    }

    /** Skips the test where a program is missing. */
    public static void assumeInstalled() {
        Assumptions.assumeTrue(
                !program(PROGRAM).isEmpty() && !program(NAME_SERVER).isEmpty(),
                "SKIPPED: pebble is not installed; .ci/run installs it where Go is");
        Assumptions.assumeTrue(Command.isInstalled("openssl"), "SKIPPED: openssl is not installed");
    }

    /**
     * Starts both.
     *
     * @param http port on which names are verified by http-01
     * @param https port on which they are verified by tls-alpn-01
     * @param environment pebble's variables in addition to PEBBLE_VA_NOSLEEP
     */
    public static Pebble start(Path directory, int http, int https, Map<String, String> environment)
            throws IOException {
        Pebble pebble = new Pebble(directory);
        pebble.environment.putAll(environment);
        pebble.makeCertificates();
        Files.writeString(
                directory.resolve("pebble.json"), """
                {"pebble": {"listenAddress": "127.0.0.1:%d", "managementListenAddress": "127.0.0.1:%d",
                "certificate": "wfe.pem", "privateKey": "wfe.key", "httpPort": %d, "tlsPort": %d, "ocspResponderURL": "",
                "externalAccountBindingRequired": false, "domainBlocklist": ["%s"], "retryAfter": {"authz": 1, "order": 1},
                "keyAlgorithm": "ecdsa", "profiles": {"default": {"description": "d", "validityPeriod": 7776000}}}}
                """.formatted(pebble.port, pebble.management, http, https, BLOCKED));
        pebble.run(List.of(
                program(NAME_SERVER),
                "-http01=",
                "-https01=",
                "-tlsalpn01=",
                "-doh=",
                "-dnsserver=127.0.0.1:" + pebble.dns,
                "-management=127.0.0.1:" + pebble.dnsManagement,
                "-defaultIPv6="));
        await("the name server listens").atMost(Duration.ofSeconds(20)).until(() -> listens(pebble.dnsManagement));
        pebble.startIssuer();
        return pebble;
    }

    /** Starts the issuer again after {@link #kill}; it no longer knows any accounts. */
    public void startIssuer() throws IOException {
        issuer = run(List.of(program(PROGRAM), "-config", "pebble.json", "-dnsserver", "127.0.0.1:" + dns));
        await("pebble listens").atMost(Duration.ofSeconds(20)).until(() -> listens(port));
    }

    /** Kills the issuer. */
    public void kill() throws InterruptedException {
        if (issuer != null) {
            issuer.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    /** Returns the URL of the issuer's ACME directory. */
    public String url() {
        return "https://127.0.0.1:" + port + "/dir";
    }

    /** Returns the CA certificate that verifies the issuer's own address. */
    public Path caFile() {
        return directory.resolve("ca.pem");
    }

    /** Returns the shell command of a hook that sets and removes TXT records in the name server. */
    public String hook() {
        return """
                #!/bin/sh
                set -e
                case $1 in present) verb=set-txt;; cleanup) verb=clear-txt;; esac
                curl -sf -d "{\\"host\\": \\"$2\\", \\"value\\": \\"$3\\"}" http://127.0.0.1:%d/$verb
                """.formatted(dnsManagement);
    }

    /** Sets another address of a name. */
    public void pointElsewhere(String name, String address) throws Exception {
        post(
                "http://127.0.0.1:" + dnsManagement + "/add-a",
                "{\"host\": \"" + name + ".\", \"addresses\": [\"" + address + "\"]}");
    }

    /** Makes the issuer suggest a renewal of a certificate within a window (RFC 9773). */
    public void advise(String pem, Instant start, Instant end) throws Exception {
        int last = pem.indexOf("-----END CERTIFICATE-----");
        String first = pem.substring(0, last) + "-----END CERTIFICATE-----\n";
        String window = "{\"suggestedWindow\": {\"start\": \"" + start + "\", \"end\": \"" + end + "\"}}";
        post(
                "https://127.0.0.1:" + management + "/set-renewal-info/",
                "{\"Certificate\": " + quoted(first) + ", \"ARIResponse\": " + quoted(window) + "}");
    }

    private static String quoted(String text) {
        return '"' + text.replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    private void post(String url, String body) throws Exception {
        HttpClient client = HttpClient.newBuilder().sslContext(trust(caFile())).build();
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(URI.create(url))
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertEquals(200, response.statusCode(), response::body);
    }

    private static SSLContext trust(Path file) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var in = Files.newInputStream(file)) {
            store.setCertificateEntry("ca", (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), new SecureRandom());
        return context;
    }

    /** Returns the log of the issuer. */
    public String log() throws IOException {
        return Files.readString(directory.resolve("pebble.log"), StandardCharsets.UTF_8);
    }

    private void makeCertificates() throws IOException {
        Files.writeString(directory.resolve("ext"), "subjectAltName=IP:127.0.0.1\n");
        String key = "ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ";
        for (String line : List.of(
                "openssl req -x509 -newkey " + key + "ca.key -out ca.pem -subj /CN=ca",
                "openssl req -newkey " + key + "wfe.key -out wfe.csr -subj /CN=wfe",
                "openssl x509 -req -in wfe.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out wfe.pem -days 2"
                        + " -extfile ext")) {
            Command.run(directory, List.of(line.split(" ", -1))).succeeds();
        }
    }

    private Process run(List<String> line) throws IOException {
        String name = String.valueOf(Path.of(line.get(0)).getFileName());
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve(name + ".log").toFile()));
        builder.environment().put("PEBBLE_VA_NOSLEEP", "1");
        builder.environment().putAll(environment);
        Process process = builder.start();
        started.add(process);
        return process;
    }

    /** Returns an empty text if it is not installed. */
    private static String program(String name) {
        Path built = Path.of(System.getProperty("user.home"), "go", "bin", name);
        if (Files.isExecutable(built)) {
            return built.toString();
        }
        return Command.isInstalled(name) ? name : "";
    }

    private static boolean listens(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        started.forEach(Process::destroyForcibly);
    }
}
