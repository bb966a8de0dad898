package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.fleet.config.ConfigTargets;
import io.millrace.launcher.fleet.config.RevisionStatement;
import io.millrace.launcher.history.TrafficSample;
import io.millrace.proxy.admin.fleet.FleetConfigSource.Push;
import io.millrace.proxy.admin.fleet.FleetConfigSource.PushReport;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a node verifies revisions with the key that its file has, with a manual clock. */
class ConfigSharingTest {
    @TempDir
    Path directory;

    private final List<Long> applied = new ArrayList<>();
    private final FakeFleet fleet = new FakeFleet();
    private final FakeFleet.Link link = fleet.new Link("n1");
    private FleetState state;
    private ConfigSharing sharing;
    private Path keyFile;
    private KeyPair first;
    private KeyPair second;
    /** The clock of intervals, which begins anywhere. */
    private long nanos = -TimeUnit.HOURS.toNanos(1);

    /** A configuration without content, so that only numbers are applied. */
    private final class Numbers implements ConfigTargets {
        @Override
        public long revision() {
            return 0;
        }

        @Override
        public CompletionStage<List<String>> check(Pushed pushed) {
            return CompletableFuture.completedFuture(List.of());
        }

        @Override
        public CompletionStage<List<String>> apply(long revision, @Nullable Pushed pushed) {
            applied.add(revision);
            return CompletableFuture.completedFuture(List.of());
        }
    }

    @BeforeEach
    void begin() throws Exception {
        first = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        second = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        keyFile = directory.resolve("key.pub");
        writeKey(first);
        FleetConfig settings = new FleetConfig(
                "cdn",
                List.of("nats://h"),
                "n1",
                "edge",
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                FleetConfig.OnGap.VALIDATE,
                1,
                1L << 20,
                keyFile);
        state = new FleetState(event -> {}, () -> 1_000_000);
        state.changeSettings(settings);
        sharing = new ConfigSharing(directory.resolve("fleet"), state, () -> nanos);
        sharing.setTargets(new Numbers());
        sharing.setTraffic(() -> TrafficSample.of("w", ""));
        sharing.begin(settings);
        step();
    }

    private void writeKey(KeyPair key) throws IOException {
        Files.writeString(
                keyFile,
                "-----BEGIN PUBLIC KEY-----\n"
                        + Base64.getMimeEncoder().encodeToString(key.getPublic().getEncoded())
                        + "\n-----END PUBLIC KEY-----\n");
    }

    /** Lets 10 s pass, with two steps: the second one records what the first one has applied. */
    private void step() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            nanos += TimeUnit.SECONDS.toNanos(5);
            sharing.step(link);
        }
    }

    private PushReport push(long revision, KeyPair by) throws Exception {
        String text = new RevisionStatement(
                        "cdn", revision, RevisionStatement.NONE, 0, List.of(), 60, List.of(), "2026-11-29", "me")
                .text();
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(by.getPrivate());
        signer.update(text.getBytes(StandardCharsets.UTF_8));
        return sharing.pushes()
                .push(new Push(text, Base64.getEncoder().encodeToString(signer.sign()), "", ""))
                .toCompletableFuture()
                .join();
    }

    @Test
    void aReloadReadsTheFileOfThePublicKeyAgain() throws Exception {
        assertTrue(push(1, first).ok());
        step();
        assertEquals(List.of(1L), applied);
        writeKey(second);
        sharing.retry();
        step();
        assertEquals(false, push(2, first).ok());
        assertTrue(push(2, second).ok());
        step();
        assertEquals(List.of(1L, 2L), applied);
    }

    @Test
    void aReloadWithTheSameKeyKeepsWhatIsKnown() throws Exception {
        assertTrue(push(1, first).ok());
        step();
        sharing.retry();
        step();
        assertEquals(List.of(1L), applied);
        assertTrue(push(2, first).ok());
    }

    @Test
    void withoutAKeyNothingIsAccepted() throws Exception {
        Files.writeString(keyFile, "no key");
        sharing.retry();
        step();
        assertTrue(state.config.problem().contains("has no line"), state.config::problem);
        assertThrows(AdminException.class, () -> push(1, first));
        writeKey(first);
        step();
        assertTrue(push(1, first).ok());
        step();
        assertEquals(List.of(1L), applied);
    }
}
