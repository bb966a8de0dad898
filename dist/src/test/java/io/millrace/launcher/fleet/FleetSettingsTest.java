package io.millrace.launcher.fleet;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.observe.event.EventSink;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that a change of each key of the section {@code fleet} makes the launcher connect again with the new value. */
class FleetSettingsTest {
    private final BlockingQueue<FleetConfig> opened = new ArrayBlockingQueue<>(64);

    @TempDir
    Path directory;

    private static FleetConfig read(Map<String, String> settings) {
        Map<String, String> all = new LinkedHashMap<>(settings);
        StringBuilder text = new StringBuilder("listen: [':1']\nremap: [{map: /, to: http://o/}]\nfleet:\n");
        StringBuilder tls = new StringBuilder();
        all.forEach((key, value) -> {
            String name = key.substring("fleet.".length());
            if (name.startsWith("tls.")) {
                tls.append("    ")
                        .append(name.substring(4))
                        .append(": ")
                        .append(value)
                        .append('\n');
            } else {
                text.append("  ").append(name).append(": ").append(value).append('\n');
            }
        });
        if (!tls.isEmpty()) {
            text.append("  tls:\n").append(tls);
        }
        ConfigResult result = ConfigLoader.parse(text.toString(), "m.yaml", Map.of());
        assertEquals(List.of(), result.problems(), text::toString);
        return result.config().fleet();
    }

    private FleetConfig next() throws InterruptedException {
        return opened.poll(30, TimeUnit.SECONDS);
    }

    @Test
    void everyKeyIsAppliedLive() throws Exception {
        String file = Files.writeString(directory.resolve("secret"), "x").toString();
        String key = Files.writeString(
                        directory.resolve("key.pub"),
                        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
                                + "-----END PUBLIC KEY-----\n")
                .toString();
        List<Map<String, String>> changes = List.of(
                Map.of("fleet.name", "other"),
                Map.of("fleet.servers", "['tls://a:4222']"),
                Map.of("fleet.node", "n2"),
                Map.of("fleet.tier", "parent"),
                Map.of("fleet.address", "http://10.0.0.3:8080"),
                Map.of("fleet.credentials_file", file),
                Map.of("fleet.nkey_file", file),
                Map.of("fleet.token_file", file),
                Map.of("fleet.tls.ca_file", file),
                Map.of("fleet.tls.certificate", file, "fleet.tls.key", file),
                Map.of("fleet.tls.key", file, "fleet.tls.certificate", file),
                Map.of("fleet.on_gap", "purge"),
                Map.of("fleet.replicas", "3"),
                Map.of("fleet.outbox_size", "1MiB"),
                Map.of("fleet.config", "true", "fleet.config_public_key_file", key),
                Map.of("fleet.config_public_key_file", key));
        Map<String, String> base = new LinkedHashMap<>();
        base.put("fleet.name", "cdn");
        base.put("fleet.servers", "['nats://a:4222']");
        base.put("fleet.node", "n1");
        FleetConfig first = read(base);
        FakeFleet fleet = new FakeFleet();
        try (FleetMembership manager = new FleetMembership(
                directory.resolve("fleet"), EventSink.NONE, "1", System::currentTimeMillis, settings -> {
                    opened.add(settings);
                    return fleet.new Link(settings.node());
                })) {
            manager.setWorker(fleet.new Worker());
            manager.apply(null);
            manager.apply(first);
            assertEquals(first, next());
            for (Map<String, String> change : changes) {
                Map<String, String> settings = new LinkedHashMap<>(base);
                settings.putAll(change);
                FleetConfig changed = read(settings);
                assertNotEquals(first, changed, change::toString);
                manager.apply(changed);
                assertEquals(changed, next(), change::toString);
                manager.apply(first);
                assertEquals(first, next(), change::toString);
            }
            manager.apply(null);
            assertNull(opened.poll());
            assertEquals("", manager.prometheusText());
        }
    }

    /** A node that has left is not waited for. One that cannot connect with other settings still serves. */
    @ParameterizedTest
    @CsvSource({
        "fleet.servers, ['tls://a:4222'], ''",
        "fleet.tier, parent, ''",
        "fleet.node, n2, n1",
        "fleet.name, other, n1",
        "'', '', n1"
    })
    void onlyANodeThatIsNoLongerAMemberIsReportedAsLeaving(String key, String value, String leaving) throws Exception {
        Map<String, String> base = new LinkedHashMap<>();
        base.put("fleet.name", "cdn");
        base.put("fleet.servers", "['nats://a:4222']");
        base.put("fleet.node", "n1");
        FakeFleet fleet = new FakeFleet();
        Set<String> reported = ConcurrentHashMap.newKeySet();
        Set<String> left = ConcurrentHashMap.newKeySet();
        fleet.new Link("observer").onReport((sender, body) -> {
            String text = new String(body, StandardCharsets.UTF_8);
            (text.contains("\"leaving\":true") ? left : reported).add(sender);
        });
        try (FleetMembership manager = new FleetMembership(
                directory.resolve("fleet"), EventSink.NONE, "1", System::currentTimeMillis, settings -> {
                    opened.add(settings);
                    return fleet.new Link(settings.node());
                })) {
            manager.setWorker(fleet.new Worker());
            manager.apply(read(base));
            next();
            await().until(() -> reported.contains("n1"));
            if (key.isEmpty()) {
                manager.apply(null);
                await().until(() -> !left.isEmpty());
            } else {
                base.put(key, value);
                FleetConfig changed = read(base);
                manager.apply(changed);
                assertEquals(changed, next(), "the session with the earlier settings has ended");
            }
            assertEquals(leaving.isEmpty() ? Set.of() : Set.of(leaving), left);
        }
    }
}
