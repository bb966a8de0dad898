package io.millrace.launcher.fleet;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.fleet.config.ConfigStore;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.fleet.GapCheck.StreamState;
import io.millrace.system.NatsServer;
import io.nats.client.Connection;
import io.nats.client.Nats;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the connection to a real NATS server: the stream, gaps, refusals, and restarts of the server. */
class NatsLinkTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();

    @BeforeEach
    void needsAServer() {
        NatsServer.assumeInstalled();
    }

    private static FleetConfig settings(NatsServer server, String node, Path token) {
        return new FleetConfig(
                "cdn",
                List.of(server.url()),
                node,
                "edge",
                null,
                null,
                null,
                token,
                null,
                null,
                null,
                FleetConfig.OnGap.VALIDATE,
                1,
                1L << 20,
                null);
    }

    private static byte[] message(String node, String id) {
        return FleetCodec.write(new FleetMessage(
                "cdn",
                node,
                "i-" + node,
                FleetMessage.sharedId(node, id),
                FleetPurge.of(FleetPurge.Action.ALL, List.of(), false)));
    }

    @Test
    void aLinkPublishesAndFollows() throws Exception {
        try (NatsServer server = NatsServer.start(directory);
                FleetLink link = NatsLink.open(settings(server, "a", null))) {
            StreamState empty = link.state();
            assertEquals(0, empty.last());
            BlockingQueue<FleetLink.Received> received = new LinkedBlockingQueue<>();
            link.follow(1, received::add);
            assertEquals(1, link.publish(message("a", "1"), "a:1").get());
            // The server recognizes a repeated message.
            assertEquals(1, link.publish(message("a", "1"), "a:1").get());
            assertEquals(2, link.publish(message("a", "2"), "a:2").get());
            FleetLink.Received first = received.poll(20, TimeUnit.SECONDS);
            assertEquals("a", first.node());
            assertEquals("a:1", first.id());
            assertEquals(2, received.poll(20, TimeUnit.SECONDS).sequence());
            assertEquals("a:2", link.idAt(2));
            assertNull(link.idAt(3));
            assertEquals(2, link.state().last());
        }
    }

    @Test
    void theStoreOfTheConfigurationReplacesByVersion() throws Exception {
        try (NatsServer server = NatsServer.start(directory);
                FleetLink link = NatsLink.open(settings(server, "a", null))) {
            ConfigStore store = link.configStore();
            assertNull(store.get("head"));
            assertTrue(store.replace("head", new byte[] {1}, 0));
            assertFalse(store.replace("head", new byte[] {2}, 0));
            long version = store.get("head").version();
            assertTrue(store.replace("head", new byte[] {3}, version));
            assertFalse(store.replace("head", new byte[] {4}, version));
            assertEquals(3, store.get("head").value()[0]);
            store.put("content.x.0", new byte[512 << 10]);
            assertEquals(512 << 10, store.get("content.x.0").value().length);
            store.delete("head");
            assertNull(store.get("head"));
            assertEquals(List.of("content.x.0"), link.configStore().keys());
        }
    }

    @Test
    void theStoreOfTheConfigurationIsCreatedAgainAfterALossOfData() throws Exception {
        try (NatsServer server = NatsServer.start(directory);
                FleetLink first = NatsLink.open(settings(server, "a", null));
                FleetLink second = NatsLink.open(settings(server, "b", null))) {
            ConfigStore store = first.configStore();
            ConfigStore other = second.configStore();
            assertTrue(store.replace("head", new byte[] {1}, 0));
            server.kill();
            server.loseData();
            server.start();
            await().atMost(LIMIT).until(() -> first.isConnected() && second.isConnected());
            await().atMost(LIMIT).ignoreExceptionsInstanceOf(IOException.class).until(() -> store.get("head") == null);
            assertTrue(store.replace("head", new byte[] {2}, 0));
            assertEquals(2, other.get("head").value()[0]);
            assertEquals(List.of("head"), other.keys());
        }
    }

    @Test
    void wrongCredentialsAndStreamsAreRefused() throws Exception {
        Path wrong = Files.writeString(directory.resolve("wrong"), "nonsense\n");
        try (NatsServer server = NatsServer.start(directory.resolve("s1"), "--auth", "secret")) {
            FleetException refused =
                    assertThrows(FleetException.class, () -> NatsLink.open(settings(server, "a", wrong)));
            assertTrue(refused.getMessage().contains("refused the authorization"), refused::getMessage);
            Path right = Files.writeString(directory.resolve("right"), "secret\n");
            NatsLink.open(settings(server, "a", right)).close();
        }
        try (NatsServer server = NatsServer.start(directory.resolve("s2"))) {
            Connection connection = Nats.connect(server.url());
            try {
                connection
                        .jetStreamManagement()
                        .addStream(StreamConfiguration.builder()
                                .name("MILLRACE_cdn")
                                .subjects("millrace.cdn.purge.*")
                                .storageType(StorageType.Memory)
                                .build());
            } finally {
                connection.close();
            }
            FleetException refused =
                    assertThrows(FleetException.class, () -> NatsLink.open(settings(server, "a", null)));
            assertTrue(refused.getMessage().contains("its storage is memory"), refused::getMessage);
        }
    }

    @Test
    void requestsWithoutAConnectionFailWithAnIoException() throws Exception {
        try (NatsServer server = NatsServer.start(directory);
                FleetLink link = NatsLink.open(settings(server, "a", null))) {
            server.kill();
            await().atMost(LIMIT).until(() -> !link.isConnected());
            assertThrows(IOException.class, link::state);
            assertThrows(IOException.class, () -> link.idAt(1));
            assertThrows(IOException.class, () -> link.follow(1, message -> {}));
        }
    }

    @Test
    void membersSurviveRestartsOfTheServerAndLossOfItsData() throws Exception {
        FakeFleet workers = new FakeFleet();
        FakeFleet.Worker first = workers.new Worker();
        FakeFleet.Worker second = workers.new Worker();
        FleetOutboxFile outbox = new FleetOutboxFile(directory.resolve("a"));
        try (NatsServer server = NatsServer.start(directory.resolve("nats"));
                FleetMembership a = new FleetMembership(directory.resolve("a"), events::add, "1");
                FleetMembership b = new FleetMembership(directory.resolve("b"), events::add, "1")) {
            a.setWorker((WorkerPurges) first);
            b.setWorker((WorkerPurges) second);
            a.apply(settings(server, "a", null));
            b.apply(settings(server, "b", null));
            queue(outbox, "1");
            await().atMost(LIMIT).until(() -> second.applied.contains("a:1") && outbox.size() == 0);
            String created = second.position.created();
            server.kill();
            queue(outbox, "2");
            server.start();
            await().atMost(LIMIT).until(() -> second.applied.contains("a:2"));
            assertEquals(created, second.position.created());
            assertEquals(1, second.gaps, "only the first start is a gap");
            server.kill();
            server.loseData();
            server.start();
            await().atMost(LIMIT).until(() -> first.gaps == 2 && second.gaps == 2);
            assertNotEquals(created, second.position.created());
            queue(outbox, "3");
            await().atMost(LIMIT).until(() -> second.applied.contains("a:3"));
            forge(server);
            await().atMost(LIMIT)
                    .until(() -> events.stream().anyMatch(event -> event.text().contains("forged-node")));
            queue(outbox, "4");
            await().atMost(LIMIT).until(() -> second.applied.contains("a:4"));
            assertTrue(!second.applied.contains("a:9"));
            assertTrue(
                    b.prometheusText().contains("millrace_fleet_nodes{application=\"millrace\",state=\"live\"} 2.0"));
        }
    }

    private static void queue(FleetOutboxFile outbox, String id) throws Exception {
        String line = new String(message("a", id), StandardCharsets.UTF_8) + "\n";
        outbox.append(List.of(line.getBytes(StandardCharsets.UTF_8)));
    }

    /** Sends a message of node a with the subject of node z. */
    private static void forge(NatsServer server) throws Exception {
        Connection connection = Nats.connect(server.url());
        try {
            connection.jetStream().publish("millrace.cdn.purge.z", message("a", "9"));
        } finally {
            connection.close();
        }
    }
}
