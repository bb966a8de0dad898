package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests the watch of the outbox with a real directory. */
class OutboxWatchTest {
    @TempDir
    Path directory;

    private final Semaphore wakeUps = new Semaphore(0);

    @Test
    @EnabledOnOs(OS.LINUX)
    void eachWriteWakesTheThreadOfTheFleet() throws Exception {
        Path fleet = directory.resolve("fleet");
        try (OutboxWatch watch = OutboxWatch.begin(fleet, wakeUps::release)) {
            assertTrue(watch.isActive());
            FleetOutboxFile outbox = new FleetOutboxFile(fleet);
            for (int i = 0; i < 3; i++) {
                wakeUps.drainPermits();
                outbox.append(List.of("line\n".getBytes(StandardCharsets.US_ASCII)));
                wakeUps.acquire();
            }
            outbox.removeBefore(outbox.size());
            wakeUps.drainPermits();
            outbox.append(List.of("line\n".getBytes(StandardCharsets.US_ASCII)));
            wakeUps.acquire();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aDirectoryThatIsCreatedAgainIsWatchedAgain() throws Exception {
        Path fleet = directory.resolve("fleet");
        long now = OutboxWatch.RETRY_MILLIS;
        try (OutboxWatch watch = OutboxWatch.begin(fleet, wakeUps::release)) {
            for (int round = 0; round < 2; round++) {
                Files.delete(fleet);
                while (watch.isActive()) {
                    wakeUps.acquire();
                }
                now += OutboxWatch.RETRY_MILLIS;
                watch.check(now);
                assertTrue(!watch.isActive(), "there is no directory");
                Files.createDirectory(fleet);
                watch.check(now + OutboxWatch.RETRY_MILLIS - 1);
                assertTrue(!watch.isActive(), "it is too early");
                now += OutboxWatch.RETRY_MILLIS;
                watch.check(now);
                assertTrue(watch.isActive());
                wakeUps.drainPermits();
                Path file = Files.writeString(fleet.resolve("file"), "line");
                wakeUps.acquire();
                Files.delete(file);
            }
        }
    }

    /** The poll of the outbox still finds purges where a directory cannot be watched. */
    @Test
    void aDirectoryThatCannotBeWatchedIsNoFailure() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        try (OutboxWatch watch = OutboxWatch.begin(file.resolve("fleet"), wakeUps::release)) {
            assertTrue(!watch.isActive());
        }
    }
}
