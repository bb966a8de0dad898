package io.millrace.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.acme.ChallengeAnswers;
import io.millrace.proxy.config.AcmeConfig;
import io.millrace.proxy.config.AcmeKeys;
import io.millrace.proxy.config.ConfigValues;
import io.millrace.proxy.config.ProxyConfig;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The ACME client against pebble, which refuses one nonce in five. Needs pebble, pebble-challtestsrv (in PATH or in
 * GOBIN) and openssl.
 */
@Tag("nightly")
class PebbleTest {
    private static final String NAME = "www.example.com";
    private static final String BLOCKED = "blocked.example.org";

    @TempDir
    Path directory;

    private final List<Process> started = new ArrayList<>();
    private HttpServer http;
    private AcmeService service;
    private int port;
    private int dns;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(program("pebble") != null && program("pebble-challtestsrv") != null, "pebble is not installed");
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext(ChallengeAnswers.PATH, exchange -> {
            String token = exchange.getRequestURI().getPath().substring(ChallengeAnswers.PATH.length());
            byte[] answer = Files.readAllBytes(new AcmeFiles(storage()).tokens().resolve(token));
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        http.start();
        port = freePort();
        dns = freePort();
        int management = freePort();
        certificates();
        Files.writeString(directory.resolve("pebble.json"), """
                {"pebble": {"listenAddress": "127.0.0.1:%d", "managementListenAddress": "127.0.0.1:%d",
                "certificate": "wfe.pem", "privateKey": "wfe.key", "httpPort": %d, "tlsPort": 1, "ocspResponderURL": "",
                "externalAccountBindingRequired": false, "domainBlocklist": ["%s"], "retryAfter": {"authz": 1, "order": 1},
                "keyAlgorithm": "ecdsa", "profiles": {"default": {"description": "d", "validityPeriod": 7776000}}}}
                """.formatted(
                        port, management, http.getAddress().getPort(), BLOCKED));
        run(
                "pebble-challtestsrv",
                "-http01",
                "",
                "-https01",
                "",
                "-tlsalpn01",
                "",
                "-doh",
                "",
                "-dnsserver",
                "127.0.0.1:" + dns,
                "-management",
                "127.0.0.1:" + freePort(),
                "-defaultIPv6",
                "");
        run("pebble", "-config", "pebble.json", "-dnsserver", "127.0.0.1:" + dns);
        Awaitility.await("pebble listens").atMost(Duration.ofSeconds(20)).until(() -> listens(port));
    }

    @AfterEach
    void stop() throws Exception {
        if (service != null) {
            service.close();
        }
        if (http != null) {
            http.stop(0);
        }
        for (Process each : started) {
            each.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void issuesRenewsAndSurvivesAnIssuerThatIsGone() throws Exception {
        AcmeConfig config = config(NAME);
        service = new AcmeService(() -> config, System::currentTimeMillis);
        service.tick();
        AcmeRecord first = record();
        assertEquals("", first.error());
        String certificate = Files.readString(storage().resolve("certificates").resolve(NAME + ".pem"));
        assertEquals(
                List.of(List.of(2, NAME)),
                List.copyOf(AcmeIssuer.leaf(certificate).getSubjectAlternativeNames()));

        AcmeRecord second = forced(config);
        assertEquals("", second.error());
        String renewed = Files.readString(storage().resolve("certificates").resolve(NAME + ".pem"));
        assertNotEquals(certificate, renewed);

        started.get(1).destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        AcmeRecord third = forced(config);
        assertTrue(third.failures() == 1 && third.retrySeconds() > 0, third::text);
        assertEquals(renewed, Files.readString(storage().resolve("certificates").resolve(NAME + ".pem")));
    }

    @Test
    void refusedNameIsReportedWithTheIssuersReason() throws Exception {
        AcmeConfig config = config(BLOCKED);
        service = new AcmeService(() -> config, System::currentTimeMillis);
        service.tick();
        assertEquals("failing", record().state(System.currentTimeMillis() / 1000));
        assertTrue(record().error().contains("forbidden by policy"), record()::error);
    }

    private AcmeRecord forced(AcmeConfig config) throws Exception {
        DirectoryStorage storage = DirectoryStorage.open(storage());
        AcmeIssuer issuer = new AcmeIssuer(config, storage, System::currentTimeMillis);
        return new NameIssuance(config, storage, issuer, () -> 0.5)
                .order(record(), System.currentTimeMillis() / 1000, true);
    }

    private Path storage() {
        return directory.resolve("acme");
    }

    private AcmeRecord record() throws IOException {
        return AcmeRecord.all(new AcmeFiles(storage())).get(0);
    }

    private AcmeConfig config(String name) {
        return ProxyConfig.builder()
                .set("tls.acme.names", name)
                .set("tls.acme.accept_terms", "true")
                .set("tls.acme.ca_file", directory.resolve("ca.pem").toString())
                .acmeIssuer(ConfigValues.builder()
                        .set(AcmeKeys.DIRECTORY, "https://127.0.0.1:" + port + "/dir")
                        .build())
                .build()
                .acme()
                .storedIn(storage());
    }

    private void certificates() throws Exception {
        Files.writeString(directory.resolve("ext"), "subjectAltName=IP:127.0.0.1\n");
        for (String line : List.of(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=ca",
                "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout wfe.key -out wfe.csr -subj /CN=wfe",
                "x509 -req -in wfe.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out wfe.pem -days 2 -extfile ext")) {
            List<String> command = new ArrayList<>(List.of("openssl"));
            command.addAll(List.of(line.split(" ")));
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), said);
        }
    }

    private void run(String program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(String.valueOf(program(program))));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(program + ".log").toFile());
        builder.environment().put("PEBBLE_VA_NOSLEEP", "1");
        builder.environment().put("PEBBLE_WFE_NONCEREJECT", "20");
        started.add(builder.start());
    }

    private static Path program(String name) {
        String path = System.getenv("PATH") + File.pathSeparator + System.getenv("GOBIN") + File.pathSeparator
                + System.getProperty("user.home") + "/go/bin";
        for (String each : path.split(File.pathSeparator, -1)) {
            Path file = Path.of(each, name);
            if (Files.isExecutable(file)) {
                return file;
            }
        }
        return null;
    }

    private static boolean listens(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
