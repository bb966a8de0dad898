package io.millrace.launcher;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.CannedClient.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests rolls of real processes with a canned warm-up. */
@Timeout(120)
class WarmUpRollTest {
    @TempDir
    Path directory;

    private Path file;

    private CannedLauncher launcher() throws IOException {
        file = directory.resolve("millrace.yaml");
        write("first");
        CannedLauncher launcher = CannedLauncher.run(directory, "--config", file.toString());
        launcher.awaitListening();
        return launcher;
    }

    /** Changes the sync interval, which requires a new worker. */
    private void write(String origin) throws IOException {
        Files.writeString(file, """
                listen: ["127.0.0.1:0"]
                remap: [{map: /, to: "http://%s.example"}]
                store: {sync_interval: %s}
                """.formatted(origin, origin.equals("first") ? "1s" : "2s"));
    }

    @Tag("nightly")
    @ParameterizedTest
    @CsvSource({
        "warm-quick, warm-up finished: canned",
        "warm-fails, the warm-up failed",
        "warm-throws, the warm-up cannot be started",
        "warm-late, the warm-up did not end within its limit of 1 s",
        "warm-dies, starting another worker without warm-up"
    })
    void aWarmUpNeverKeepsARollFromHappening(String origin, String said) throws IOException {
        try (CannedLauncher launcher = launcher();
                LoadLoop load = new LoadLoop(launcher.client(), 2)) {
            long before = launcher.worker();
            write(origin);
            launcher.signal("HUP");
            await().atMost(CannedLauncher.PATIENCE)
                    .until(() -> launcher.client().get("/").worker() != before);
            assertTrue(launcher.client().get("/").origin().contains(origin));
            await().atMost(CannedLauncher.PATIENCE).until(() -> launcher.err().contains(said));
            assertEquals(0, load.count(Outcome.REFUSED), () -> load.counts() + launcher.describe());
            assertEquals(0, load.count(Outcome.CUT), () -> load.counts() + launcher.describe());
        }
    }

    @Test
    void aKilledWorkerIsReplacedByTheOneInWarmup() throws IOException {
        try (CannedLauncher launcher = launcher()) {
            long before = launcher.worker();
            write("warm-hangs");
            launcher.signal("HUP");
            await().atMost(CannedLauncher.PATIENCE)
                    .until(() -> launcher.process().children().count() == 2);
            CannedLauncher.signal(before, "KILL");
            long after = launcher.worker();
            assertNotEquals(before, after);
            assertTrue(launcher.client().get("/").origin().contains("warm-hangs"), launcher.describe());
        }
    }

    @Tag("nightly")
    @Test
    void aLauncherThatDiesDuringAWarmUpLeavesTheOldWorkerServing() throws IOException {
        try (CannedLauncher launcher = launcher()) {
            long before = launcher.worker();
            write("warm-hangs");
            launcher.signal("HUP");
            await().atMost(CannedLauncher.PATIENCE)
                    .until(() -> launcher.process().children().count() == 2);
            ProcessHandle candidate = launcher.process()
                    .children()
                    .filter(child -> child.pid() != before)
                    .findFirst()
                    .orElseThrow();
            launcher.signal("KILL");
            await().atMost(CannedLauncher.PATIENCE).until(() -> !candidate.isAlive());
            assertEquals(before, launcher.worker());
        }
    }
}
