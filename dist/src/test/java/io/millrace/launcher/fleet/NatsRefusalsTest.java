package io.millrace.launcher.fleet;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.fleet.config.ConfigStore;
import io.millrace.launcher.fleet.config.MissingPermissionException;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import io.millrace.system.NatsServer;
import io.millrace.system.SelfSignedCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the texts for NATS servers that refuse a node: credentials, certificates and permissions. */
class NatsRefusalsTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String PUBLISH =
            "\"millrace.cdn.purge.a\", \"millrace.cdn.node.a\", \"millrace.cdn.ask.*\", \"$JS.API.>\"";
    private static final String SUBSCRIBE = "\"millrace.cdn.node.*\", \"millrace.cdn.ask.a\", \"_INBOX.>\"";

    @TempDir
    Path directory;

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();

    @BeforeEach
    void needsAServer() {
        NatsServer.assumeInstalled();
    }

    private static FleetConfig settings(String url, @Nullable Path token, @Nullable Path authority) {
        return new FleetConfig(
                "cdn",
                List.of(url),
                "a",
                "edge",
                null,
                null,
                null,
                token,
                authority,
                null,
                null,
                FleetConfig.OnGap.VALIDATE,
                1,
                1L << 20,
                null);
    }

    private static String withUser(NatsServer server) {
        return server.url().replace("//", "//u:secret@");
    }

    private NatsServer start(String publish, String subscribe) throws IOException {
        return NatsServer.start(directory.resolve("nats"), "-c", permissions(publish, subscribe));
    }

    private String permissions(String publish, String subscribe) throws IOException {
        String text = "authorization { users = [ { user: u, password: secret, permissions: { publish: [" + publish
                + "], subscribe: [" + subscribe + "], allow_responses: true } } ] }\n";
        return Files.writeString(directory.resolve("nats.conf"), text).toString();
    }

    private static String without(String list, String subject) {
        return list.replace("\"" + subject + "\"", "\"other\"");
    }

    @ParameterizedTest
    @CsvSource({
        "true, millrace.cdn.purge.a, refused, publish to millrace.cdn.purge.a",
        "true, millrace.cdn.node.a, refused, publish to millrace.cdn.node.a",
        "true, $JS.API.>, disconnected, publish to $JS.API.>",
        "false, millrace.cdn.node.*, refused, subscribe to millrace.cdn.node.*",
        "false, _INBOX.>, disconnected, subscribe to _INBOX.>",
    })
    void aNodeNamesThePermissionThatItLacks(boolean isPublish, String subject, String word, String text)
            throws Exception {
        try (NatsServer server = start(
                        isPublish ? without(PUBLISH, subject) : PUBLISH,
                        isPublish ? SUBSCRIBE : without(SUBSCRIBE, subject));
                FleetMembership a = new FleetMembership(directory.resolve("a"), events::add, "1")) {
            a.setWorker((WorkerPurges) new FakeFleet().new Worker());
            a.apply(settings(withUser(server), null, null));
            await().atMost(LIMIT).until(() -> a.status().problem().contains("the permission to " + text + ": permit"));
            assertEquals(word, a.status().state());
            assertTrue(a.prometheusText().contains("millrace_fleet_connected{application=\"millrace\"} 0.0"));
            await().atMost(LIMIT).until(() -> events.stream()
                    .anyMatch(event ->
                            event.kind() == EventKind.FLEET_DOWN && event.text().contains(text)));
        }
    }

    @Tag("nightly")
    @ParameterizedTest
    @ValueSource(strings = {"millrace.cdn.purge.a", "millrace.cdn.node.*"})
    void aNodeIsConnectedWithThePermissionsOfTheGuideAndAfterTheyWereGranted(String refused) throws Exception {
        try (NatsServer server = start(without(PUBLISH, refused), without(SUBSCRIBE, refused));
                FleetMembership a = new FleetMembership(directory.resolve("a"), events::add, "1")) {
            a.setWorker((WorkerPurges) new FakeFleet().new Worker());
            a.apply(settings(withUser(server), null, null));
            await().atMost(LIMIT).until(() -> a.status().state().equals("refused"));
            permissions(PUBLISH, SUBSCRIBE);
            server.reload();
            await().atMost(LIMIT).until(() -> a.status().state().equals("connected"));
            assertEquals("", a.status().problem());
            assertTrue(events.stream().anyMatch(event -> event.kind() == EventKind.FLEET_UP));
            assertEquals(0, a.status().streamLast(), "the check of the permissions is not stored");
            assertEquals(0, new FleetOutboxFile(directory.resolve("a")).size());
        }
    }

    /** Purges need neither permission, so the node is connected. */
    @Tag("nightly")
    @Test
    void aPushAndAQueryNameThePermissionThatTheyLack() throws Exception {
        try (NatsServer server = start(without(PUBLISH, "millrace.cdn.ask.*"), SUBSCRIBE);
                FleetLink link = NatsLink.open(settings(withUser(server), null, null))) {
            ConfigStore store = link.configStore();
            IOException push =
                    assertThrows(MissingPermissionException.class, () -> store.put("head", "x".getBytes(US_ASCII)));
            assertTrue(push.getMessage().contains("publish to $KV.MILLRACE_cdn_config.>: permit"), push::getMessage);
            assertEquals("", link.queryRefusal("b"));
            assertThrows(ExecutionException.class, () -> link.ask("b", new byte[0], Duration.ofSeconds(2))
                    .get());
            assertTrue(link.queryRefusal("b").contains("publish to millrace.cdn.ask.b: permit"));
            assertEquals("", link.problem());
        }
    }

    @Tag("nightly")
    @Test
    void aNodeConnectsAgainAfterItsCredentialsWereRefusedForATime() throws Exception {
        try (NatsServer server = start(PUBLISH, SUBSCRIBE);
                FleetMembership a = new FleetMembership(directory.resolve("a"), events::add, "1")) {
            a.setWorker((WorkerPurges) new FakeFleet().new Worker());
            a.apply(settings(withUser(server), null, null));
            await().atMost(LIMIT).until(() -> a.status().state().equals("connected"));
            Path file = directory.resolve("nats.conf");
            Files.writeString(file, Files.readString(file).replace("secret", "other"));
            server.reload();
            // The client of NATS gives up after two refusals in succession.
            await().atMost(LIMIT).until(() -> a.status().problem().contains("refused the authorization"));
            assertEquals("disconnected", a.status().state());
            await().atMost(LIMIT).until(() -> server.log().split("authentication error", -1).length > 3);
            permissions(PUBLISH, SUBSCRIBE);
            server.reload();
            await().atMost(LIMIT).until(() -> a.status().state().equals("connected"));
        }
    }

    @Test
    void aRefusedAuthorizationNamesServerAndKey() throws Exception {
        Path wrong = Files.writeString(directory.resolve("wrong"), "nonsense\n");
        try (NatsServer server = NatsServer.start(directory.resolve("nats"), "--auth", "secret")) {
            String begin = "the NATS server 127.0.0.1:" + server.port() + " refused the authorization of this node";
            String text = refusal(settings(server.url(), wrong, null));
            assertTrue(text.startsWith(begin), text);
            assertTrue(text.contains("compare fleet.token_file with the users of the server"), text);
            text = refusal(settings(server.url(), null, null));
            assertTrue(text.startsWith(begin), text);
            assertTrue(text.contains("set fleet.nkey_file, fleet.credentials_file or fleet.token_file"), text);
        }
    }

    @Test
    void aCertificateThatIsNotTrustedNamesServerAndKey() throws Exception {
        SelfSignedCertificate right =
                SelfSignedCertificate.write(Files.createDirectories(directory.resolve("r")), "localhost");
        SelfSignedCertificate other =
                SelfSignedCertificate.write(Files.createDirectories(directory.resolve("o")), "localhost");
        try (NatsServer server = NatsServer.start(
                directory.resolve("nats"),
                "--tls",
                "--tlscert",
                right.certificate().toString(),
                "--tlskey",
                right.key().toString())) {
            String url = server.url().replace("nats:", "tls:");
            String text = refusal(settings(url, null, other.certificate()));
            assertTrue(
                    text.startsWith(
                            "the NATS server 127.0.0.1:" + server.port() + " has a certificate that is not trusted ("),
                    text);
            assertTrue(text.contains("fleet.tls.ca_file must contain the authority that issued it"), text);
            text = refusal(settings(server.url(), null, null));
            assertTrue(text.contains("requires TLS: write tls:// in fleet.servers"), text);
        }
        try (NatsServer server = NatsServer.start(directory.resolve("plain"))) {
            String text = refusal(settings(server.url().replace("nats:", "tls:"), null, null));
            assertTrue(text.contains("offers no TLS: write nats:// in fleet.servers"), text);
        }
    }

    @Test
    void otherFailuresNameTheServersWithoutPasswordsOrTheKey() throws Exception {
        NatsServer server = NatsServer.start(directory.resolve("nats"));
        server.close();
        server.kill();
        IOException failure =
                assertThrows(IOException.class, () -> NatsLink.open(settings(withUser(server), null, null)));
        assertEquals("no NATS server answers at " + server.url() + " (Connection refused)", failure.getMessage());
        Path missing = directory.resolve("missing");
        assertEquals(
                "fleet.token_file: " + missing + " does not exist", refusal(settings(server.url(), missing, null)));
        Path wrong = Files.writeString(directory.resolve("wrong.pem"), "nonsense\n");
        String text = refusal(settings(server.url(), null, wrong));
        assertTrue(text.startsWith("fleet.tls.ca_file: " + wrong + " cannot be used: "), text);
    }

    private static String refusal(FleetConfig settings) {
        return String.valueOf(assertThrows(FleetException.class, () -> NatsLink.open(settings))
                .getMessage());
    }
}
